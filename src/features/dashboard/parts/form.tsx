import {
  type AllHTMLAttributes,
  createContext,
  createElement,
  type FormHTMLAttributes,
} from 'preact';
import { useContext, useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { takeProblems } from '../state/resource.ts';
import { refine, route } from '../state/route.ts';
import { keep, readKept } from '../state/session.ts';
import { Button, useBusy } from './buttons.tsx';
import { Prose } from './texts.tsx';

export type Texts = ReadonlyMap<string, string>;

/** What is wrong at a field, what was typed into it before, and what the button says now. */
const Context = createContext<{
  readonly problems: Texts;
  readonly kept: Draft;
  readonly name: (label: string) => string;
}>({ problems: new Map(), kept: {}, name: (label) => label });

interface FormProps extends Omit<FormHTMLAttributes<HTMLFormElement>, 'onSubmit' | 'onInput'> {
  /** Returns whether the server took it, or what is wrong at the fields, which held `base` at first. */
  readonly onSubmit: (texts: Texts, base: Texts) => unknown;
  /** Closes the form that was taken, unless somebody has typed on meanwhile. */
  readonly onDone?: () => void;
  readonly onTexts?: (texts: Texts) => void;
  /** The name under which this tab keeps what is typed until it is sent. */
  readonly draft?: string;
}

/** What was typed into fields, and what they held before. */
type Draft = Readonly<Record<string, readonly [text: string, base: string]>>;

export function Form({ onSubmit, onDone, onTexts, draft, children, ...attributes }: FormProps) {
  const ref = useRef<HTMLFormElement>(null);
  const { isBusy, name, during } = useBusy();
  const [problems, setProblems] = useState<Texts>(new Map());
  const key = `form ${draft}`;
  const [kept, setKept] = useState<Draft>(() => (draft && readKept<Draft>(key)) || {});
  const base = useRef<Texts>(new Map());
  const told = useRef('');
  const read = (form: HTMLFormElement): Texts => {
    const texts = readTexts(form);
    if (format(texts) !== told.current) onTexts?.(texts);
    told.current = format(texts);
    return texts;
  };
  const keepTyped = (form: HTMLFormElement, texts: Texts) => {
    const typed = listNames(form)
      .map((name) => [name, [texts.get(name) ?? '', base.current.get(name) ?? '']] as const)
      .filter(([, [text, before]]) => text !== before);
    if (draft !== undefined) keep(key, typed.length > 0 ? Object.fromEntries(typed) : undefined);
  };
  useLayoutEffect(() => {
    const before = Object.entries(kept).map(([name, [, text]]) => [name, text] as const);
    if (ref.current !== null) base.current = new Map([...readTexts(ref.current), ...before]);
  }, [kept]);
  // What is typed into one field may bring another, or change what stands in it.
  useEffect(() => {
    if (ref.current !== null) read(ref.current);
  });
  useEffect(() => {
    ref.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problems]);
  const submit = async (form: HTMLFormElement) => {
    const sent = readTexts(form);
    const result = await onSubmit(sent, base.current);
    if (result instanceof Map) setProblems(result);
    else setProblems(result === false ? takeProblems(listNames(form)) : new Map());
    if (result !== true) return;
    base.current = new Map([...base.current, ...sent]);
    const typed = readTexts(form);
    keepTyped(form, typed);
    if (format(typed) !== format(sent)) return;
    form.reset();
    // Who has gone elsewhere stays there.
    if (form.isConnected) onDone?.();
  };
  return (
    <form
      {...attributes}
      ref={ref}
      aria-busy={isBusy}
      onInput={({ currentTarget }) => {
        if (problems.size > 0) setProblems(new Map());
        keepTyped(currentTarget, read(currentTarget));
      }}
      onReset={() => {
        keep(key, undefined);
        setKept({});
      }}
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void during(submit(event.currentTarget));
      }}
    >
      <Context.Provider value={{ problems, kept, name }}>{children}</Context.Provider>
    </form>
  );
}

function listNames(form: HTMLFormElement): readonly string[] {
  return [...form.elements].map((element) => element.getAttribute('name') ?? '');
}

export function Submit({ label }: { readonly label: string }) {
  return <button type="submit">{useContext(Context).name(label)}</button>;
}

function format(texts: Texts): string {
  return JSON.stringify(Object.fromEntries(texts));
}

function readTexts(form: HTMLFormElement): Texts {
  const texts = new Map<string, string>();
  for (const [name, value] of new FormData(form)) {
    const before = texts.get(name);
    texts.set(name, before === undefined ? String(value) : `${before}, ${value}`);
  }
  return texts;
}

export interface FieldProps extends AllHTMLAttributes<HTMLInputElement> {
  readonly name: string;
  readonly label: string;
  readonly value?: string | undefined;
  readonly rows?: number;
  readonly options?: readonly string[];
  readonly empty?: string;
  readonly problem?: string | undefined;
  readonly hint?: string;
  readonly placeholder?: string | undefined;
}

export function FormField({
  label,
  value,
  rows,
  options,
  empty,
  hint = '',
  ...others
}: FieldProps) {
  const id = useId();
  const { problems, kept } = useContext(Context);
  const { problem = problems.get(others.name), ...input } = others;
  const initial = kept[input.name]?.[0] ?? value;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {options !== undefined ? (
        <select id={id} name={input.name}>
          {options.map((option) => (
            <option key={option} value={option} selected={option === initial}>
              {option || empty}
            </option>
          ))}
        </select>
      ) : (
        // A spread type does not pass the types of <input>, which has one for each.
        createElement(rows === undefined ? 'input' : 'textarea', {
          id,
          class: 'mono',
          autocomplete: 'off',
          'aria-invalid': problem !== undefined,
          'aria-describedby': `${id}-hint`,
          rows,
          defaultValue: initial,
          title: input.placeholder,
          ...input,
        })
      )}
      <span
        id={`${id}-hint`}
        class={problem === undefined ? 'hint' : 'hint problem'}
        role={problem === undefined ? undefined : 'alert'}
      >
        {problem ?? <Prose text={hint} />}
      </span>
    </div>
  );
}

interface CheckboxProps extends Pick<FieldProps, 'name' | 'label' | 'class'> {
  readonly value?: string;
  readonly isOn: boolean;
}

/** Checked ones of the same name are one text, joined by commas. */
export function Checkbox({ name, label, isOn, value = 'true', ...others }: CheckboxProps) {
  const typed = useContext(Context).kept[name]?.[0].split(', ');
  const isChecked = typed?.includes(value) ?? isOn;
  return (
    <label {...others}>
      <input type="checkbox" name={name} value={value} defaultChecked={isChecked} /> {label}
    </label>
  );
}

export const NAME_INPUT = {
  name: 'name',
  required: true,
  maxLength: 64,
  pattern: '[a-zA-Z0-9._\\-]+',
  title: 'Letters, digits, dots, underscores and hyphens',
} as const;

interface NameFormProps {
  readonly label: string;
  readonly action: string;
  readonly onName: (name: string) => Promise<boolean>;
}

export function NameForm({ label, action, onName }: NameFormProps) {
  return (
    <Form class="bar" draft={label} onSubmit={(texts) => onName(texts.get('name') ?? '')}>
      <FormField label={label} {...NAME_INPUT} />
      <Submit label={action} />
    </Form>
  );
}

type QueryProps = Pick<FieldProps, 'name' | 'label'>;

type SearchProps = Pick<FieldProps, 'name' | 'placeholder' | 'problem'>;

/** @param problem what is wrong with what is searched, which `search-problem` says */
export function QuerySearch({ name, placeholder, problem }: SearchProps) {
  return (
    <input
      type="search"
      class="search"
      aria-label="Search"
      aria-describedby="search-problem"
      aria-invalid={problem !== undefined}
      placeholder={placeholder}
      maxLength={200}
      value={route.value.query.get(name) ?? ''}
      onInput={({ currentTarget: { value } }) => refine({ [name]: value, before: '' })}
    />
  );
}

/** Whether a text has all words that a search looks for. */
export function passesSearch(name: string, text: string): boolean {
  const words = (route.value.query.get(name) ?? '').toLowerCase().split(/[\s-]+/);
  return words.every((word) => text.toLowerCase().includes(word));
}

export function QueryChip({ name, label }: QueryProps) {
  const isOn = route.value.query.has(name);
  return (
    <Button
      label={label}
      aria-pressed={isOn}
      onClick={() => refine({ [name]: isOn ? '' : 'true' })}
    />
  );
}

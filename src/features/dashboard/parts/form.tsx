import {
  type AllHTMLAttributes,
  createContext,
  createElement,
  type FormHTMLAttributes,
} from 'preact';
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks';
import { keep, readKept } from '../state/kept.ts';
import { takeProblems } from '../state/resource.ts';
import { refine, route } from '../state/route.ts';
import { Button, useBusy } from './buttons.tsx';
import { Prose } from './texts.tsx';

export type Texts = ReadonlyMap<string, string>;

/** What is wrong at a field, what was typed into it before, and what the button says now. */
const Context = createContext<
  Record<'problems' | 'kept', Texts> & { readonly name: (label: string) => string }
>({ problems: new Map(), kept: new Map(), name: (label) => label });

interface FormProps extends Omit<FormHTMLAttributes<HTMLFormElement>, 'onSubmit' | 'onInput'> {
  /** Returns whether the server took it. If not, what is wrong stands at the fields. */
  readonly onSubmit: (texts: Texts) => unknown;
  /** Closes the form that was taken, unless somebody has typed on meanwhile. */
  readonly onDone?: () => void;
  readonly onTexts?: (texts: Texts) => void;
  /** The name under which this tab keeps what is typed until it is sent. */
  readonly draft?: string;
}

export function Form({ onSubmit, onDone, onTexts, draft, children, ...attributes }: FormProps) {
  const ref = useRef<HTMLFormElement>(null);
  const { isBusy, name, during } = useBusy();
  const [problems, setProblems] = useState<Texts>(new Map());
  const key = `form ${draft}`;
  const [kept, setKept] = useState<Texts>(() => {
    const texts = draft === undefined ? {} : readKept<Record<string, string>>(key);
    return new Map(Object.entries(texts ?? {}));
  });
  const read = (form: HTMLFormElement): Texts => {
    form.querySelectorAll('textarea').forEach(checkLines);
    const texts = readTexts(form);
    onTexts?.(texts);
    return texts;
  };
  useEffect(() => {
    if (ref.current !== null) read(ref.current);
  }, []);
  useEffect(() => {
    ref.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problems]);
  const submit = async (form: HTMLFormElement) => {
    const sent = readTexts(form);
    const result = await onSubmit(sent);
    const names = [...form.elements].map((element) => element.getAttribute('name') ?? '');
    setProblems(result === false ? takeProblems(names) : new Map());
    if (result !== true || format(readTexts(form)) !== format(sent)) return;
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
        const texts = read(currentTarget);
        if (draft !== undefined) keep(key, Object.fromEntries(texts));
      }}
      onReset={() => {
        keep(key, undefined);
        setKept(new Map());
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

function checkLines(area: HTMLTextAreaElement): void {
  const line = new RegExp(area.dataset.line ?? '');
  area.setCustomValidity(area.value.split('\n').every((text) => line.test(text)) ? '' : area.title);
}

export interface FieldProps extends AllHTMLAttributes<HTMLInputElement> {
  readonly name: string;
  readonly label: string;
  readonly value?: string | undefined;
  readonly rows?: number;
  readonly 'data-line'?: string;
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
  const initial = kept.get(input.name) ?? value;
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

type ChipsProps = Pick<FieldProps, 'name' | 'label' | 'value'> & { values: readonly string[] };

/** Values of which some can be chosen; joined by commas, they are its value. */
export function Chips({ name, label, values, value = '' }: ChipsProps) {
  const { kept } = useContext(Context);
  const chosen = (kept.get(name) ?? value).split(/[ ,]+/);
  return (
    // biome-ignore lint/a11y/useSemanticElements: one in another looks like a box in a box
    <div role="group" class="bar" aria-label={label}>
      {values.map((one) => (
        <label key={one} class="option">
          <input type="checkbox" name={name} value={one} defaultChecked={chosen.includes(one)} />{' '}
          {one}
        </label>
      ))}
    </div>
  );
}

type CheckboxProps = Pick<FieldProps, 'name' | 'label'> & { readonly isOn: boolean };

export function Checkbox({ name, label, isOn }: CheckboxProps) {
  const { kept } = useContext(Context);
  return (
    <label>
      <input
        type="checkbox"
        name={name}
        value="true"
        defaultChecked={kept.size > 0 ? kept.has(name) : isOn}
      />{' '}
      {label}
    </label>
  );
}

export const LINES = {
  rows: 2,
  'data-line': '^\\s*([^:\\s]+\\s*:.*)?$',
  title: 'One “name: value” a line',
} as const;

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

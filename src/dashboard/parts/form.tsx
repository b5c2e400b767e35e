import {
  type AllHTMLAttributes,
  createContext,
  createElement,
  type FormHTMLAttributes,
} from 'preact';
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks';
import { place, refine } from '../state/place.ts';
import { takeProblems } from '../state/resource.ts';
import { sandbox } from '../state/session.ts';
import { Button } from './buttons.tsx';

export type Texts = ReadonlyMap<string, string>;

const Problems = createContext<Texts>(new Map());

interface FormProps extends Omit<FormHTMLAttributes<HTMLFormElement>, 'onSubmit' | 'onInput'> {
  /** Returns false if the server refused it: what is wrong then stands at the fields. */
  readonly onSubmit: (texts: Texts, form: HTMLFormElement) => unknown;
  readonly onTexts?: (texts: Texts) => void;
  /** The name under which this tab keeps what is typed until it is sent. */
  readonly draft?: string;
}

export function Form({ onSubmit, onTexts, draft, children, ...attributes }: FormProps) {
  const ref = useRef<HTMLFormElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [problems, setProblems] = useState<Texts>(new Map());
  const key = `petstore-mock form ${sandbox} ${draft}`;
  const read = (form: HTMLFormElement): Texts => {
    form.querySelectorAll('textarea').forEach(checkLines);
    const texts = readTexts(form);
    onTexts?.(texts);
    return texts;
  };
  useEffect(() => {
    const kept = draft === undefined ? null : sessionStorage.getItem(key);
    if (kept === null || ref.current === null) return;
    const texts: Readonly<Record<string, string>> = JSON.parse(kept);
    for (const input of ref.current.querySelectorAll('input, select, textarea')) {
      const value = texts[input.getAttribute('name') ?? ''];
      if (input instanceof HTMLInputElement && input.type === 'checkbox') {
        input.checked = value !== undefined;
      } else Object.assign(input, { value: value ?? '' });
    }
    read(ref.current);
  }, []);
  return (
    <form
      {...attributes}
      ref={ref}
      onInput={({ currentTarget }) => {
        const texts = JSON.stringify(Object.fromEntries(read(currentTarget)));
        if (draft !== undefined) sessionStorage.setItem(key, texts);
      }}
      aria-busy={isBusy}
      onReset={() => sessionStorage.removeItem(key)}
      onSubmit={async (event) => {
        event.preventDefault();
        if (isBusy) return;
        setBusy(true);
        const form = event.currentTarget;
        const isRefused = (await onSubmit(readTexts(form), form)) === false;
        const names = [...form.elements].map((element) => element.getAttribute('name') ?? '');
        setProblems(isRefused ? takeProblems(names) : new Map());
        if (!isRefused) sessionStorage.removeItem(key);
        setBusy(false);
      }}
    >
      <Problems.Provider value={problems}>{children}</Problems.Provider>
    </form>
  );
}

function readTexts(form: HTMLFormElement): Texts {
  return new Map([...new FormData(form)].map(([name, value]) => [name, String(value)]));
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
  /** What `pattern` is to an input, for each line of a text. */
  readonly 'data-line'?: string;
  readonly options?: readonly string[];
  readonly empty?: string;
  readonly suggested?: readonly string[] | undefined;
  readonly problem?: string | undefined;
}

export function Field({ label, value, rows, options, empty, ...others }: FieldProps) {
  const id = useId();
  const { suggested, problem = useContext(Problems).get(others.name), ...input } = others;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {options !== undefined ? (
        <select id={id} name={input.name}>
          {options.map((option) => (
            <option key={option} value={option} selected={option === value}>
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
          'aria-describedby': problem && `${id}-problem`,
          list: suggested && `${id}-list`,
          rows,
          defaultValue: value,
          ...input,
        })
      )}
      {problem !== undefined && (
        <span id={`${id}-problem`} class="problem" role="alert">
          {problem}
        </span>
      )}
      {suggested !== undefined && (
        <datalist id={`${id}-list`}>
          {suggested.map((text) => (
            <option key={text} value={text} />
          ))}
        </datalist>
      )}
    </div>
  );
}

export const LINES = {
  rows: 2,
  'data-line': '^\\s*([^:\\s]+\\s*:.*)?$',
  title: 'One “name: value” a line',
} as const;

export const NAME = {
  name: 'name',
  required: true,
  maxLength: 64,
  pattern: '[a-zA-Z0-9._\\-]+',
  title: 'Letters, digits, dots, underscores and hyphens',
} as const;

interface NameFormProps {
  readonly label: string;
  readonly action: string;
  readonly value?: string;
  readonly onName: (name: string) => Promise<boolean>;
}

export function NameForm({ label, action, value, onName }: NameFormProps) {
  const submit = async (texts: Texts, form: HTMLFormElement) => {
    const isDone = await onName(texts.get('name') ?? '');
    if (isDone) form.reset();
    return isDone;
  };
  return (
    <Form class="bar fields" {...(value === undefined && { draft: label })} onSubmit={submit}>
      <Field label={label} value={value} {...NAME} />
      <button type="submit">{action}</button>
    </Form>
  );
}

interface QueryProps {
  readonly name: string;
  readonly label: string;
}

export function QuerySearch({ name, label }: QueryProps) {
  return (
    <input
      type="search"
      class="search"
      aria-label="Search"
      placeholder={`Search ${label}`}
      maxLength={200}
      value={place.value.query.get(name) ?? ''}
      onInput={({ currentTarget: { value } }) => refine({ [name]: value })}
    />
  );
}

export function QueryChip({ name, label }: QueryProps) {
  const isOn = place.value.query.has(name);
  return (
    <Button
      label={label}
      aria-pressed={isOn}
      onClick={() => refine({ [name]: isOn ? '' : 'true' })}
    />
  );
}

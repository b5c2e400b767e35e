import {
  type AllHTMLAttributes,
  createContext,
  createElement,
  type FormHTMLAttributes,
} from 'preact';
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks';
import { takeProblems } from '../state/resource.ts';
import { sandbox } from '../state/session.ts';

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
  useEffect(() => {
    const kept = draft === undefined ? null : sessionStorage.getItem(key);
    if (kept === null || ref.current === null) return;
    for (const input of ref.current.querySelectorAll('input, select, textarea')) {
      const value = Object(JSON.parse(kept))[input.getAttribute('name') ?? ''];
      if (input instanceof HTMLInputElement && input.type === 'checkbox') {
        input.checked = value !== undefined;
      } else Object.assign(input, { value: value ?? '' });
    }
    onTexts?.(readTexts(ref.current));
  }, []);
  return (
    <form
      {...attributes}
      ref={ref}
      onInput={({ currentTarget }) => {
        const texts = readTexts(currentTarget);
        if (draft !== undefined)
          sessionStorage.setItem(key, JSON.stringify(Object.fromEntries(texts)));
        onTexts?.(texts);
      }}
      onSubmit={async (event) => {
        event.preventDefault();
        if (isBusy) return;
        setBusy(true);
        const form = event.currentTarget;
        const texts = readTexts(form);
        const isRefused = (await onSubmit(texts, form)) === false;
        setProblems(isRefused ? takeProblems([...form.elements].map(readName)) : new Map());
        if (!isRefused) sessionStorage.removeItem(key);
        setBusy(false);
      }}
    >
      <Problems.Provider value={problems}>{children}</Problems.Provider>
    </form>
  );
}

function readName(element: Element): string {
  return element.getAttribute('name') ?? '';
}

function readTexts(form: HTMLFormElement): Texts {
  return new Map([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}

export interface FieldProps extends AllHTMLAttributes<HTMLInputElement> {
  readonly name: string;
  readonly label: string;
  readonly value?: string | undefined;
  readonly rows?: number;
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
          {suggested.map((it) => (
            <option key={it} value={it} />
          ))}
        </datalist>
      )}
    </div>
  );
}

export const NAME_INPUT = {
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
  const name = async (texts: Texts, form: HTMLFormElement) => {
    const isDone = await onName(texts.get('name') ?? '');
    if (isDone) form.reset();
    return isDone;
  };
  return (
    <Form class="bar fields" onSubmit={name}>
      <Field name="name" label={label} value={value} {...NAME_INPUT} />
      <button type="submit">{action}</button>
    </Form>
  );
}

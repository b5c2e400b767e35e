import { type AllHTMLAttributes, createElement, type FormHTMLAttributes } from 'preact';
import { useId, useRef } from 'preact/hooks';

/** The text of each input of a form, by name; a box that is not ticked has none. */
export type Texts = ReadonlyMap<string, string>;

interface FormProps extends Omit<FormHTMLAttributes<HTMLFormElement>, 'onSubmit'> {
  readonly onSubmit: (texts: Texts, form: HTMLFormElement) => unknown;
}

/** A form that the page handles itself, once at a time. */
export function Form({ onSubmit, ...attributes }: FormProps) {
  const isBusy = useRef(false);
  return (
    <form
      {...attributes}
      onSubmit={async (event) => {
        event.preventDefault();
        if (isBusy.current) return;
        isBusy.current = true;
        try {
          await onSubmit(textsOf(event.currentTarget), event.currentTarget);
        } finally {
          isBusy.current = false;
        }
      }}
    />
  );
}

export function textsOf(form: HTMLFormElement): Texts {
  return new Map([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}

export interface FieldProps extends AllHTMLAttributes<HTMLInputElement> {
  readonly name: string;
  readonly label: string;
  /** The text before the user edits it. */
  readonly value?: string | undefined;
  /** Lines, for a text of several. */
  readonly rows?: number;
  /** The only values that it takes. */
  readonly options?: readonly string[];
  /** What an empty option is called. */
  readonly empty?: string;
  /** Values to suggest. */
  readonly suggested?: readonly string[] | undefined;
  /** Why the server refused its value. */
  readonly problem?: string | undefined;
}

/** A text or a choice with its label. */
export function Field({ label, value, rows, options, empty, ...others }: FieldProps) {
  const id = useId();
  const { suggested, problem, ...input } = others;
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

/** What makes a name, of a sandbox, a snapshot or a scenario. */
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

/** Asks for the name of something. `onName` returns whether it was accepted. */
export function NameForm({ label, action, value, onName }: NameFormProps) {
  return (
    <Form
      class="bar fields"
      onSubmit={async (texts, form) => {
        if (await onName(texts.get('name') ?? '')) form.reset();
      }}
    >
      <Field name="name" label={label} value={value} {...NAME_INPUT} />
      <button type="submit">{action}</button>
    </Form>
  );
}

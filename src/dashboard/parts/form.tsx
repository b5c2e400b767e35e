import type { ComponentChildren, FormHTMLAttributes } from 'preact';

interface FormProps extends Omit<FormHTMLAttributes<HTMLFormElement>, 'onSubmit'> {
  /** Called with the text of each input, by name. */
  readonly onSubmit: (texts: ReadonlyMap<string, string>, form: HTMLFormElement) => void;
  readonly children: ComponentChildren;
}

/** A form that the page handles itself. */
export function Form({ onSubmit, children, ...attributes }: FormProps) {
  return (
    <form
      {...attributes}
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        const entries = [...new FormData(form)];
        onSubmit(new Map(entries.map(([name, text]) => [name, String(text)])), form);
      }}
    >
      {children}
    </form>
  );
}

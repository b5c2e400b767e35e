import type { ComponentChildren, FormHTMLAttributes, RefObject } from 'preact';

interface FormProps extends Omit<FormHTMLAttributes<HTMLFormElement>, 'onSubmit'> {
  readonly formRef?: RefObject<HTMLFormElement | null>;
  /** Called with the text of each input, by name. */
  readonly onSubmit: (texts: ReadonlyMap<string, string>, form: HTMLFormElement) => void;
  readonly children: ComponentChildren;
}

/** A form that the page handles itself. */
export function Form({ onSubmit, formRef, children, ...attributes }: FormProps) {
  return (
    <form
      {...attributes}
      ref={formRef ?? null}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit(textsOf(event.currentTarget), event.currentTarget);
      }}
    >
      {children}
    </form>
  );
}

/** The text of each input of a form, by name; a box that is not ticked has none. */
export function textsOf(form: HTMLFormElement): ReadonlyMap<string, string> {
  return new Map([...new FormData(form)].map(([name, value]) => [name, String(value)]));
}

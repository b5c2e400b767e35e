import type { Signal } from '@preact/signals';
import type { ButtonHTMLAttributes } from 'preact';

/** A button that submits no form. */
export function Button(attributes: ButtonHTMLAttributes) {
  return <button type="button" {...attributes} />;
}

interface DisclosureProps {
  readonly of: Signal<boolean>;
  readonly label: string;
}

/** A button that shows and hides something. */
export function Disclosure({ of, label }: DisclosureProps) {
  return (
    <Button
      aria-expanded={of.value}
      onClick={() => {
        of.value = !of.value;
      }}
    >
      {label}
    </Button>
  );
}

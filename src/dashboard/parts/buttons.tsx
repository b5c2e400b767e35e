import type { ButtonHTMLAttributes } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { notice } from '../state/session.ts';

/** A button that submits no form. */
export function Button(attributes: ButtonHTMLAttributes) {
  return <button type="button" {...attributes} />;
}

interface ConfirmProps {
  readonly label: string;
  /** The full action for screen readers, if the label alone is ambiguous. */
  readonly name?: string;
  readonly onConfirm: () => void;
}

/** A button that asks for a second press before an action that cannot be undone. */
export function ConfirmButton({ label, name = label, onConfirm }: ConfirmProps) {
  const [isAsking, ask] = useState(false);
  const button = useRef<HTMLSpanElement>(null);
  const press = () => {
    if (isAsking) onConfirm();
    ask(!isAsking);
  };
  const refuse = () => {
    ask(false);
    button.current?.querySelector('button')?.focus();
  };
  return (
    <span ref={button}>
      <Button class="danger" aria-label={isAsking ? `Confirm: ${name}` : name} onClick={press}>
        {isAsking ? `${label}?` : label}
      </Button>{' '}
      {isAsking && <Button onClick={refuse}>No</Button>}
    </span>
  );
}

interface CopyProps extends Omit<ConfirmProps, 'onConfirm'> {
  readonly text: () => string;
  /** Whether there is nothing to copy. */
  readonly isOff?: boolean;
}

/** Copies a text. If the browser does not allow that, shows it selected instead. */
export function CopyButton({ label, name = label, text, isOff = false }: CopyProps) {
  const copy = async () => {
    try {
      // Browsers have no clipboard for a page over plain HTTP from another machine.
      await navigator.clipboard.writeText(text());
      notice.value = { kind: 'done', text: 'Copied.' };
    } catch {
      prompt(name, text());
    }
  };
  return (
    <Button aria-label={name} disabled={isOff} onClick={copy}>
      {label}
    </Button>
  );
}

/** Downloads a text as a file. */
export function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it after the click.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

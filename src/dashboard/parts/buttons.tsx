import type { ButtonHTMLAttributes } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { notice } from '../state/session.ts';

/** A button that submits no form. */
export function Button(attributes: ButtonHTMLAttributes) {
  return <button type="button" {...attributes} />;
}

interface ActionProps {
  readonly label: string;
  /** The full action for screen readers, if the label alone is ambiguous. */
  readonly name?: string;
}

interface ConfirmProps extends ActionProps {
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

interface CopyProps extends ActionProps {
  readonly text: () => string;
  /** Whether there is nothing to copy. */
  readonly isOff?: boolean;
}

/** Copies a text. If the browser does not allow that, shows it selected instead. */
export function CopyButton({ label, name = label, text, isOff = false }: CopyProps) {
  const [shown, show] = useState<string | undefined>(undefined);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => area.current?.select(), [shown]);
  const copy = async () => {
    try {
      // Browsers have no clipboard for a page over plain HTTP from another machine.
      await navigator.clipboard.writeText(text());
      notice.value = { kind: 'done', text: 'Copied.' };
    } catch {
      show(text());
    }
  };
  return (
    <>
      <Button aria-label={name} disabled={isOff} onClick={copy}>
        {label}
      </Button>
      {shown !== undefined && (
        <textarea ref={area} readOnly rows={4} aria-label={name} value={shown} />
      )}
    </>
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

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { notice } from '../state/session.ts';
import { Button } from './button.tsx';

interface Copy {
  readonly label: string;
  /** The full action for screen readers, if the label alone is ambiguous. */
  readonly name?: string;
  readonly text: () => string;
  /** Whether there is nothing to copy. */
  readonly isOff?: boolean;
}

/** Copies a text. If the browser does not allow that, shows it selected instead. */
export function CopyButton({ label, name = label, text, isOff = false }: Copy) {
  const shown = useSignal<string | undefined>(undefined);
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => area.current?.select(), [shown.value]);
  const copy = async () => {
    try {
      // Browsers have no clipboard for a page over plain HTTP from another machine.
      await navigator.clipboard.writeText(text());
      notice.value = { kind: 'done', text: 'Copied.' };
    } catch {
      shown.value = text();
    }
  };
  return (
    <>
      <Button aria-label={name} disabled={isOff} onClick={copy}>
        {label}
      </Button>
      {shown.value !== undefined && (
        <textarea ref={area} readOnly rows={4} aria-label={name} value={shown.value} />
      )}
    </>
  );
}

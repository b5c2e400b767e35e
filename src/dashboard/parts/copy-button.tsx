import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { notice } from '../state/session.ts';

interface Copy {
  readonly label: string;
  readonly text: () => string;
}

/** Copies a text. If the browser does not allow that, shows it selected instead. */
export function CopyButton({ label, text }: Copy) {
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
      <button type="button" onClick={copy}>
        {label}
      </button>
      {shown.value !== undefined && (
        <textarea ref={area} readOnly rows={4} aria-label={label} value={shown.value} />
      )}
    </>
  );
}

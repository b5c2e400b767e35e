import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { notice } from '../state/session.ts';

interface Copy {
  readonly label: string;
  readonly text: () => string;
  /** Why there is nothing to copy; undefined if there is. */
  readonly whyNot?: string | undefined;
}

/** Copies a text. If the browser does not allow that, shows it selected instead. */
export function CopyButton({ label, text, whyNot }: Copy) {
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
      <button type="button" disabled={whyNot !== undefined} onClick={copy}>
        {label}
      </button>
      {whyNot !== undefined && <span class="quiet">{whyNot}</span>}
      {shown.value !== undefined && (
        <textarea ref={area} readOnly rows={4} aria-label={label} value={shown.value} />
      )}
    </>
  );
}

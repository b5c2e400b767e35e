import { useEffect } from 'preact/hooks';
import { place } from '../state/place.ts';
import { notice } from '../state/session.ts';
import { visible } from './visible-text.ts';

/** The result of the last action: announced to screen readers, and shown until the next one. */
export function Notices() {
  const { view } = place.value;
  useEffect(() => {
    notice.value = undefined;
  }, [view]);
  const { kind, text } = notice.value ?? {};
  return (
    <div class="notices">
      <div role="status">{kind === 'done' && <Shown kind="done" text={text} />}</div>
      <div role="alert">{kind === 'failed' && <Shown kind="failed" text={text} />}</div>
    </div>
  );
}

function Shown({ kind, text = '' }: { readonly kind: string; readonly text?: string | undefined }) {
  const dismiss = () => {
    notice.value = undefined;
  };
  return (
    <p class={`notice ${kind}`}>
      {visible(text)}{' '}
      <button type="button" class="plain" onClick={dismiss}>
        Dismiss
      </button>
    </p>
  );
}

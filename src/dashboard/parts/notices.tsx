import { useEffect } from 'preact/hooks';
import { place } from '../state/place.ts';
import { notice } from '../state/session.ts';
import { Button } from './buttons.tsx';
import { visible } from './visible-text.ts';

/** Milliseconds for which a success is shown. */
const LASTING = 10_000;

/** The result of the last action: announced to screen readers, a failure until it is dismissed. */
export function Notices() {
  const { view } = place.value;
  const { kind, text } = notice.value ?? {};
  useEffect(() => {
    if (notice.value?.kind === 'failed') notice.value = undefined;
  }, [view]);
  useEffect(() => {
    if (kind !== 'done') return undefined;
    const timer = setTimeout(() => {
      notice.value = undefined;
    }, LASTING);
    return () => clearTimeout(timer);
  }, [notice.value]);
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
      <Button class="link" onClick={dismiss}>
        Dismiss
      </Button>
    </p>
  );
}

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from './button.tsx';

interface ConfirmProps {
  readonly label: string;
  /** The full action for screen readers, if the label alone is ambiguous. */
  readonly name?: string;
  readonly onConfirm: () => void;
}

/** A button that asks for a second press before an action that cannot be undone. */
export function ConfirmButton({ label, name = label, onConfirm }: ConfirmProps) {
  const asking = useSignal(false);
  const button = useRef<HTMLButtonElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) button.current?.focus();
    isFirst.current = false;
  }, [asking.value]);
  const ask = (open: boolean) => () => {
    asking.value = open;
  };
  if (!asking.value) {
    return (
      <button ref={button} type="button" class="danger" aria-label={name} onClick={ask(true)}>
        {label}
      </button>
    );
  }
  return (
    <span class="confirm">
      <button
        ref={button}
        type="button"
        class="danger"
        aria-label={`Confirm: ${name}`}
        onClick={() => {
          asking.value = false;
          onConfirm();
        }}
      >
        {label}?
      </button>{' '}
      <Button onClick={ask(false)}>No</Button>
    </span>
  );
}

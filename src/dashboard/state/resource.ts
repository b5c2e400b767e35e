import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Refusal } from '../client/control-calls.ts';
import { connection, epoch, notice } from './session.ts';

/** A value from the server, once it is loaded. */
export interface Resource<T> {
  readonly value: T | undefined;
  /** Why the last attempt to load it failed. */
  readonly error: string | undefined;
  readonly reload: () => void;
}

/** How often a view of data that clients change reloads, in milliseconds. */
export const OFTEN = 2_000;

/**
 * Loads a value while the component is shown, and reloads it when `key` changes or the server is
 * back.
 *
 * @param every milliseconds until it is loaded again; 0 for never
 */
export function useResource<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  every = 0,
): Resource<T> {
  const value = useSignal<T | undefined>(undefined);
  const error = useSignal<string | undefined>(undefined);
  const turn = useSignal(0);
  useEffect(() => {
    const controller = new AbortController();
    load(controller.signal).then(
      (loaded) => {
        if (controller.signal.aborted) return;
        value.value = loaded;
        error.value = undefined;
      },
      (reason: unknown) => {
        if (!controller.signal.aborted) error.value = messageOf(reason);
      },
    );
    return () => controller.abort();
  }, [key, epoch.value, turn.value]);
  useEffect(() => {
    if (every === 0) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden && connection.value === 'ok') turn.value += 1;
    }, every);
    return () => clearInterval(timer);
  }, [every]);
  return {
    value: value.value,
    error: error.value,
    reload: () => {
      turn.value += 1;
    },
  };
}

/**
 * Performs an action of the user and shows its result.
 *
 * @param done the notice after a success
 * @returns whether it succeeded
 */
export async function perform(done: string, action: () => Promise<unknown>): Promise<boolean> {
  try {
    await action();
    notice.value = { kind: 'done', text: done };
    return true;
  } catch (error) {
    notice.value = { kind: 'failed', text: messageOf(error) };
    return false;
  }
}

function messageOf(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (error instanceof TypeError) return 'The server does not answer.';
  return error instanceof Error ? error.message : String(error);
}

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type CallOptions, call, type Method, Refusal } from '../client/control-calls.ts';
import { changes, connection, epoch, notice } from './session.ts';

/** A value from the server, once it is loaded. */
export interface Resource<T> {
  readonly value: T | undefined;
  /** Why the last attempt to load it failed. */
  readonly error: string | undefined;
  readonly reload: () => void;
  /** Performs a call as an action of the user, and reloads. Returns whether it succeeded. */
  readonly act: (done: string, ...call: ActionCall) => Promise<boolean>;
}

type ActionCall = [method: Method, path: string, options?: CallOptions];

/** How often a view of data that clients change reloads, in milliseconds. */
export const OFTEN = 2_000;

interface ResourceOptions {
  /** The sandbox; that of the page by default. */
  readonly of?: string;
  /** Reads again when this changes. */
  readonly again?: unknown;
  /** Goes on reading while the page is hidden. */
  readonly whileHidden?: boolean;
}

/**
 * Reads a path of the control API while the component is shown, and reads it again when the path
 * changes or the server is back.
 *
 * @param every milliseconds until it is read again; 0 for never
 */
export function useResource<T>(
  path: string,
  every = 0,
  { of, ...options }: ResourceOptions = {},
): Resource<T> {
  return useLoaded(path, (signal) => call<T>('GET', path, { signal, of }), every, options);
}

/** The same for a value that takes more than a call. It is loaded again when `key` changes. */
export function useLoaded<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  every: number | ((loaded: T | undefined) => number) = 0,
  { again, whileHidden = false }: Omit<ResourceOptions, 'of'> = {},
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
  }, [key, epoch.value, turn.value, again]);
  const pace = typeof every === 'number' ? every : every(value.value);
  useEffect(() => {
    if (pace === 0) return undefined;
    const timer = setInterval(() => {
      if ((whileHidden || !document.hidden) && connection.value === 'ok') turn.value += 1;
    }, pace);
    return () => clearInterval(timer);
  }, [pace]);
  const reload = () => {
    turn.value += 1;
  };
  const act = async (done: string, ...action: ActionCall) => {
    const succeeded = await perform(done, () => call(...action));
    reload();
    return succeeded;
  };
  return { value: value.value, error: error.value, reload, act };
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
    changes.value += 1;
    return true;
  } catch (error) {
    notice.value = { kind: 'failed', text: messageOf(error) };
    return false;
  }
}

/** A sentence. A field of a form is a member of the body, `$.name` to the server. */
function messageOf(error: unknown): string {
  if (error instanceof Refusal) {
    const message = error.message.replaceAll(/(^|; )\$\./g, '$1');
    return /^\w+:/.test(message)
      ? message
      : `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, '')}.`;
  }
  if (error instanceof TypeError) return 'The server does not answer.';
  return error instanceof Error ? error.message : String(error);
}

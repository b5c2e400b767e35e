import { useEffect, useRef, useState } from 'preact/hooks';
import type { EditView, JournalPage } from '../../control/control-shapes.ts';
import {
  type CallOptions,
  call,
  changes,
  connection,
  epoch,
  type Method,
  notice,
  Refusal,
} from './session.ts';

/** A value from the server, once it is loaded. */
export interface Resource<T> {
  readonly value?: T | undefined;
  /** Why the last attempt to load it failed. */
  readonly error?: string;
}

/** How often a view of data that clients change reloads, in milliseconds. */
export const OFTEN = 2_000;

/**
 * Reads a path of the control API while the component is shown, and again when the path changes,
 * after an action of the user, and when the server is back.
 *
 * @param every milliseconds until it is read again; 0 for never
 * @param of the sandbox; that of the page by default
 */
export function useResource<T>(path: string, every = 0, of?: string): Resource<T> {
  return useLoader(path, (signal) => call<T>('GET', path, { signal, of }), every);
}

/** The same for a value that takes more than a call. It is loaded again when `key` changes. */
export function useLoader<T>(
  key: string,
  load: (signal: AbortSignal) => Promise<T>,
  every = 0,
): Resource<T> {
  const [loaded, setLoaded] = useState<Resource<T>>({});
  const [turn, setTurn] = useState(0);
  const isLoading = useRef(false);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const finish = (next: (last: Resource<T>) => Resource<T>): void => {
      if (signal.aborted) return;
      isLoading.current = false;
      setLoaded(next);
    };
    isLoading.current = true;
    load(signal).then(
      (value) => finish(() => ({ value })),
      (error) => finish((last) => ({ ...last, error: messageOf(error) })),
    );
    return () => controller.abort();
  }, [key, epoch.value, changes.value, turn]);
  useEffect(() => {
    if (every === 0) return undefined;
    const timer = setInterval(() => {
      // A slow server would never answer if each refresh replaced the one before it.
      if (connection.value === 'ok' && !isLoading.current) setTurn((last) => last + 1);
    }, every);
    return () => clearInterval(timer);
  }, [every]);
  return loaded;
}

/** Performs a call as an action of the user. Returns whether it succeeded. */
export function act(
  done: string,
  ...action: [method: Method, path: string, options?: CallOptions]
): Promise<boolean> {
  return attempt(done, () => call(...action));
}

/** The latest change by the control API. */
async function latestEdit(): Promise<EditView | undefined> {
  const { edits = [] } = await call<JournalPage>('GET', '/requests?edits=true&limit=0');
  return edits.at(-1);
}

function isSameEdit(one: EditView | undefined, other: EditView | undefined): boolean {
  return one?.after === other?.after && one?.at === other?.at && one?.what === other?.what;
}

/** The latest change that this page knows; null before it has asked. */
let known: EditView | undefined | null = null;

/** The change that this page has just made, if it made one. */
async function ownEdit(): Promise<EditView | undefined> {
  const edit = await latestEdit();
  const isNew = edit?.by === 'the page' && !isSameEdit(edit, known ?? undefined);
  known = edit;
  return isNew ? edit : undefined;
}

/** What a change did to the records, in a sentence; empty if it changed none. */
function changedText({ changed }: EditView): string {
  const parts = Object.entries<number>(changed).filter(([, count]) => count > 0);
  const texts = parts.map(([name, count]) => `${count.toLocaleString('en')} in ${name}`);
  return texts.length === 0 ? '' : ` Records changed: ${texts.join(', ')}.`;
}

/** Takes back a change of this page, unless somebody has made another one since. */
export async function undo(edit: EditView): Promise<void> {
  const latest = await latestEdit();
  if (latest !== undefined && !isSameEdit(latest, edit)) {
    const text = `Not undone: ${latest.by} has ${latest.what} since. Undo takes that back first.`;
    notice.value = { kind: 'failed', text, edit: latest };
    return;
  }
  await attempt(`Undone: ${edit.what}.`, () => call('POST', '/undo'));
}

/**
 * Performs an action of the user and shows its result.
 *
 * @param done the notice after a success
 * @returns whether it succeeded
 */
export async function attempt(done: string, action: () => Promise<unknown>): Promise<boolean> {
  try {
    if (known === null) known = await latestEdit().catch(() => undefined);
    await action();
    notice.value = { kind: 'done', text: done };
    changes.value += 1;
    const shown = notice.value;
    const edit = await ownEdit().catch(() => undefined);
    if (edit !== undefined && notice.value === shown) {
      notice.value = { ...shown, text: done + changedText(edit), edit };
    }
    return true;
  } catch (error) {
    notice.value = { kind: 'failed', text: messageOf(error) };
    return false;
  }
}

/** A sentence. A field of a form is a member of the body, `$.name` to the server. */
export function messageOf(error: unknown): string {
  if (error instanceof Refusal) {
    const message = error.message.replaceAll(/(^|; )(?:\$|query)\./g, '$1');
    return /^\w+:/.test(message)
      ? message
      : `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, '')}.`;
  }
  if (error instanceof TypeError) return 'The server does not answer.';
  return error instanceof Error ? error.message : String(error);
}

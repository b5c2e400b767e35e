import { useEffect, useRef, useState } from 'preact/hooks';
import { ControlError } from '../../client/control-client.ts';
import { place } from './place.ts';
import { changes, client, connection, type EditView, epoch, notice } from './session.ts';

export interface Resource<T> {
  readonly value?: T | undefined;
  readonly error?: string;
}

/** How often a view of data that clients change reloads, in milliseconds. */
export const POLL_INTERVAL_MS = 2_000;

/**
 * Loads a value while the component is shown, and again when the key or the sandbox changes, and when
 * the server is back.
 *
 * @param every milliseconds until it is loaded again; 0 for never
 */
export function useResource<T>(
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
      (error) => finish((last) => ({ ...last, error: formatError(error) })),
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

export function useEvents(): void {
  useEffect(() => {
    let controller = new AbortController();
    const follow = async ({ signal }: AbortController) => {
      // Only changes: no exchange has such a number.
      const query = { after: Number.MAX_SAFE_INTEGER };
      for await (const _ of client.events('GET /requests/stream', { query, signal })) {
        changes.value += 1;
      }
    };
    // A browser limits connections to a server, so a hidden page has none.
    const onVisibility = () => {
      controller.abort();
      controller = new AbortController();
      if (!document.hidden) follow(controller).catch(() => undefined);
    };
    // The list of exchanges follows the stream itself.
    if (place.value.view === 'exchanges') return undefined;
    onVisibility();
    document.addEventListener('visibilitychange', onVisibility);
    return () => {
      controller.abort();
      document.removeEventListener('visibilitychange', onVisibility);
    };
  }, [epoch.value, place.value.view === 'exchanges']);
}

async function listEdits(): Promise<readonly EditView[]> {
  const query = { edits: true, limit: 0 };
  return (await client.call('GET /requests', { query })).edits ?? [];
}

function formatEdit({ after, at, what }: EditView): string {
  return `${after} ${at} ${what}`;
}

function formatChanged(edits: readonly EditView[]): string {
  const sums = new Map<string, number>();
  for (const [name, count] of edits.flatMap(({ changed }) => Object.entries<number>(changed))) {
    if (count > 0) sums.set(name, (sums.get(name) ?? 0) + count);
  }
  const texts = [...sums].map(([name, count]) => `${count.toLocaleString('en')} in ${name}`);
  return texts.length === 0 ? '' : ` Records changed: ${texts.join(', ')}.`;
}

export async function undo(edits: readonly EditView[]): Promise<void> {
  const latest = (await listEdits()).at(-1);
  const last = edits.at(-1);
  if (latest !== undefined && last !== undefined && formatEdit(latest) !== formatEdit(last)) {
    const text = `Not undone: ${latest.by} has ${latest.what} since. Undo takes that back first.`;
    notice.value = { kind: 'failed', text, edits: [latest] };
    return;
  }
  await attempt(`Undone: ${edits.map(({ what }) => what).join(', ')}.`, async () => {
    for (const _ of edits) await client.call('POST /undo');
  });
}

/**
 * Performs an action of the user and shows its result.
 *
 * @param done the notice after a success
 * @returns whether it succeeded
 */
export async function attempt(done: string, action: () => Promise<unknown>): Promise<boolean> {
  try {
    const before = new Set((await listEdits().catch(() => [])).map(formatEdit));
    await action();
    const shown = { kind: 'done', text: done } as const;
    notice.value = shown;
    changes.value += 1;
    const edits = (await listEdits().catch(() => [])).filter(
      (edit) => edit.by === 'the page' && !before.has(formatEdit(edit)),
    );
    if (edits.length > 0 && notice.value === shown) {
      notice.value = { ...shown, text: done + formatChanged(edits), edits };
    }
    return true;
  } catch (error) {
    notice.value = { kind: 'failed', text: formatError(error) };
    lastProblems = error instanceof ControlError ? error.problems : [];
    return false;
  }
}

let lastProblems: ControlError['problems'] = [];

/** The problems of the last action at the fields of a form, by name. Those of no field stay in the notice. */
export function takeProblems(names: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { path, expected, found: given } of lastProblems) {
    const steps = path.match(/[\w-]+/g) ?? [];
    const name = steps.findLast((step) => names.includes(step));
    if (name === undefined) continue;
    const isMissing = given === 'nothing' || given === 'null';
    found.set(name, isMissing ? `Enter a ${name}.` : `Expected ${expected}, found ${given}.`);
  }
  if (found.size > 0 && found.size === lastProblems.length) notice.value = undefined;
  return found;
}

export function formatError(error: unknown): string {
  if (connection.value === 'lost') return 'The server does not answer.';
  if (!(error instanceof ControlError)) return error instanceof Error ? error.message : `${error}`;
  const { message, problems } = error;
  const places = problems.map(
    ({ path, line, expected, found }) =>
      `${line === undefined ? '' : `Line ${line}, `}${path.replace(/^\$\.?/, '')}: expected ${expected}, found ${found}.`,
  );
  return places.length > 0
    ? places.join(' ')
    : `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, '')}.`;
}

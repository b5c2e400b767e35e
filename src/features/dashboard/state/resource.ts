import { useEffect, useRef, useState } from 'preact/hooks';
import {
  type CallArguments,
  ControlError,
  type JsonRoute,
  readEvents,
} from '../../../client/control-client.ts';
import { COLLECTIONS } from '../../../core/contract/records.ts';
import { capitalize, route } from './route.ts';
import {
  arrivals,
  changes,
  client,
  connection,
  epoch,
  type ListedEdit,
  lastChange,
  type Notice,
  needsToken,
  notice,
  PAGE_CLIENT,
} from './session.ts';

export interface Resource<T> {
  readonly value?: T | undefined;
  readonly error?: string;
}

type Load<T> = (signal: AbortSignal) => Promise<T>;

const POLL_INTERVAL_MS = 2_000;

const RECONNECT_DELAY_MS = 1_000;

/** Loads a value, and again when the key or the sandbox changes, and every so many milliseconds if due. */
export function useResource<T>(
  key: string,
  load: Load<T>,
  every = 0,
  isDue = () => true,
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
      if (connection.value === 'ok' && !isLoading.current && isDue()) setTurn((last) => last + 1);
    }, every);
    return () => clearInterval(timer);
  }, [every]);
  return loaded;
}

export function usePolled<T>(key: string, load: Load<T>): Resource<T> {
  return useResource(key, load, POLL_INTERVAL_MS);
}

export function useDebounced<T>(value: T, delay: number): T {
  const [settled, settle] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => settle(value), delay);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/** Counts what happens in the sandbox, while somebody looks. */
export function useEvents(): void {
  useEffect(() => {
    let controller = new AbortController();
    let isAgain = false;
    const follow = async ({ signal }: AbortController) => {
      while (!signal.aborted) {
        await readStream(signal, isAgain).catch(() => undefined);
        isAgain = true;
        // The server is lost, or this page did not keep up with the stream.
        await new Promise((resolve) => setTimeout(resolve, RECONNECT_DELAY_MS));
      }
    };
    // A browser limits connections to a server, so a hidden page has none.
    const onVisibility = () => {
      isAgain ||= document.hidden;
      controller.abort();
      controller = new AbortController();
      if (!document.hidden && !needsToken.value) void follow(controller);
    };
    onVisibility();
    document.addEventListener('visibilitychange', onVisibility);
    return () => {
      controller.abort();
      document.removeEventListener('visibilitychange', onVisibility);
    };
  }, [needsToken.value]);
}

async function readStream(signal: AbortSignal, isAgain: boolean): Promise<void> {
  const { body } = await client.send('GET /requests/stream', { signal });
  // What came while there was none is read now.
  if (isAgain) arrivals.value += 1;
  if (body === null) return;
  for await (const { type } of readEvents(body)) {
    if (type === 'exchange') arrivals.value += 1;
    else if (type !== 'dropped') changes.value += 1;
    else return;
  }
}

export async function listEdits(): Promise<readonly ListedEdit[]> {
  const query = { edits: true, limit: 0 };
  return (await client.call('GET /requests', { query })).edits ?? [];
}

function formatEdit({ after, at, what }: ListedEdit): string {
  return `${after} ${at} ${what}`;
}

function formatChanged(edits: readonly ListedEdit[]): string {
  const texts = COLLECTIONS.flatMap((name) => {
    const count = edits.reduce((sum, { changed }) => sum + changed[name], 0);
    return count > 0 ? [`${count.toLocaleString('en')} in ${name}`] : [];
  });
  return texts.length === 0 ? '' : ` Records changed: ${texts.join(', ')}.`;
}

export async function undo(edits: readonly ListedEdit[]): Promise<void> {
  const latest = (await listEdits()).findLast(({ isUndone }) => !isUndone);
  const last = edits.at(-1);
  if (latest !== undefined && last !== undefined && formatEdit(latest) !== formatEdit(last)) {
    const text = `Not undone: ${latest.by} has ${latest.what} since. Undo takes that back first.`;
    notice.value = { kind: 'failed', text, edits: [latest] };
    return;
  }
  let laterCalls = 0;
  const done = `Undone: ${edits.map(({ what }) => what).join(', ')}.`;
  const isDone = await attempt(done, async () => {
    for (const _ of edits) laterCalls += (await client.call('POST /undo')).laterCalls;
  });
  if (!isDone) return;
  lastChange.value = undefined;
  if (laterCalls > 0) {
    const calls = `${laterCalls} ${laterCalls === 1 ? 'call' : 'calls'} since`;
    notice.value = { kind: 'done', text: `${done} It also took back what ${calls} had changed.` };
  }
}

/** The latest edit of this page that an action has been told to have made. */
let lastOwn: ListedEdit | undefined;

let lastTold: Notice | undefined;

/** Nothing waits for it: who reads that it is done may go on. */
async function offerUndo(told: Notice): Promise<void> {
  const all = await listEdits().catch(() => []);
  const own = all.filter(({ by }) => by === PAGE_CLIENT);
  if (lastTold !== told) return; // the next action offers to undo both
  const before = own.findLastIndex((edit) => lastOwn && formatEdit(edit) === formatEdit(lastOwn));
  const edits = own.slice(before + 1).filter(({ isUndone }) => !isUndone);
  lastOwn = own.at(-1);
  if (edits.length === 0) return;
  if (notice.value === told) notice.value = undefined;
  lastChange.value = { ...told, text: told.text + formatChanged(edits), edits };
}

/**
 * Performs an action of the user, tells its result, and returns whether it succeeded. If it returns a
 * function, that leads elsewhere, unless the user has gone elsewhere meanwhile.
 */
export async function attempt(done: string, action: () => Promise<unknown>): Promise<boolean> {
  const { view, item } = route.value;
  try {
    const result = await action();
    lastTold = { kind: 'done', text: done };
    notice.value = lastTold;
    changes.value += 1;
    void offerUndo(lastTold);
    const isHere = route.value.view === view && route.value.item === item;
    if (isHere && typeof result === 'function') result();
    return true;
  } catch (error) {
    notice.value = { kind: 'failed', text: formatError(error) };
    lastProblems = error instanceof ControlError ? error.problems : [];
    return false;
  }
}

export function perform<R extends JsonRoute>(
  done: string,
  route: R,
  ...input: CallArguments<R>
): Promise<boolean> {
  return attempt(done, () => client.call(route, ...input));
}

let lastProblems: ControlError['problems'] = [];

/** The problems of the last action at the fields of a form, by name. Those of no field stay in the notice. */
export function takeProblems(names: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { path, expected, found: given } of lastProblems) {
    const place = `.${path.match(/[\w-]+/g)?.join('.')}.`;
    const name = names.findLast((one) => place.includes(`.${one}.`));
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
  const places = problems.map(({ path, line, expected, found }) => {
    const where = [line && `line ${line}`, path.replace(/^\$\.?/, '')].filter(Boolean).join(', ');
    return `${capitalize(`${where}: expected ${expected}, found ${found}`)}.`;
  });
  return places.join(' ') || `${capitalize(message).replace(/\.$/, '')}.`;
}

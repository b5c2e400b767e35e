import { useEffect, useRef, useState } from 'preact/hooks';
import {
  type CallArguments,
  ControlError,
  type JsonRoute,
  readEvents,
} from '../../../client/control-client.ts';
import { COLLECTIONS } from '../../../core/contract/records.ts';
import { capitalize, plural, route } from './route.ts';
import {
  arrivals,
  ask,
  changes,
  client,
  connection,
  epoch,
  keep,
  type ListedEdit,
  lastChange,
  type Notice,
  needsToken,
  notice,
  PAGE_CLIENT,
  readKept,
} from './session.ts';

export interface Resource<T> {
  readonly value?: T | undefined;
  readonly error?: string;
}

type Load<T> = (signal: AbortSignal) => Promise<T>;

const POLL_INTERVAL_MS = 2_000;

const RECONNECT_DELAY_MS = 1_000;

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/**
 * Loads a value, and again when the key or the sandbox changes.
 *
 * @param every milliseconds after each answer, to load it again if that is due; 0 for never
 */
export function useResource<T>(key: string, load: Load<T>, every = 0, isDue = () => true) {
  const [loaded, setLoaded] = useState<Resource<T>>({});
  const latest = useRef({ load, isDue });
  latest.current = { load, isDue };
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const read = async () => {
      const next = await latest.current.load(signal).then(
        (value) => () => ({ value }),
        (error) => (last: Resource<T>) => ({ ...last, error: formatError(error) }),
      );
      if (!signal.aborted) setLoaded(next);
    };
    const follow = async () => {
      await read();
      while (every > 0 && !signal.aborted) {
        await pause(every);
        if (!signal.aborted && connection.value === 'ok' && latest.current.isDue()) await read();
      }
    };
    void follow();
    return () => controller.abort();
  }, [key, epoch.value, changes.value]);
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
        await pause(RECONNECT_DELAY_MS);
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

function formatChanged(edits: readonly ListedEdit[]): string {
  const texts = COLLECTIONS.flatMap((name) => {
    const count = edits.reduce((sum, { changed }) => sum + changed[name], 0);
    return count > 0 ? [`${count.toLocaleString('en')} in ${name}`] : [];
  });
  return texts.length === 0 ? '' : ` Records changed: ${texts.join(', ')}.`;
}

/** Calls that may have changed records. */
const WRITES = 'status:2xx -method:GET -method:HEAD';

/** What happened since an exchange, and has an effect. */
async function readSince(after: number) {
  const query = { edits: true, limit: 0, after, search: WRITES };
  // What cannot be read cannot be undone, which then says why.
  const nothing = { total: 0, edits: undefined };
  const { total, edits = [] } = await client.call('GET /requests', { query }).catch(() => nothing);
  return { calls: total, edits: edits.filter(({ isUndone }) => !isUndone) };
}

/** Asks before what somebody else has done since goes, too. */
async function mayGo(what: string, calls: number, edits = 0): Promise<boolean> {
  const counts = [
    calls > 0 && plural(calls, 'later call'),
    edits > 0 && plural(edits, 'later change'),
  ];
  const also = counts.filter(Boolean).join(' and ');
  const text = `This takes back ${what}, and with it what ${also} changed.`;
  return also === '' || ask('Undo', 'Undo', text);
}

export async function undo(undone: readonly ListedEdit[]): Promise<void> {
  const [first, last] = [undone[0], undone.at(-1)];
  if (first === undefined || last === undefined) return;
  const { calls, edits } = await readSince(first.after);
  const latest = edits.at(-1);
  if (latest !== undefined && latest.number !== last.number) {
    const text = `Not undone: ${latest.by} has ${latest.what} since. Undo takes that back first.`;
    notice.value = { kind: 'failed', text, undo: () => undo([latest]) };
    return;
  }
  const what = undone.map((edit) => edit.what).join(', ');
  if (formatChanged(undone) !== '' && !(await mayGo(what, calls))) return;
  const isDone = await attempt(`Undone: ${what}.`, async () => {
    for (const _ of undone) await client.call('POST /undo');
  });
  if (isDone) lastChange.value = undefined;
}

/** Goes back to before calls that were sent again. */
export async function undoCalls(first: number, last: number): Promise<void> {
  const { calls, edits } = await readSince(last);
  const what = `what exchanges ${first} to ${last} changed`;
  if (!(await mayGo(what, calls, edits.filter(({ after }) => after >= first).length))) return;
  const input = { path: { number: first }, body: { to: 'before' } } as const;
  await perform(`Took back ${what}.`, 'POST /requests/{number}/rewind', input);
}

const LAST_OWN = 'edit';

/** The number of the latest edit of this page that an action has been told to have made. */
let lastOwn = readKept<number>(LAST_OWN);

let lastTold: Notice | undefined;

/** Nothing waits for it: who reads that it is done may go on. */
async function offerUndo(told: Notice): Promise<void> {
  const all = await listEdits().catch(() => []);
  const own = all.filter(({ by }) => by === PAGE_CLIENT);
  if (lastTold !== told) return; // the next action offers to undo both
  const before = own.findLastIndex(({ number }) => number === lastOwn);
  const edits = own.slice(before + 1).filter(({ isUndone }) => !isUndone);
  lastOwn = own.at(-1)?.number;
  keep(LAST_OWN, lastOwn);
  if (edits.length === 0) return;
  if (notice.value === told) notice.value = undefined;
  lastChange.value = { ...told, text: told.text + formatChanged(edits), undo: () => undo(edits) };
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
    // Nobody types an integer beyond these bounds.
    const plain = expected.replace(/(?<=integer) from -\S+ to 2\^.*/, '');
    found.set(name, isMissing ? `Enter a ${name}.` : `Expected ${plain}, found ${given}.`);
  }
  if (found.size > 0 && found.size === lastProblems.length) notice.value = undefined;
  return found;
}

/** A message whose place is in words: `$.rules[0].reply.status: …` becomes `rule 1, reply, status: …`. */
export function sayPlace(message: string): string {
  return message.replace(/^\$\.?([\w.[\]-]*)(?=: )|^query\.(?=\w)/, (_all, path = '') =>
    path
      .replace(/s?\[(\d+)\]/g, (_item: string, index: string) => ` ${Number(index) + 1}`)
      .replaceAll('.', ', '),
  );
}

export function formatError(error: unknown): string {
  if (connection.value === 'lost') return 'The server does not answer.';
  if (!(error instanceof ControlError)) return error instanceof Error ? error.message : `${error}`;
  const { message, problems } = error;
  const places = problems.map(({ path, line, expected, found }) => {
    const where = line ? `line ${line}, ` : '';
    return `${capitalize(where + sayPlace(`${path}: expected ${expected}, found ${found}`))}.`;
  });
  return places.join(' ') || `${capitalize(message).replace(/\.$/, '')}.`;
}

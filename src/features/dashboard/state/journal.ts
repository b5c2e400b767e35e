import type { RefObject } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { QueryOf } from '../../../client/control-client.ts';
import { useResource } from './resource.ts';
import { plural } from './route.ts';
import {
  arrivals,
  client,
  connection,
  type ExchangePage,
  epoch,
  type ListedExchange,
  seenExchange,
} from './session.ts';
import { status } from './settings.ts';

export const PAGE_SIZE = 50;

const READ_INTERVAL_MS = 500;

export type JournalState = ReturnType<typeof useJournal>;

function readJournal(search: string, query: QueryOf<'GET /requests'>, signal?: AbortSignal) {
  const whole = { order: 'desc', search: search || undefined, ...query } as const;
  return client.call('GET /requests', { query: whole, signal });
}

interface Found extends ExchangePage {
  readonly by: string;
  /** How many calls and changes are newer than those shown, which stay. */
  readonly waiting?: Readonly<Record<'calls' | 'edits', number>>;
}

export function isHeldBack({ hold }: Pick<ListedExchange, 'hold'>): boolean {
  return hold !== undefined && hold.ended === undefined;
}

/** Whether somebody points at the list, has the focus there, or has scrolled it: then no row moves. */
function isWatched(list: HTMLElement | null): boolean {
  return (
    list !== null &&
    (list.matches(':hover') || list.contains(document.activeElement) || scrollY > 0)
  );
}

/**
 * The latest exchanges that match a search, as they come.
 *
 * @param search in the language of `GET requests?search=`
 * @param before a number: only what came before it, which nothing follows
 * @param opened the number of an exchange that is open
 */
export function useJournal(
  search: string,
  before: number | undefined,
  opened: number,
  list: RefObject<HTMLElement | null>,
) {
  const [turn, setTurn] = useState(0);
  const shown = useRef<Found | undefined>(undefined);
  const read = useRef(0);
  const by = `${search} ${before} ${epoch.value} ${turn}`;
  const { exchanges = [] } = shown.current ?? {};
  const newest = exchanges[0]?.number ?? 0;
  const isHeld = () => {
    if (shown.current?.by !== by || before !== undefined || opened > newest) return false;
    return opened > 0 || (newest > 0 && isWatched(list.current));
  };
  const load = async (abort: AbortSignal): Promise<Found> => {
    read.current = arrivals.value;
    const last = shown.current;
    if (!isHeld() || last === undefined) {
      const range = { before, limit: PAGE_SIZE, edits: true };
      const known = status.value?.latestExchange ?? 0;
      const page = await readJournal(search, range, abort);
      const isWhole = search === '' && before === undefined;
      // A filtered page does not say up to which exchange it has looked: at least to what was known before.
      seenExchange.value = isWhole ? page.dropped + page.total : known;
      return { by, ...page };
    }
    const later = await readJournal(search, { after: newest, limit: 0, edits: true }, abort);
    const newEdits = (later.edits?.length ?? 0) - (last.edits?.length ?? 0);
    const waiting = { calls: later.total, edits: Math.max(0, newEdits) };
    // No row comes or goes, but what is undone says so.
    const edits = later.edits?.slice(0, last.edits?.length);
    const known = { ...last, waiting, ...(edits && { edits }) };
    if (!last.exchanges.some(isHeldBack)) return known;
    // Their holds may have ended: the same rows, read again.
    const range = { after: (last.exchanges.at(-1)?.number ?? 1) - 1, before: newest + 1 };
    return { ...known, exchanges: (await readJournal(search, range, abort)).exchanges };
  };
  const isBehind = useRef<() => boolean>(() => false);
  const isDue = () => read.current !== arrivals.value || isBehind.current();
  const { value, error } = useResource(by, load, READ_INTERVAL_MS, isDue);
  // Rows that were to stay are not those of now, if others were shown since they were read.
  const isStale =
    value?.waiting !== undefined && value.exchanges[0]?.number !== exchanges[0]?.number;
  const isApplied = value === undefined || (value.waiting ? !isStale : !isHeld());
  // What was found before stays until the next search has an answer.
  if (isApplied || value.by !== shown.current?.by) shown.current = value ?? shown.current;
  const fresh = value?.exchanges.filter(({ number }) => number > newest).length ?? 0;
  const unseen = isApplied ? value?.waiting : { calls: fresh, edits: 0 };
  const { calls = 0, edits = 0 } = (value?.by === by && unseen) || {};
  const waiting = [
    ...(calls > 0 ? [`${calls.toLocaleString('en')} new`] : []),
    ...(edits > 0 ? [plural(edits, 'change')] : []),
  ].join(', ');
  // Read again rather than shown: whoever is back by then finds the rows where they were.
  isBehind.current = () => isStale || (waiting !== '' && !isHeld());
  return {
    shown,
    edits: search === '' ? (shown.current?.edits ?? []) : [],
    problem: connection.value === 'lost' ? undefined : error,
    isSearching: !shown.current?.by.startsWith(`${search} ${before} `),
    waiting,
    show: () => setTurn((last) => last + 1),
  };
}

export type Direction = 'older' | 'newer';

/** The exchange next to one that matches a search, and whether the latest ones are near. */
export async function findNeighbour(number: number, towards: Direction, search: string) {
  // A limit would count from the newest one.
  const query =
    towards === 'older'
      ? ({ before: number, limit: 1 } as const)
      : ({ order: 'asc', after: number } as const);
  const { exchanges } = await readJournal(search, query);
  const [next] = exchanges;
  return { next, isLatest: towards === 'newer' && exchanges.length < PAGE_SIZE };
}

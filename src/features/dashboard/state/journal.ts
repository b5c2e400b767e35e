import { signal } from '@preact/signals';
import { useRef, useState } from 'preact/hooks';
import type { QueryOf } from '../../../client/control-client.ts';
import { useResource } from './resource.ts';
import { arrivals, client, connection, type ExchangePage } from './session.ts';

export const PAGE_SIZE = 50;

/** Rows above which the list stops growing beside an open exchange. */
const MAX_ROWS = 500;

const READ_INTERVAL_MS = 250;

/** Whether new exchanges wait to be shown, also after a look at another view. */
export const isPaused = signal(false);

export type JournalState = ReturnType<typeof useJournal>;

function readJournal(search: string, query: QueryOf<'GET /requests'>, signal?: AbortSignal) {
  const whole = { order: 'desc', search: search || undefined, ...query } as const;
  return client.call('GET /requests', { query: whole, signal });
}

interface Found extends ExchangePage {
  readonly by: string;
}

/**
 * The latest exchanges that match a search, as they come.
 *
 * @param search in the language of `GET requests?search=`
 * @param before a number: only what came before it, which nothing follows
 * @param opened the number of an exchange that stays in the list
 */
export function useJournal(search: string, before: number | undefined, opened: number) {
  const [size, setSize] = useState(PAGE_SIZE);
  const [, redraw] = useState({});
  const shown = useRef<Found | undefined>(undefined);
  const read = useRef(0);
  const { exchanges = [], total = 0 } = shown.current ?? {};
  const isHeld = isPaused.value || exchanges.length >= size + MAX_ROWS;
  const by = `${search} ${before}`;
  const load = async (abort: AbortSignal): Promise<Found> => {
    read.current = arrivals.value;
    const isOpen = exchanges.some(({ number }) => number === opened);
    const isWhole = exchanges.length >= size || exchanges.length === total;
    const isGrowing = isOpen && isWhole && !isHeld && shown.current?.by === by;
    const after = (exchanges.at(-1)?.number ?? 1) - 1;
    const range = isGrowing ? { after } : { limit: size };
    return { by, ...(await readJournal(search, { ...range, before, edits: true }, abort)) };
  };
  const isDue = () => read.current !== arrivals.value;
  const { value, error } = useResource(`${by} ${size}`, load, READ_INTERVAL_MS, isDue);
  // What was found before stays until the next search has an answer.
  if (!isHeld || shown.current?.by !== value?.by) shown.current = value;
  return {
    shown,
    edits: search === '' ? (value?.edits ?? []) : [],
    problem: connection.value === 'lost' ? undefined : error,
    isSearching: value?.by !== by,
    waiting: (value?.total ?? 0) - (shown.current?.total ?? 0),
    show: () => {
      shown.current = value;
      redraw({});
    },
    more: () => setSize((shown.current?.exchanges.length ?? 0) + PAGE_SIZE),
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

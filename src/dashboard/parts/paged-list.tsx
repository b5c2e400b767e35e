import { open, valueIn } from '../client/control-calls.ts';
import { place, refine } from '../state/place.ts';
import { OFTEN, useLoaded } from '../state/resource.ts';
import { Button } from './buttons.tsx';
import type { Column } from './table.tsx';
import { plural } from './visible-text.ts';

/**
 * A list that the server searches, sorts and pages as the page's address says, so it may be long.
 *
 * @param path of the control API
 * @param of the sandbox; that of the page by default
 */
export function usePagedList<T>(path: string, size: number, of?: string) {
  const { query } = place.value;
  const [q = '', sort = ''] = ['q', 'sort'].map((name) => query.get(name) ?? '');
  const page = Math.max(1, Math.trunc(Number(query.get('page') ?? 1)) || 1);
  const parameters = new URLSearchParams({ _page: `${page}`, _limit: `${size}` });
  if (q !== '') parameters.set('q', q);
  if (sort !== '') {
    parameters.set('_sort', sort.replace(/^-/, ''));
    parameters.set('_order', sort.startsWith('-') ? 'desc' : 'asc');
  }
  const key = `${path}?${parameters}`;
  const load = async (signal: AbortSignal) => {
    const reply = await open('GET', key, { signal, of });
    const total = Number(reply.headers.get('x-total-count'));
    return { records: valueIn<readonly T[]>(await reply.text()), total };
  };
  const list = useLoaded(key, load, OFTEN);
  return { list, q, sort, page };
}

const NEXT = { none: '', ascending: '-', descending: undefined } as const;
const ARROWS = { none: '', ascending: ' ↑', descending: ' ↓' } as const;

/** The head of a column that the list can be sorted by. */
export function sortedHead(
  name: string,
  sort: string,
  label = name,
): Pick<Column<never>, 'head' | 'sort'> {
  const order = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none';
  const prefix = NEXT[order];
  const next = prefix === undefined ? '' : prefix + name;
  const head = (
    <Button class="link" onClick={() => refine({ sort: next, page: '' })}>
      {label}
      {ARROWS[order]}
    </Button>
  );
  return { head, sort: order };
}

interface PagerProps {
  readonly page: number;
  readonly size: number;
  readonly total: number;
  readonly noun: readonly [one: string, many: string];
}

/** Leads to the other pages of a list, and says how long it is. */
export function Pager({ page, size, total, noun }: PagerProps) {
  const last = Math.max(1, Math.ceil(total / size));
  const to = (target: number) => () => refine({ page: target === 1 ? '' : String(target) });
  return (
    <nav class="bar" aria-label="Pages">
      <Button disabled={page <= 1} onClick={to(page - 1)}>
        Previous
      </Button>
      <span>
        Page {page.toLocaleString('en')} of {last.toLocaleString('en')}, {plural(total, ...noun)}
      </span>
      <Button disabled={page >= last} onClick={to(page + 1)}>
        Next
      </Button>
    </nav>
  );
}

import { type ComponentChildren, Fragment } from 'preact';
import { parseJson } from '../../contract/json.ts';
import { place, refine } from '../state/place.ts';
import { POLL_INTERVAL_MS, useResource } from '../state/resource.ts';
import { Button } from './buttons.tsx';
import { plural } from './texts.tsx';

export interface Column<Of> {
  readonly name: string;
  /** Names the column in the style sheet; `number` aligns it to the right. */
  readonly class?: string | undefined;
  readonly head?: ComponentChildren;
  readonly sort?: 'ascending' | 'descending' | 'none';
  readonly cell: (of: Of) => ComponentChildren;
}

interface TableProps<Of> {
  readonly columns: readonly Column<Of>[];
  readonly rows: readonly Of[];
  readonly keyOf: (of: Of) => string | number;
  readonly caption: string;
  /** `records` becomes a list of cards where the table has too little room. */
  readonly class?: string;
  readonly opened?: string | number | undefined;
  readonly above?: (index: number) => readonly Readonly<Record<string, ComponentChildren>>[];
  readonly empty?: string;
}

export function Table<Of>({ columns, rows, keyOf, opened, above, ...table }: TableProps<Of>) {
  if (rows.length === 0) return <p class="empty">{table.empty}</p>;
  return (
    <div class="wide">
      <table class={table.class}>
        <caption class="unseen">{table.caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, class: style, head = name, sort }) => (
              <th key={name} scope="col" class={style} aria-sort={sort}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <Fragment key={keyOf(row)}>
              {above?.(index).map((cells, at) => (
                <tr key={`note ${at}`} class="note">
                  {columns.map(({ name, class: style }) => (
                    <td key={name} class={style}>
                      {cells[name]}
                    </td>
                  ))}
                </tr>
              ))}
              <tr class={keyOf(row) === opened ? 'opened' : ''}>
                {columns.map(({ name, class: style, cell }) => (
                  <td key={name} class={style} data-name={name}>
                    {cell(row)}
                  </td>
                ))}
              </tr>
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface ListQuery {
  readonly _limit: number;
  readonly q: string | undefined;
  readonly _sort: string | undefined;
  readonly _order: 'desc' | undefined;
}

/**
 * A list that the server searches and sorts, as the page's address says. It may be long.
 *
 * @param name of the list
 */
export function usePagedList<T>(
  name: string,
  size: number,
  load: (query: ListQuery, signal: AbortSignal) => Promise<Response>,
) {
  const { query } = place.value;
  const [q = '', sort = ''] = ['q', 'sort'].map((name) => query.get(name) ?? '');
  const limit = Math.max(size, Math.trunc(Number(query.get('limit'))) || 0);
  const paging: ListQuery = {
    _limit: limit,
    q: q || undefined,
    _sort: sort.replace(/^-/, '') || undefined,
    _order: sort.startsWith('-') ? 'desc' : undefined,
  };
  const read = async (signal: AbortSignal) => {
    const reply = await load(paging, signal);
    const records: readonly T[] = Object(parseJson(await reply.text()));
    return { records, total: Number(reply.headers.get('x-total-count')) };
  };
  const list = useResource(`${name} ${JSON.stringify(paging)}`, read, POLL_INTERVAL_MS);
  return { list, q, sort, limit };
}

const ARROWS = { none: '', ascending: ' ↑', descending: ' ↓' } as const;

export function createSortedHead(
  name: string,
  sort: string,
  label = name,
): Pick<Column<never>, 'head' | 'sort'> {
  const order = sort === name ? 'ascending' : sort === `-${name}` ? 'descending' : 'none';
  const next = { none: name, ascending: `-${name}`, descending: '' }[order];
  const head = (
    <Button class="link" onClick={() => refine({ sort: next })}>
      {label}
      {ARROWS[order]}
    </Button>
  );
  return { head, sort: order };
}

interface MoreProps {
  readonly limit: number;
  readonly total: number;
  readonly noun: readonly [one: string, many: string];
}

export function More({ limit, total, noun }: MoreProps) {
  return (
    <p class="bar">
      {limit < total && `${limit.toLocaleString('en')} of `}
      {plural(total, ...noun)}
      {limit < total && (
        <Button onClick={() => refine({ limit: String(limit * 2) })}>Load more</Button>
      )}
    </p>
  );
}

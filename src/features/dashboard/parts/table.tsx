import { type ComponentChildren, Fragment } from 'preact';
import { parseJson } from '../../../core/json.ts';
import { usePolled } from '../state/resource.ts';
import { plural, refine, route } from '../state/route.ts';
import { Button } from './buttons.tsx';

export interface Column<T> {
  readonly name: string;
  readonly class?: string | undefined;
  readonly head?: ComponentChildren;
  readonly sort?: 'ascending' | 'descending' | 'none';
  readonly cell: (row: T) => ComponentChildren;
}

export function column<T>(name: string, cell: Column<T>['cell'], style?: string): Column<T> {
  return { name, class: style, cell };
}

interface TableProps<T> {
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly keyOf: (row: T) => string | number;
  readonly caption: string;
  /** `records` becomes a list of cards where the table has too little room. */
  readonly class?: string;
  readonly opened?: string | number | undefined;
  /** Keys of rows that stand out. */
  readonly marked?: readonly unknown[];
  /** Rows above one, or below the last. */
  readonly above?: (index: number) => ComponentChildren;
  readonly empty?: string;
}

export function Table<T>(props: TableProps<T>) {
  const { columns, rows, keyOf, opened, marked = [], above, ...table } = props;
  if (rows.length === 0 && above === undefined) return <p class="empty">{table.empty}</p>;
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
              {above?.(index)}
              <tr class={rowClass(keyOf(row), opened, marked)}>
                {columns.map(({ name, class: style, cell }, at) => {
                  const attributes = { key: name, class: style, 'data-name': name };
                  return at === 0 ? (
                    <th scope="row" {...attributes}>
                      {cell(row)}
                    </th>
                  ) : (
                    <td {...attributes}>{cell(row)}</td>
                  );
                })}
              </tr>
            </Fragment>
          ))}
          {above?.(rows.length)}
        </tbody>
      </table>
    </div>
  );
}

function rowClass(key: unknown, opened: unknown, marked: readonly unknown[]): string {
  return [key === opened && 'opened', marked.includes(key) && 'marked'].filter(Boolean).join(' ');
}

interface RowsProps<T> {
  readonly of: readonly T[];
  readonly keyOf: (row: T) => string | number;
  readonly label?: string;
  readonly empty?: ComponentChildren;
  readonly children: (row: T, index: number) => ComponentChildren;
}

export function Rows<T>({ of, keyOf, label, empty, children }: RowsProps<T>) {
  if (of.length === 0) return empty && <p class="empty">{empty}</p>;
  return (
    <ul class="rows" aria-label={label}>
      {of.map((row, index) => (
        <li key={keyOf(row)}>{children(row, index)}</li>
      ))}
    </ul>
  );
}

interface ListQuery {
  readonly _limit: number;
  readonly q: string | undefined;
  readonly _sort: string | undefined;
  readonly _order: 'desc' | undefined;
}

export function usePagedList<T>(
  name: string,
  size: number,
  load: (query: ListQuery, signal: AbortSignal) => Promise<Response>,
) {
  const { query } = route.value;
  const q = query.get('q') ?? '';
  const sort = query.get('sort') ?? '';
  const limit = Math.max(size, Math.trunc(Number(query.get('limit'))) || 0);
  const paging: ListQuery = {
    _limit: limit,
    q: q || undefined,
    _sort: sort.replace(/^-/, '') || undefined,
    _order: sort.startsWith('-') ? 'desc' : undefined,
  };
  const list = usePolled(`${name} ${JSON.stringify(paging)}`, async (signal) => {
    const reply = await load(paging, signal);
    const records: readonly T[] = Object(parseJson(await reply.text()));
    return { records, total: Number(reply.headers.get('x-total-count')) };
  });
  return { list, q, limit };
}

const ARROWS = { none: '', ascending: ' ↑', descending: ' ↓' } as const;

export function createSortedColumn<T>(
  field: string,
  cell: (row: T) => ComponentChildren,
  name = field,
  style?: string,
): Column<T> {
  const current = route.value.query.get('sort');
  const sort =
    current === field ? 'ascending' : current === `-${field}` ? 'descending' : ('none' as const);
  const next = { none: field, ascending: `-${field}`, descending: '' }[sort];
  const head = (
    <Button class="link" label={name + ARROWS[sort]} onClick={() => refine({ sort: next })} />
  );
  return { name, class: style, head, sort, cell };
}

interface MoreProps {
  readonly limit: number;
  readonly total: number;
  readonly noun: readonly [one: string, many: string];
}

export function More({ limit, total, noun }: MoreProps) {
  const isMore = limit < total;
  return (
    <p class="bar">
      {isMore && `${limit.toLocaleString('en')} of `}
      {plural(total, ...noun)}
      {isMore && <Button label="Load more" onClick={() => refine({ limit: limit * 2 })} />}
    </p>
  );
}

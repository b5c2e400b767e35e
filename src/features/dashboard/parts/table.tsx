import { type ComponentChildren, createElement, Fragment } from 'preact';
import { parseJson } from '../../../core/json.ts';
import { usePolled } from '../state/resource.ts';
import { plural, refine, route } from '../state/route.ts';
import { Button } from './buttons.tsx';
import { Loading } from './panel.tsx';

export interface Column<T> {
  readonly name: string;
  readonly class?: string | undefined;
  /** What a press on its head sorts by. */
  readonly field?: string;
  readonly cell: (row: T) => ComponentChildren;
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
  const classOf = (key: unknown) =>
    [key === opened && 'opened', marked.includes(key) && 'marked'].filter(Boolean).join(' ');
  return (
    <div class="wide">
      <table class={table.class}>
        <caption class="unseen">{table.caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Head key={column.name} {...column} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <Fragment key={keyOf(row)}>
              {above?.(index)}
              <tr class={classOf(keyOf(row))}>
                {columns.map(({ name, class: style, cell }, at) =>
                  createElement(
                    at === 0 ? 'th' : 'td',
                    { scope: at === 0 ? 'row' : undefined, class: style, 'data-name': name },
                    cell(row),
                  ),
                )}
              </tr>
            </Fragment>
          ))}
          {above?.(rows.length)}
        </tbody>
      </table>
    </div>
  );
}

function Head({ name, class: style, field }: Pick<Column<never>, 'name' | 'class' | 'field'>) {
  const current = route.value.query.get('sort');
  const sort = current === field ? 'ascending' : current === `-${field}` ? 'descending' : 'none';
  const arrow = { none: '', ascending: ' ↑', descending: ' ↓' }[sort];
  const next = { none: field, ascending: `-${field}`, descending: '' }[sort];
  return (
    <th scope="col" class={style} aria-sort={field === undefined ? undefined : sort}>
      {field === undefined ? (
        name
      ) : (
        <Button class="link" label={name + arrow} onClick={() => refine({ sort: next })} />
      )}
    </th>
  );
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

/** What the address says of a list, as the control API takes it. */
function readListQuery(size: number) {
  const { query } = route.value;
  const sort = query.get('sort') ?? '';
  return {
    _limit: Math.max(size, Math.trunc(Number(query.get('limit'))) || 0),
    q: query.get('q') || undefined,
    _sort: sort.replace(/^-/, '') || undefined,
    _order: sort.startsWith('-') ? ('desc' as const) : undefined,
  };
}

type ListQuery = ReturnType<typeof readListQuery>;

/** @param size of the part that is shown at first */
export function usePagedList<T>(
  name: string,
  size: number,
  load: (query: ListQuery, signal: AbortSignal) => Promise<Response>,
) {
  const query = readListQuery(size);
  const list = usePolled(`${name} ${JSON.stringify(query)}`, async (signal) => {
    const reply = await load(query, signal);
    const records: readonly T[] = Object(parseJson(await reply.text()));
    return { records, total: Number(reply.headers.get('x-total-count')) };
  });
  return { ...list, query };
}

interface PagedProps<T> extends Omit<TableProps<T>, 'rows'> {
  readonly of: ReturnType<typeof usePagedList<T>>;
  readonly noun: readonly [one: string, many: string];
}

export function PagedTable<T>({ of, noun, ...table }: PagedProps<T>) {
  const { value, error, query } = of;
  if (value === undefined) return <Loading of={of} />;
  const { _limit: limit } = query;
  const isMore = limit < value.total;
  return (
    <>
      {error !== undefined && <Loading of={of} />}
      <Table {...table} class="records" rows={value.records} />
      <p class="bar">
        {isMore && `${limit.toLocaleString('en')} of `}
        {plural(value.total, ...noun)}
        {isMore && <Button label="Load more" onClick={() => refine({ limit: limit * 2 })} />}
      </p>
    </>
  );
}

import { useSignal } from '@preact/signals';
import { callPage } from '../client/control-calls.ts';
import { Loading } from '../parts/loading.tsx';
import { QuerySearch } from '../parts/query-inputs.tsx';
import { ActionsHead, Table } from '../parts/table.tsx';
import { plural } from '../parts/visible-text.ts';
import { place, refine } from '../state/place.ts';
import { type FieldInfo, type Row, TABLES, type TableName } from '../state/record-tables.ts';
import { OFTEN, type Resource, useLoaded } from '../state/resource.ts';
import { RecordForm } from './record-form.tsx';
import { RecordRow } from './record-row.tsx';

const PAGE_SIZE = 25;

/** The state of the table in the page's address. */
interface TableQuery {
  readonly q: string;
  /** A field, after a minus if it is descending. */
  readonly sort: string;
  readonly page: number;
}

/** One collection. The server searches, sorts and pages, so it may be a large one. */
export function RecordTable({ name }: { readonly name: TableName }) {
  const table = TABLES[name];
  const { query } = place.value;
  const asked: TableQuery = {
    q: query.get('q') ?? '',
    sort: query.get('sort') ?? '',
    page: Math.max(1, Math.trunc(Number(query.get('page') ?? 1)) || 1),
  };
  const path = `/${name}?${parametersOf(asked)}`;
  // Only the first pages without a search are cheap enough to poll.
  const isCheap = asked.q === '' && asked.sort === '' && asked.page < 10;
  const list = useLoaded(path, (signal) => callPage<Row>(path, signal), isCheap ? OFTEN : 0);
  const adding = useSignal(false);
  const add = async (record: Row) => {
    const done = `Added the ${table.noun}.`;
    const isDone = await list.act(done, 'POST', `/${name}`, { body: record });
    if (isDone) adding.value = false;
    return isDone;
  };
  return (
    <section aria-label={table.title}>
      <div class="bar">
        <search class="filters">
          <QuerySearch name="q" label="Search" />
        </search>
        <button
          type="button"
          aria-expanded={adding.value}
          onClick={() => {
            adding.value = !adding.value;
          }}
        >
          Add an {table.noun}
        </button>
        <button type="button" onClick={list.reload}>
          Reload
        </button>
      </div>
      {adding.value && <RecordForm table={table} onSave={add} />}
      {list.value === undefined || list.error !== undefined ? (
        <Loading resource={list} />
      ) : (
        <>
          <Rows name={name} sort={asked.sort} rows={list.value.records} act={list.act} />
          <Pager page={asked.page} total={list.value.total} />
        </>
      )}
    </section>
  );
}

function parametersOf({ q, sort, page }: TableQuery): URLSearchParams {
  const parameters = new URLSearchParams({ _page: String(page), _limit: String(PAGE_SIZE) });
  if (q !== '') parameters.set('q', q);
  if (sort !== '') {
    parameters.set('_sort', sort.replace(/^-/, ''));
    parameters.set('_order', sort.startsWith('-') ? 'desc' : 'asc');
  }
  return parameters;
}

interface RowsProps {
  readonly name: TableName;
  readonly sort: string;
  readonly rows: readonly Row[];
  readonly act: Resource<unknown>['act'];
}

function Rows({ name, sort, rows, act }: RowsProps) {
  const { fields, id, title } = TABLES[name];
  if (rows.length === 0) return <p class="empty">No records.</p>;
  return (
    <Table
      caption={title}
      heads={[
        ...fields.map((field) => <SortHeader key={field.name} field={field} sort={sort} />),
        <ActionsHead key="actions" />,
      ]}
    >
      {rows.map((row) => (
        <RecordRow key={String(row[id])} name={name} row={row} act={act} />
      ))}
    </Table>
  );
}

function SortHeader({
  field: { name, type },
  sort,
}: {
  readonly field: FieldInfo;
  readonly sort: string;
}) {
  const [next, order] =
    sort === name
      ? ([`-${name}`, 'ascending'] as const)
      : sort === `-${name}`
        ? (['', 'descending'] as const)
        : ([name, 'none'] as const);
  return (
    <th scope="col" class={type === 'integer' ? 'number' : undefined} aria-sort={order}>
      <button type="button" class="plain" onClick={() => refine({ sort: next, page: '' })}>
        {name}
        {order === 'ascending' ? ' ↑' : order === 'descending' ? ' ↓' : ''}
      </button>
    </th>
  );
}

function Pager({ page, total }: { readonly page: number; readonly total: number }) {
  const last = Math.max(1, Math.ceil(total / PAGE_SIZE));
  const to = (target: number) => () => refine({ page: target === 1 ? '' : String(target) });
  return (
    <nav class="bar" aria-label="Pages">
      <button type="button" disabled={page <= 1} onClick={to(page - 1)}>
        Previous
      </button>
      <span>
        Page {page.toLocaleString('en')} of {last.toLocaleString('en')}, {plural(total, 'record')}
      </span>
      <button type="button" disabled={page >= last} onClick={to(page + 1)}>
        Next
      </button>
    </nav>
  );
}

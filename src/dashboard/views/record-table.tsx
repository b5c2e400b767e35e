import { useSignal } from '@preact/signals';
import type { CollectionName } from '../../contract/records.ts';
import { callPage } from '../client/control-calls.ts';
import { Loading } from '../parts/loading.tsx';
import { QuerySearch } from '../parts/query-inputs.tsx';
import { Table } from '../parts/table.tsx';
import { plural } from '../parts/visible-text.ts';
import { place, refine } from '../state/place.ts';
import { type Row, TABLES, type TableInfo } from '../state/record-tables.ts';
import { OFTEN, useLoaded } from '../state/resource.ts';
import { RecordForm } from './record-form.tsx';
import { RecordRow, recordColumns } from './record-row.tsx';

const PAGE_SIZE = 25;

/** The state of the table in the page's address. */
interface TableQuery {
  readonly q: string;
  /** A field, after a minus if it is descending. */
  readonly sort: string;
  readonly page: number;
}

/** One collection. The server searches, sorts and pages, so it may be a large one. */
export function RecordTable({ name }: { readonly name: CollectionName }) {
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
  const columns = recordColumns(table, asked.sort);
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
          {list.value.records.length === 0 && <Nothing table={table} found={asked.q} />}
          {list.value.records.length > 0 && (
            <Table caption={table.title} class="records" columns={columns}>
              {list.value.records.map((row) => (
                <RecordRow
                  key={String(row[table.id])}
                  {...{ table, columns, row }}
                  act={list.act}
                />
              ))}
            </Table>
          )}
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

interface NothingProps {
  readonly table: TableInfo;
  readonly found: string;
}

function Nothing({ table: { title, noun }, found }: NothingProps) {
  return (
    <p class="empty">
      {found === ''
        ? `There are no ${title.toLowerCase()}. Add an ${noun} here, or reset the store to fill it.`
        : `No ${noun} has “${found}” in it.`}
    </p>
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

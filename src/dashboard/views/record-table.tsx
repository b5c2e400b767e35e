import { useSignal } from '@preact/signals';
import type { CollectionName } from '../../contract/records.ts';
import { Button, Disclosure } from '../parts/button.tsx';
import { Loading } from '../parts/loading.tsx';
import { Pager, usePagedList } from '../parts/paged-list.tsx';
import { QuerySearch } from '../parts/query-inputs.tsx';
import { Table } from '../parts/table.tsx';
import { type Row, TABLES } from '../state/record-tables.ts';
import { RecordForm } from './record-form.tsx';
import { RecordRow, recordColumns } from './record-row.tsx';

const PAGE_SIZE = 25;

/** One collection of the store. */
export function RecordTable({ name }: { readonly name: CollectionName }) {
  const table = TABLES[name];
  const { list, q, sort, page } = usePagedList<Row>(`/${name}`, PAGE_SIZE);
  const columns = recordColumns(table, sort);
  const adding = useSignal(false);
  const add = async (record: Row) => {
    const done = `Added the ${table.noun}.`;
    const isDone = await list.act(done, 'POST', `/${name}`, { body: record });
    if (isDone) adding.value = false;
    return isDone;
  };
  const { records, total } = list.value ?? { records: [], total: 0 };
  return (
    <section aria-label={table.title}>
      <search class="bar">
        <QuerySearch name="q" label="Search" placeholder={`Search ${name}`} />
        <Disclosure of={adding} label={`Add an ${table.noun}`} />
        <Button onClick={list.reload}>Reload</Button>
      </search>
      {adding.value && <RecordForm table={table} onSave={add} />}
      {list.value === undefined || list.error !== undefined ? (
        <Loading resource={list} />
      ) : (
        <>
          {records.length === 0 && (
            <p class="empty">
              {q === ''
                ? `There are no ${name}. Add an ${table.noun} here, or reset the store to fill it.`
                : `No ${table.noun} has “${q}” in it.`}
            </p>
          )}
          {records.length > 0 && (
            <Table caption={table.title} class="records" columns={columns}>
              {records.map((row) => (
                <RecordRow
                  key={String(row[table.id])}
                  {...{ table, columns, row }}
                  act={list.act}
                />
              ))}
            </Table>
          )}
          <Pager size={PAGE_SIZE} noun={['record', 'records']} {...{ page, total }} />
        </>
      )}
    </section>
  );
}

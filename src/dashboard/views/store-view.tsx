import { useLayoutEffect, useState } from 'preact/hooks';
import { COLLECTIONS, type CollectionName } from '../../contract/records.ts';
import { Button, ConfirmButton } from '../parts/buttons.tsx';
import { Field, Form, NameForm, type Texts } from '../parts/form.tsx';
import { Tabs } from '../parts/panel.tsx';
import { QuerySearch } from '../parts/query-inputs.tsx';
import { type Column, createSortedHead, More, Table, usePagedList } from '../parts/table.tsx';
import { Loading, plural, shorten, visible } from '../parts/texts.tsx';
import { formatTitle, place } from '../state/place.ts';
import {
  type FieldInfo,
  formatValue,
  listFields,
  parseValue,
  type Row,
  TABLES,
} from '../state/record-tables.ts';
import { attempt, useResource } from '../state/resource.ts';
import { client } from '../state/session.ts';

const TITLES = Object.fromEntries(COLLECTIONS.map((name) => [name, formatTitle(name)]));

export function StoreView() {
  const { item } = place.value;
  const opened = COLLECTIONS.find((name) => name === item) ?? 'animals';
  return (
    <>
      <Tabs label="Collections" view="store" items={TITLES} current={opened} />
      <RecordTable key={opened} name={opened} />
      <StoreTools />
    </>
  );
}

const BUT_THE_STORE = {
  keep: ['scenario', 'own-scenarios', 'assumptions', 'clock', 'journal'],
} as const;

function StoreTools() {
  const list = useResource('snapshots', (signal) => client.call('GET /snapshots', { signal }));
  return (
    <>
      <section aria-labelledby="snapshots">
        <h2 id="snapshots">Snapshots</h2>
        <p class="quiet">A snapshot keeps all records of this sandbox as they are now.</p>
        <NameForm
          label="Name of a new snapshot"
          action="Keep"
          onName={(name) =>
            attempt(`Saved snapshot ${name}.`, () =>
              client.call('POST /snapshots', { body: { name } }),
            )
          }
        />
        <ul class="rows">
          {list.value?.map(({ name, animals, orders }) => (
            <li key={name}>
              <b>{name}</b>{' '}
              <span class="quiet">
                {plural(animals, 'animal')}, {plural(orders, 'order')}
              </span>
              <Button
                aria-label={`Restore ${name}`}
                onClick={() =>
                  attempt(`Restored ${name}.`, () =>
                    client.call('POST /snapshots/{name}/restore', { path: { name } }),
                  )
                }
              >
                Restore
              </Button>
              <ConfirmButton
                label="Delete"
                name={`Delete ${name}`}
                onConfirm={() =>
                  attempt(`Deleted ${name}.`, () =>
                    client.call('DELETE /snapshots/{name}', { path: { name } }),
                  )
                }
              >
                The snapshot goes; the records stay as they are.
              </ConfirmButton>
            </li>
          ))}
        </ul>
      </section>
      <ConfirmButton
        label="Reset the store"
        onConfirm={() =>
          attempt('Store reset.', () => client.call('POST /reset', { body: BUT_THE_STORE }))
        }
      >
        All records go back to the start. Snapshots, settings and exchanges stay.
      </ConfirmButton>
    </>
  );
}

const PAGE_SIZE = 25;

function RecordTable({ name }: { readonly name: CollectionName }) {
  const { noun, id, shortcuts } = TABLES[name];
  const fields = listFields(name);
  const { list, q, sort, limit } = usePagedList<Row>(name, PAGE_SIZE, (paging, signal) =>
    client.send(`GET /${name}`, { query: Object(paging), signal }),
  );
  /** The record in the form, as it was when that was opened; empty for a new one. */
  const [edited, edit] = useState<Row | undefined>(undefined);
  const idOf = (row: Row) => formatValue(row[id]);
  const pathOf = (row: Row) => ({ id: idOf(row) });
  // Before the form is seen: what is typed at once goes where it should.
  useLayoutEffect(() => {
    if (edited === undefined) return undefined;
    document.querySelector<HTMLElement>('form.card input')?.focus();
    return () => document.getElementById(`edit-${idOf(edited)}`)?.focus();
  }, [edited]);
  const { records, total } = list.value ?? { records: [], total: 0 };
  const remove = async (row: Row) => {
    // The row disappears, and the focus with it.
    const path = pathOf(row);
    const done = `Deleted ${noun} ${idOf(row)}.`;
    if (await attempt(done, () => client.call(`DELETE /${name}/{id}`, { path }))) {
      document.getElementById('main')?.focus();
    }
  };
  const change = (row: Row, done: string, changes: Row) => {
    const body = Object(changes);
    return attempt(done, () => client.call(`PATCH /${name}/{id}`, { path: pathOf(row), body }));
  };
  const isNew = edited !== undefined && idOf(edited) === '';
  const save = async (row: Row, body: Row) => {
    const isDone = await (isNew
      ? attempt(`Added the ${noun}.`, () => client.send(`POST /${name}`, { body: Object(body) }))
      : change(row, `Saved ${noun} ${idOf(row)}.`, body));
    if (isDone) edit(undefined);
    return isDone;
  };
  const columns: readonly Column<Row>[] = [
    ...fields.map((field) => ({
      name: field.name,
      class: field.isInteger ? 'number' : undefined,
      ...createSortedHead(field.name, sort),
      cell: (row: Row) => <bdi>{shorten(visible(formatValue(row[field.name])))}</bdi>,
    })),
    {
      name: 'Actions',
      class: 'acts',
      head: <span class="unseen">Actions</span>,
      cell: (row) => (
        <div class="actions">
          {shortcuts(row).map(({ label, changes, done }, index) => (
            <Button
              key={index} // the button that was pressed keeps the focus when it becomes another
              aria-label={`${label} ${noun} ${idOf(row)}`}
              onClick={() => change(row, done, changes)}
            >
              {label}
            </Button>
          ))}
          <Button
            id={`edit-${idOf(row)}`}
            aria-label={`Edit ${noun} ${idOf(row)}`}
            onClick={() => edit(row)}
          >
            Edit
          </Button>
          <ConfirmButton
            label="Delete"
            name={`Delete ${noun} ${idOf(row)}`}
            onConfirm={() => remove(row)}
          >
            Clients no longer find it. Undo brings it back.
          </ConfirmButton>
        </div>
      ),
    },
  ];
  return (
    <section aria-label={formatTitle(name)}>
      <search class="bar">
        <QuerySearch name="q" what={name} />
        <Button id="edit-" aria-expanded={isNew} onClick={() => edit(isNew ? undefined : {})}>
          Add an {noun}
        </Button>
      </search>
      {edited !== undefined && (
        <RecordForm
          key={idOf(edited)}
          what={`${noun} ${idOf(edited)}`.trim()}
          fields={fields.filter((field) => isNew || field.name !== id)}
          row={edited}
          isNew={isNew}
          onSave={(changes) => save(edited, changes)}
          onCancel={() => edit(undefined)}
        />
      )}
      {list.value === undefined || list.error !== undefined ? (
        <Loading resource={list} />
      ) : (
        <Table
          caption={formatTitle(name)}
          class="records"
          columns={columns}
          rows={records}
          keyOf={idOf}
          opened={edited && idOf(edited)}
          empty={
            q === ''
              ? `There are no ${name}. Add an ${noun} here, or reset the store to fill it.`
              : `No ${noun} has “${q}” in it.`
          }
        />
      )}
      <More noun={['record', 'records']} {...{ limit, total }} />
    </section>
  );
}

interface RecordFormProps {
  readonly fields: readonly FieldInfo[];
  readonly what: string;
  readonly row: Row;
  readonly isNew: boolean;
  /** Saves what changed; null removes a field. Returns whether the server took it. */
  readonly onSave: (changes: Row) => Promise<boolean>;
  readonly onCancel: () => void;
}

function RecordForm({ fields, what, row, isNew, onSave, onCancel }: RecordFormProps) {
  const save = (texts: Texts) => {
    const changes = fields.flatMap((field) => {
      const before = formatValue(row[field.name]);
      const text = texts.get(field.name) ?? before;
      return text === before ? [] : [[field.name, text === '' ? null : parseValue(field, text)]];
    });
    return onSave(Object.fromEntries(changes));
  };
  return (
    <Form
      class="card bar fields"
      aria-label={isNew ? `New ${what}` : `Edit ${what}`}
      onSubmit={save}
      onKeyDown={({ key }) => {
        if (key === 'Escape') onCancel();
      }}
    >
      {!isNew && <b>{what}</b>}
      {fields.map(({ name, isInteger, suggested }) => (
        <Field
          key={name}
          name={name}
          label={name === 'id' ? 'id (the next one if empty)' : name}
          value={formatValue(row[name])}
          suggested={suggested}
          inputMode={isInteger ? 'numeric' : 'text'}
          size={isInteger ? 8 : 16}
          placeholder={name === 'shipDate' ? '2030-01-31T09:00:00Z' : ''}
        />
      ))}
      <button type="submit">{isNew ? 'Add' : 'Save'}</button>
      <Button onClick={onCancel}>Cancel</Button>
    </Form>
  );
}

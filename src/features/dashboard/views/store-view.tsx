import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { COLLECTIONS, type CollectionName } from '../../../core/contract/records.ts';
import { Button } from '../parts/buttons.tsx';
import { Form, FormField, NameForm, QuerySearch, Submit, type Texts } from '../parts/form.tsx';
import { restore } from '../parts/strips.tsx';
import { PagedTable, Rows, usePagedList } from '../parts/table.tsx';
import { shorten, visible } from '../parts/texts.tsx';
import {
  type FieldInfo,
  formatValue,
  listFields,
  listShortcuts,
  parseValue,
  type Row,
  TABLES,
} from '../state/records.ts';
import { attempt, perform, useResource } from '../state/resource.ts';
import { capitalize, formatHref, plural, refine, route } from '../state/route.ts';
import { ask, client, listKept } from '../state/session.ts';
import { status } from '../state/settings.ts';

export function StoreView() {
  const { item } = route.value;
  const opened = COLLECTIONS.find((name) => name === item) ?? 'animals';
  return (
    <>
      <nav aria-label="Collections">
        {COLLECTIONS.map((name) => (
          <a key={name} href={formatHref('store', name)} aria-current={name === opened && 'page'}>
            {capitalize(name)}
          </a>
        ))}
      </nav>
      {status.value !== undefined && status.value.changed[opened] > 0 && (
        <p class="quiet">
          {plural(status.value.changed[opened], 'record')} changed since the start; those that are
          still there have a bar in front.
        </p>
      )}
      <RecordTable key={opened} name={opened} />
      <Snapshots />
      <Button
        label="Reset the store"
        confirm="All records go back to the start. Snapshots, settings and exchanges stay."
        onClick={() => restore('Store reset.', 'store')}
      />
    </>
  );
}

function Snapshots() {
  const list = useResource('snapshots', (signal) => client.call('GET /snapshots', { signal }));
  const keep = (name: string) =>
    perform(`Saved snapshot ${name}.`, 'POST /snapshots', { body: { name } });
  const restore = (path: { readonly name: string }) =>
    perform(`Restored ${path.name}.`, 'POST /snapshots/{name}/restore', { path });
  const remove = (path: { readonly name: string }) =>
    perform(`Deleted ${path.name}.`, 'DELETE /snapshots/{name}', { path });
  return (
    <section aria-labelledby="snapshots">
      <h2 id="snapshots">Snapshots</h2>
      <p class="quiet">A snapshot keeps all records of this sandbox as they are now.</p>
      <NameForm label="Name of a new snapshot" action="Keep" onName={keep} />
      <Rows of={list.value ?? []} keyOf={({ name }) => name}>
        {({ name, animals, orders }) => (
          <>
            <b>{name}</b>{' '}
            <span class="quiet">
              {plural(animals, 'animal')}, {plural(orders, 'order')}
            </span>
            <Button label="Restore" of={name} onClick={() => restore({ name })} />
            <Button
              label="Delete"
              of={name}
              confirm="The snapshot goes; the records stay as they are."
              onClick={() => remove({ name })}
            />
          </>
        )}
      </Rows>
    </section>
  );
}

const PAGE_SIZE = 25;

const NEW: Row = {};

function RecordTable({ name }: { name: CollectionName }) {
  const { noun, nouns, id } = TABLES[name];
  const list = usePagedList<Row>(name, PAGE_SIZE, (query, signal) =>
    client.send(`GET /${name}`, { query: Object(query), signal }),
  );
  const { q } = list.query;
  const idOf = (row: Row) => formatValue(row[id]);
  const wanted = route.value.query.get('edit') ?? undefined;
  const found = wanted === 'new' ? NEW : list.value?.records.find((row) => idOf(row) === wanted);
  // It stays as it was when its form was opened, and while a search does not find it.
  const opened = useRef<Row | undefined>(undefined);
  if (wanted === undefined || found !== undefined) {
    const isSame = found !== undefined && opened.current && idOf(opened.current) === idOf(found);
    if (!isSame) opened.current = found;
  }
  const edited = wanted === undefined ? undefined : opened.current;
  const edit = (row?: Row) => refine({ edit: row && (idOf(row) || 'new') });
  const nameOf = (row: Row) => `${noun} ${idOf(row)}`;
  const drafts = listKept(`form Edit ${noun} `);
  // A form with a draft opens again.
  useEffect(() => {
    const isNew = listKept(`form New ${noun}`).length > 0;
    if (wanted === undefined) refine({ edit: drafts[0] ?? (isNew ? 'new' : '') });
  }, []);
  // Before the form is seen: what is typed at once goes where it should.
  useLayoutEffect(() => {
    if (edited === undefined) return undefined;
    document.querySelector<HTMLElement>('form.card input')?.focus();
    return () => document.getElementById(`edit-${idOf(edited)}`)?.focus();
  }, [edited]);
  const remove = (row: Row) =>
    perform(`Deleted ${nameOf(row)}.`, `DELETE /${name}/{id}`, { path: { id: idOf(row) } });
  const actions = (row: Row) => (
    <div class="actions">
      {listShortcuts(name, row).map(({ label, changes, done }, index) => (
        <Button
          key={index} // the button that was pressed keeps the focus when it becomes another
          label={label}
          of={nameOf(row)}
          onClick={() => change(name, row, done, changes)}
        />
      ))}
      <Button
        id={`edit-${idOf(row)}`}
        label={drafts.includes(idOf(row)) ? 'Edit (not saved)' : 'Edit'}
        of={nameOf(row)}
        onClick={() => edit(row)}
      />
      <Button
        label="Delete"
        of={nameOf(row)}
        confirm="Clients no longer find it. Undo brings it back."
        onClick={() => remove(row)}
      />
    </div>
  );
  const empty = { body: { [name]: { remove: 'all' } } } as const;
  const columns = listFields(name).map(({ name: field, isInteger }) => {
    const cell = (row: Row) => <bdi>{shorten(visible(formatValue(row[field])))}</bdi>;
    return { name: field, class: isInteger ? 'number' : undefined, field, cell };
  });
  const none = `There are no ${nouns}. Add an ${noun} here, or reset the store to fill it.`;
  return (
    <section aria-label={capitalize(name)}>
      <search class="bar">
        <QuerySearch name="q" placeholder={`Search ${name}`} />
        <Button
          id="edit-"
          label={`Add an ${noun}`}
          aria-expanded={edited !== undefined && idOf(edited) === ''}
          onClick={() => edit(NEW)}
        />
        <Button
          label="Empty"
          of={name}
          onClick={() => perform(`Emptied ${name}.`, 'PATCH /state', empty)}
        />
      </search>
      {edited !== undefined && (
        <RecordForm key={idOf(edited)} name={name} row={edited} onDone={() => edit()} />
      )}
      <PagedTable
        of={list}
        noun={['record', 'records']}
        caption={capitalize(name)}
        columns={[...columns, { name: 'Actions', class: 'acts', cell: actions }]}
        keyOf={idOf}
        opened={edited && idOf(edited)}
        marked={status.value?.changedIds[name] ?? []}
        empty={q === undefined ? none : `No ${noun} has “${q}” in it.`}
      />
    </section>
  );
}

function change(name: CollectionName, row: Row, done: string, changes: Row): Promise<boolean> {
  const input = { path: { id: formatValue(row[TABLES[name].id]) }, body: Object(changes) };
  return perform(done, `PATCH /${name}/{id}`, input);
}

interface RecordFormProps {
  readonly name: CollectionName;
  /** The record as it was when the form was opened; empty for a new one. */
  readonly row: Row;
  readonly onDone: () => void;
}

function RecordForm({ name, row, onDone }: RecordFormProps) {
  const { noun, id } = TABLES[name];
  const own = formatValue(row[id]);
  const what = own === '' ? `New ${noun}` : `Edit ${noun} ${own}`;
  const fields = listFields(name).filter((field) => own === '' || field.name !== id);
  const save = async (texts: Texts, base: Texts) => {
    const typed = fields.filter((field) => texts.get(field.name) !== base.get(field.name));
    const enteredIn = (field: FieldInfo) => {
      const text = texts.get(field.name) ?? '';
      return [field.name, text === '' ? null : parseValue(field, text)];
    };
    const body = Object.fromEntries(typed.map(enteredIn));
    if (own === '') {
      return attempt(`Added the ${noun}.`, () => client.send(`POST /${name}`, { body }));
    }
    // If it is gone, the change says so.
    const theirs: Row | undefined = await client
      .call(`GET /${name}/{id}`, { path: { id: own } })
      .catch(() => undefined);
    const lost = typed.flatMap((field) => {
      const now = formatValue(theirs?.[field.name]);
      if (theirs === undefined || [base, texts].some((it) => it.get(field.name) === now)) return [];
      const text = `Somebody has changed it to ${visible(now) || 'nothing'} since.`;
      return [[field.name, text] as const];
    });
    const told = lost.map(([field, text]) => `${field}: ${text}`).join(' ');
    if (told !== '' && !(await ask(`Overwrite ${noun} ${own}`, 'Overwrite', told))) {
      return new Map(lost);
    }
    return change(name, row, `Saved ${noun} ${own}.`, body);
  };
  return (
    <Form
      class="card grid"
      aria-label={what}
      draft={what}
      onSubmit={save}
      onDone={onDone}
      onKeyDown={({ key }) => key === 'Escape' && onDone()}
    >
      <b class="bar">{what}</b>
      {fields.map(({ name, isInteger, suggested }) => (
        <FormField
          key={name}
          name={name}
          label={name === 'id' ? 'id (the next one if empty)' : name}
          value={formatValue(row[name])}
          inputMode={isInteger ? 'numeric' : 'text'}
          placeholder={name === 'shipDate' ? '2030-01-31T09:00:00Z' : suggested.join(', ')}
        />
      ))}
      <div class="bar">
        <Submit label="Save" />
        <button type="reset" onClick={onDone}>
          Cancel
        </button>
      </div>
    </Form>
  );
}

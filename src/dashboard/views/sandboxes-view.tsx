import { useSignal } from '@preact/signals';
import type { SandboxSummary } from '../../control/control-shapes.ts';
import { DEFAULT_SANDBOX, STAGING_SANDBOX } from '../../sandbox/sandbox-names.ts';
import { ConfirmButton } from '../parts/buttons.tsx';
import { NameForm } from '../parts/form.tsx';
import { Loading } from '../parts/loading.tsx';
import { Pager, sortedHead, usePagedList } from '../parts/paged-list.tsx';
import { QuerySearch } from '../parts/query-inputs.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { plural, timeText } from '../parts/visible-text.ts';
import { act } from '../state/resource.ts';
import { controlPath, sandbox } from '../state/session.ts';

const OF_DEFAULT = { of: DEFAULT_SANDBOX } as const;

/** These two always exist. */
const LASTING = [DEFAULT_SANDBOX, STAGING_SANDBOX];

const PAGE_SIZE = 100;

const SANDBOXES = ['sandbox', 'sandboxes'] as const;

/** Every sandbox of the server. */
export function SandboxesView() {
  const { list, q, sort, page } = usePagedList<SandboxSummary>(
    ...(['/sandboxes', PAGE_SIZE, DEFAULT_SANDBOX] as const),
  );
  const selected = useSignal<ReadonlySet<string>>(new Set());
  if (list.value === undefined) return <Loading resource={list} />;
  const { records, total } = list.value;
  const remove = async (query: URLSearchParams, what: string) => {
    const done = `Deleted ${what}.`;
    await act(done, 'DELETE', `/sandboxes?${query}`, OF_DEFAULT);
    selected.value = new Set();
  };
  const create = (name: string) =>
    act(`Created sandbox ${name}.`, 'POST', '/sandboxes', { body: { name }, ...OF_DEFAULT });
  const names = [...selected.value];
  const columns = columnsOf(sort, selected.value, (name, isOn) => {
    const next = new Set(names);
    if (isOn) next.add(name);
    else next.delete(name);
    selected.value = next;
  });
  return (
    <>
      <p class="quiet">
        Each sandbox has its own store, keys, clock, scenarios and journal. The first call to{' '}
        <code>/~NAME/v1</code> creates one; <code>--sandbox-idle</code> removes those that nobody
        uses.
      </p>
      <search class="bar">
        <QuerySearch name="q" label="Search" placeholder="Search names" />
        {names.length > 0 && (
          <ConfirmButton
            label={`Delete ${plural(names.length, ...SANDBOXES)}`}
            onConfirm={() =>
              remove(
                new URLSearchParams(names.map((name) => ['name', name])),
                plural(names.length, ...SANDBOXES),
              )
            }
          />
        )}
        {names.length === 0 && q !== '' && total > 0 && (
          <ConfirmButton
            label={`Delete all ${total.toLocaleString('en')} found`}
            onConfirm={() => remove(new URLSearchParams({ q }), `those with “${q}” in their name`)}
          />
        )}
      </search>
      {records.length === 0 && <p class="empty">No sandbox has “{q}” in its name.</p>}
      {records.length > 0 && (
        <Table
          caption="Sandboxes"
          class="records"
          columns={columns}
          rows={records}
          keyOf={({ name }) => name}
          opened={sandbox}
        />
      )}
      <Pager size={PAGE_SIZE} noun={SANDBOXES} {...{ page, total }} />
      <NameForm label="Name of a new sandbox" action="Create" onName={create} />
    </>
  );
}

function columnsOf(
  sort: string,
  selected: ReadonlySet<string>,
  onSelect: (name: string, isOn: boolean) => void,
): readonly Column<SandboxSummary>[] {
  const count = (name: string, of: keyof SandboxSummary): Column<SandboxSummary> => ({
    name,
    class: 'number',
    cell: (it) => it[of]?.toLocaleString('en'),
    ...sortedHead(of, sort, name),
  });
  return [
    {
      name: 'Selected',
      class: 'tick',
      head: <span class="unseen">Selected</span>,
      cell: ({ name }) =>
        !LASTING.includes(name) && (
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={selected.has(name)}
            onChange={({ currentTarget }) => onSelect(name, currentTarget.checked)}
          />
        ),
    },
    {
      name: 'Name',
      ...sortedHead('name', sort, 'Name'),
      cell: ({ name }) => (
        <a href={`${controlPath(name)}/`} aria-current={name === sandbox ? 'true' : undefined}>
          {name}
        </a>
      ),
    },
    {
      name: 'Last use',
      ...sortedHead('lastUsed', sort, 'Last use'),
      cell: ({ lastUsed }) => <time dateTime={lastUsed}>{timeText(lastUsed ?? '')}</time>,
    },
    count('Exchanges', 'requests'),
    count('Findings', 'findings'),
    count('Animals', 'animals'),
    count('Orders', 'orders'),
  ];
}

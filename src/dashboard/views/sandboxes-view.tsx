import { useState } from 'preact/hooks';
import type { SandboxSummary } from '../../control/control-shapes.ts';
import { DEFAULT_SANDBOX, PERMANENT_SANDBOXES } from '../../defaults.ts';
import { ConfirmButton } from '../parts/buttons.tsx';
import { NameForm } from '../parts/form.tsx';
import { QuerySearch } from '../parts/query-inputs.tsx';
import { type Column, Pager, sortedHead, Table, usePagedList } from '../parts/table.tsx';
import { Loading, plural, timeText } from '../parts/texts.tsx';
import { act } from '../state/resource.ts';
import { controlPath, sandbox } from '../state/session.ts';

const PAGE_SIZE = 100;

const SANDBOXES = ['sandbox', 'sandboxes'] as const;

/** Every sandbox of the server. */
export function SandboxesView() {
  const { list, q, sort, page } = usePagedList<SandboxSummary>(
    '/sandboxes',
    PAGE_SIZE,
    DEFAULT_SANDBOX,
  );
  const [selected, select] = useState<readonly string[]>([]);
  if (list.value === undefined) return <Loading resource={list} />;
  const { records, total } = list.value;
  const create = (name: string) => {
    const options = { body: { name }, of: DEFAULT_SANDBOX };
    return act(`Created sandbox ${name}.`, 'POST', '/sandboxes', options);
  };
  const found = total > 0 && q !== '' ? `all ${total.toLocaleString('en')} found` : '';
  const what = selected.length > 0 ? plural(selected.length, ...SANDBOXES) : found;
  const remove = async () => {
    const names = selected.map((name) => ['name', name]);
    const query = new URLSearchParams(names.length > 0 ? names : { q });
    await act(`Deleted ${what}.`, 'DELETE', `/sandboxes?${query}`, { of: DEFAULT_SANDBOX });
    select([]);
  };
  const count = (name: string, of: keyof SandboxSummary): Column<SandboxSummary> => ({
    name,
    class: 'number',
    cell: (it) => it[of]?.toLocaleString('en'),
    ...sortedHead(of, sort, name),
  });
  const columns: readonly Column<SandboxSummary>[] = [
    {
      name: 'Selected',
      class: 'tick',
      head: <span class="unseen">Selected</span>,
      cell: ({ name }) =>
        !PERMANENT_SANDBOXES.includes(name) && (
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={selected.includes(name)}
            onChange={({ currentTarget: { checked } }) =>
              select(checked ? [...selected, name] : selected.filter((it) => it !== name))
            }
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
  return (
    <>
      <p class="quiet">
        Each sandbox has its own store, keys, clock, scenarios and journal. The first call to{' '}
        <code>/~NAME/v1</code> creates one; <code>--sandbox-idle</code> removes those that nobody
        uses.
      </p>
      <search class="bar">
        <QuerySearch name="q" what="names" />
        {what !== '' && <ConfirmButton label={`Delete ${what}`} onConfirm={remove} />}
      </search>
      <Table
        caption="Sandboxes"
        class="records"
        columns={columns}
        rows={records}
        keyOf={({ name }) => name}
        opened={sandbox}
        empty={`No sandbox has “${q}” in its name.`}
      />
      <Pager size={PAGE_SIZE} noun={SANDBOXES} {...{ page, total }} />
      <NameForm label="Name of a new sandbox" action="Create" onName={create} />
    </>
  );
}

import type { SandboxSummary } from '../../control/control-shapes.ts';
import { DEFAULT_SANDBOX, STAGING_SANDBOX } from '../../sandbox/sandbox-names.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Loading } from '../parts/loading.tsx';
import { NameForm } from '../parts/name-form.tsx';
import { QuerySearch } from '../parts/query-inputs.tsx';
import { type Column, Table, TableRow } from '../parts/table.tsx';
import { plural } from '../parts/visible-text.ts';
import { place } from '../state/place.ts';
import { OFTEN, useResource } from '../state/resource.ts';
import { controlPath, sandbox } from '../state/session.ts';

const OF_DEFAULT = { of: DEFAULT_SANDBOX } as const;

/** These two always exist. */
const LASTING = [DEFAULT_SANDBOX, STAGING_SANDBOX];

/** Rows drawn at most; searching by name finds the others. */
const MOST_SHOWN = 200;

/** Every sandbox of the server. */
export function SandboxesView() {
  const list = useResource<readonly SandboxSummary[]>('/sandboxes', OFTEN, OF_DEFAULT);
  const remove = (name: string) =>
    list.act(`Deleted sandbox ${name}.`, 'DELETE', `/sandboxes/${name}`, OF_DEFAULT);
  const create = (name: string) =>
    list.act(`Created sandbox ${name}.`, 'POST', '/sandboxes', { body: { name }, ...OF_DEFAULT });
  const columns = columnsOf(remove);
  if (list.value === undefined) return <Loading resource={list} />;
  const text = place.value.query.get('text') ?? '';
  const wanted = list.value.filter(({ name }) => name.includes(text));
  return (
    <>
      <p class="quiet">
        Each sandbox has its own store, keys, clock, scenarios and journal. Tests in different
        sandboxes do not affect each other.
      </p>
      <search class="filters">
        <QuerySearch name="text" label="Search" />
        <span class="quiet">
          {plural(wanted.length, 'sandbox', 'sandboxes')}
          {wanted.length > MOST_SHOWN && `, the first ${MOST_SHOWN} shown`}
        </span>
      </search>
      <Table caption="Sandboxes" class="records" columns={columns}>
        {wanted.slice(0, MOST_SHOWN).map((it) => (
          <TableRow key={it.name} of={it} columns={columns} opened={it.name === sandbox} />
        ))}
      </Table>
      <NameForm label="Name of a new sandbox" action="Create" onName={create} />
    </>
  );
}

function columnsOf(onDelete: (name: string) => void): readonly Column<SandboxSummary>[] {
  const count = (name: string, of: (it: SandboxSummary) => number): Column<SandboxSummary> => ({
    name,
    class: 'number',
    cell: (it) => of(it).toLocaleString('en'),
  });
  return [
    {
      name: 'Name',
      cell: ({ name }) => (
        <a href={`${controlPath(name)}/`} aria-current={name === sandbox ? 'true' : undefined}>
          {name}
        </a>
      ),
    },
    { name: 'Base path', cell: ({ service }) => <code>{service}</code> },
    count('Exchanges', ({ requests }) => requests),
    count('Findings', ({ findings }) => findings),
    count('Animals', ({ animals }) => animals),
    count('Orders', ({ orders }) => orders),
    {
      name: 'Actions',
      class: 'acts',
      head: <span class="unseen">Actions</span>,
      cell: ({ name }) =>
        !LASTING.includes(name) && (
          <ConfirmButton label="Delete" name={`Delete ${name}`} onConfirm={() => onDelete(name)} />
        ),
    },
  ];
}

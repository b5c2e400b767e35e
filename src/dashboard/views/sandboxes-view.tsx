import type { SandboxSummary } from '../../control/control-shapes.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Loading } from '../parts/loading.tsx';
import { NameForm } from '../parts/name-form.tsx';
import { QuerySearch } from '../parts/query-inputs.tsx';
import { ActionsHead, NumberHead, Table } from '../parts/table.tsx';
import { plural } from '../parts/visible-text.ts';
import { place } from '../state/place.ts';
import { OFTEN, useResource } from '../state/resource.ts';
import { controlPath, DEFAULT_SANDBOX, sandbox } from '../state/session.ts';

const OF_DEFAULT = { of: DEFAULT_SANDBOX } as const;

/** These two always exist. */
const LASTING = [DEFAULT_SANDBOX, 'staging'];

/** Rows drawn at most; searching by name finds the others. */
const MOST_SHOWN = 200;

const COUNTS = ['Exchanges', 'Findings', 'Animals', 'Orders'];
const HEADS = [
  ...['Name', 'Base path'],
  ...COUNTS.map((name) => <NumberHead key={name} name={name} />),
  <ActionsHead key="actions" />,
];

/** Every sandbox of the server. */
export function SandboxesView() {
  const list = useResource<readonly SandboxSummary[]>('/sandboxes', OFTEN, DEFAULT_SANDBOX);
  const remove = (name: string) =>
    list.act(`Deleted sandbox ${name}.`, 'DELETE', `/sandboxes/${name}`, OF_DEFAULT);
  const create = (name: string) =>
    list.act(`Created sandbox ${name}.`, 'POST', '/sandboxes', { body: { name }, ...OF_DEFAULT });
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
        <QuerySearch name="text" label="Name" />
        <span class="quiet">
          {plural(wanted.length, 'sandbox', 'sandboxes')}
          {wanted.length > MOST_SHOWN && `, the first ${MOST_SHOWN} shown`}
        </span>
      </search>
      <Table heads={HEADS}>
        {wanted.slice(0, MOST_SHOWN).map((it) => (
          <Row key={it.name} of={it} onDelete={() => remove(it.name)} />
        ))}
      </Table>
      <NameForm label="Name of a new sandbox" action="Create" onName={create} />
    </>
  );
}

interface RowProps {
  readonly of: SandboxSummary;
  readonly onDelete: () => void;
}

function Row({ of, onDelete }: RowProps) {
  const { name, service, requests, findings, animals, orders } = of;
  return (
    <tr class={name === sandbox ? 'opened' : ''}>
      <th scope="row">
        <a href={`${controlPath(name)}/`} aria-current={name === sandbox ? 'true' : undefined}>
          {name}
        </a>
      </th>
      <td>
        <code>{service}</code>
      </td>
      {[requests, findings, animals, orders].map((count, column) => (
        <td key={column} class="number">
          {count.toLocaleString('en')}
        </td>
      ))}
      <td>
        {!LASTING.includes(name) && (
          <ConfirmButton label="Delete" name={`Delete ${name}`} onConfirm={onDelete} />
        )}
      </td>
    </tr>
  );
}

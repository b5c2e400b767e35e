import type { ReplyOf } from '../../../client/control-client.ts';
import { DEFAULT_SANDBOX, PERMANENT_SANDBOXES } from '../../../core/limits.ts';
import { rowNames } from '../../../core/tables.ts';
import { Button } from '../parts/buttons.tsx';
import { NameForm, QuerySearch } from '../parts/form.tsx';
import { PagedTable, usePagedList } from '../parts/table.tsx';
import { formatTime } from '../parts/texts.tsx';
import { host } from '../state/host.ts';
import { attempt } from '../state/resource.ts';
import {
  client,
  controlPath,
  EVERY_SANDBOX,
  keep,
  notice,
  readKept,
  sandbox,
} from '../state/session.ts';

type SandboxSummary = ReplyOf<'GET /sandboxes'>[number];

const server = client.sandbox(DEFAULT_SANDBOX);

const PAGE_SIZE = 100;

const COUNTS = {
  requests: 'Exchanges',
  findings: 'Findings',
  animals: 'Animals',
  orders: 'Orders',
} as const;

// What the page of another sandbox has done before it led here.
notice.value = readKept('notice', EVERY_SANDBOX);
keep('notice', undefined, EVERY_SANDBOX);

function leaveFor(page: string): void {
  keep('notice', notice.value, EVERY_SANDBOX);
  location.assign(page);
}

export function SandboxesView() {
  const list = usePagedList<SandboxSummary>('sandboxes', PAGE_SIZE, (query, signal) =>
    server.send('GET /sandboxes', { query, signal }),
  );
  const create = async (name: string) => {
    const add = () => server.call('POST /sandboxes', { body: { name } });
    const isDone = await attempt(`Created sandbox ${name}.`, add);
    if (isDone && host.hasPages) leaveFor(`${controlPath(name)}/`);
    return isDone;
  };
  const remove = async (name: string) => {
    const drop = () => server.call('DELETE /sandboxes/{name}', { path: { name } });
    if ((await attempt(`Deleted sandbox ${name}.`, drop)) && name === sandbox) {
      leaveFor(`${controlPath(DEFAULT_SANDBOX)}/#/sandboxes`);
    }
  };
  const actions = ({ name }: SandboxSummary) =>
    !PERMANENT_SANDBOXES.includes(name) && (
      <Button
        label="Delete"
        of={`sandbox ${name}`}
        confirm="Its records, settings and exchanges go. Nothing brings them back."
        onClick={() => remove(name)}
      />
    );
  const link = ({ name }: SandboxSummary) => (
    <a {...(host.hasPages && { href: `${controlPath(name)}/` })} aria-current={name === sandbox}>
      {name}
    </a>
  );
  const time = ({ lastUsed }: SandboxSummary) => (
    <time dateTime={lastUsed}>{formatTime(lastUsed)}</time>
  );
  const columns = [
    { name: 'Name', field: 'name', cell: link },
    { name: 'Last use', field: 'lastUsed', cell: time },
    ...rowNames(COUNTS).map((field) => ({
      name: COUNTS[field],
      class: 'number',
      field,
      cell: (row: SandboxSummary) => row[field]?.toLocaleString('en'),
    })),
    { name: 'Actions', class: 'tick acts', cell: actions },
  ];
  return (
    <>
      <p class="quiet">
        Each sandbox has its own store, keys, clock, scenarios and journal. The first call to{' '}
        <code>/~NAME/v1</code> creates one; <code>--sandbox-idle</code> removes those that nobody
        uses. <code>staging</code> is the second deployment that the document names: it takes{' '}
        <code>staging-key</code> alone, so a client that mixes up the two gets a 401.
      </p>
      <search class="bar">
        <QuerySearch name="q" placeholder="Search names" />
      </search>
      <PagedTable
        of={list}
        noun={['sandbox', 'sandboxes']}
        caption="Sandboxes"
        columns={columns}
        keyOf={({ name }) => name}
        opened={sandbox}
        empty="No sandbox passes this filter."
      />
      <NameForm label="Name of a new sandbox" action="Create" onName={create} />
    </>
  );
}

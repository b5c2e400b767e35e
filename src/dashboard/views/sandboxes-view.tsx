import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../client/control-client.ts';
import { DEFAULT_SANDBOX, PERMANENT_SANDBOXES } from '../../limits.ts';
import { Button, ConfirmButton } from '../parts/buttons.tsx';
import { NameForm } from '../parts/form.tsx';
import { Panel } from '../parts/panel.tsx';
import { QuerySearch } from '../parts/query-inputs.tsx';
import { type Column, createSortedHead, More, Table, usePagedList } from '../parts/table.tsx';
import { Await, formatTime, Loading, plural } from '../parts/texts.tsx';
import { place, refine } from '../state/place.ts';
import { attempt, POLL_INTERVAL_MS, useResource } from '../state/resource.ts';
import { client, controlPath, sandbox } from '../state/session.ts';

type SandboxStatus = ReplyOf<'GET /status'>;
type SandboxSummary = ReplyOf<'GET /sandboxes'>[number];

const server = client.sandbox(DEFAULT_SANDBOX);

const PAGE_SIZE = 100;

const SANDBOXES = ['sandbox', 'sandboxes'] as const;

const IDLE = { 'any time': '', 'over an hour': '1', 'over a day': '24', 'over a week': '168' };

/** The filter for sandboxes that nobody has used for some hours, to the minute. */
function idleFilter(hours: string): Record<string, string> {
  if (hours === '') return {};
  const limit = Math.floor(Date.now() / 60_000) * 60_000 - Number(hours) * 3_600_000;
  return { lastUsed_lte: new Date(limit).toISOString() };
}

export function SandboxesView() {
  const { query } = place.value;
  const idle = query.get('idle') ?? '';
  const filter = idleFilter(idle);
  const { list, q, sort, limit } = usePagedList<SandboxSummary>(
    `sandboxes ${idle}`,
    PAGE_SIZE,
    (paging, signal) => server.send('GET /sandboxes', { query: { ...paging, ...filter }, signal }),
  );
  const [selected, select] = useState<readonly string[]>([]);
  if (list.value === undefined) return <Loading resource={list} />;
  const { records, total } = list.value;
  const [left = '', right = ''] = (query.get('of') ?? '').split(',');
  const names = records
    .map(({ name }) => name)
    .filter((name) => !PERMANENT_SANDBOXES.includes(name));
  const doomed = selected.filter((name) => !PERMANENT_SANDBOXES.includes(name));
  const isAll = names.length > 0 && names.every((name) => selected.includes(name));
  const isFiltered = total > 0 && (q !== '' || idle !== '');
  const what =
    doomed.length > 0
      ? plural(doomed.length, ...SANDBOXES)
      : isFiltered && selected.length === 0
        ? `all ${total.toLocaleString('en')} found`
        : '';
  const create = (name: string) =>
    attempt(`Created sandbox ${name}.`, () => server.call('POST /sandboxes', { body: { name } }));
  const remove = async () => {
    // To read a deleted sandbox would create it again.
    refine({ of: '' });
    await attempt(`Deleted ${what}.`, () => {
      if (doomed.length === 0) {
        return server.call('DELETE /sandboxes', { query: { ...filter, q: q || undefined } });
      }
      const path = (name: string) => ({ path: { name } });
      return Promise.all(doomed.map((name) => server.call('DELETE /sandboxes/{name}', path(name))));
    });
    select([]);
  };
  const tick = (label: string, checked: boolean, onChange: (checked: boolean) => void) => (
    <input
      type="checkbox"
      aria-label={label}
      checked={checked}
      onChange={({ currentTarget }) => onChange(currentTarget.checked)}
    />
  );
  const count = (name: string, of: keyof SandboxSummary): Column<SandboxSummary> => ({
    name,
    class: 'number',
    cell: (row) => row[of]?.toLocaleString('en'),
    ...createSortedHead(of, sort, name),
  });
  const columns: readonly Column<SandboxSummary>[] = [
    {
      name: 'Selected',
      class: 'tick',
      head: <span class="unseen">Selected</span>,
      cell: ({ name }) =>
        tick(`Select ${name}`, selected.includes(name), (checked) =>
          select(checked ? [...selected, name] : selected.filter((other) => other !== name)),
        ),
    },
    {
      name: 'Name',
      ...createSortedHead('name', sort, 'Name'),
      cell: ({ name }) => (
        <a href={`${controlPath(name)}/`} aria-current={name === sandbox ? 'true' : undefined}>
          {name}
        </a>
      ),
    },
    {
      name: 'Last use',
      ...createSortedHead('lastUsed', sort, 'Last use'),
      cell: ({ lastUsed }) => <time dateTime={lastUsed}>{formatTime(lastUsed ?? '')}</time>,
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
        <label>
          Idle for{' '}
          <select onChange={({ currentTarget }) => refine({ idle: currentTarget.value })}>
            {Object.entries(IDLE).map(([label, hours]) => (
              <option key={label} value={hours} selected={hours === idle}>
                {label}
              </option>
            ))}
          </select>
        </label>
        <Button aria-pressed={isAll} onClick={() => select(isAll ? [] : names)}>
          Select all
        </Button>
        {selected.length === 2 && (
          <Button onClick={() => refine({ of: selected.join() })}>Compare</Button>
        )}
        {what !== '' && (
          <ConfirmButton label={`Delete ${what}`} onConfirm={remove}>
            Their records, settings and exchanges go. Nothing brings them back.
          </ConfirmButton>
        )}
      </search>
      {right !== '' && <Comparison left={left} right={right} />}
      <Table
        caption="Sandboxes"
        class="records"
        columns={columns}
        rows={records}
        keyOf={({ name }) => name}
        opened={sandbox}
        empty="No sandbox passes this filter."
      />
      <More noun={SANDBOXES} {...{ limit, total }} />
      <NameForm label="Name of a new sandbox" action="Create" onName={create} />
    </>
  );
}

function Comparison({ left, right }: { readonly left: string; readonly right: string }) {
  const names = [left, right];
  const both = useResource(
    `compare ${names}`,
    (signal) =>
      Promise.all(
        names.map(async (name) => {
          const query = { name };
          const [status, [summary]] = await Promise.all([
            client.sandbox(name).call('GET /status', { signal }),
            server.call('GET /sandboxes', { query, signal }),
          ]);
          return { ...summary, ...status };
        }),
      ),
    POLL_INTERVAL_MS,
  );
  return (
    <Panel title={`${left} and ${right}`} close="Close" onClose={() => refine({ of: '' })}>
      <Await of={both}>
        {(columns) => (
          <Table
            caption="Two sandboxes"
            rows={FACETS}
            keyOf={({ name }) => name}
            columns={[
              { name: 'What', cell: ({ name }) => name },
              ...columns.map((one, index) => ({
                name: names[index] ?? '',
                cell: ({ text }: Facet) => {
                  const isSame = new Set(columns.map(text)).size === 1;
                  return isSame ? text(one) : <mark>{text(one)}</mark>;
                },
              })),
            ]}
          />
        )}
      </Await>
    </Panel>
  );
}

interface Facet {
  readonly name: string;
  readonly text: (of: SandboxStatus & Partial<SandboxSummary>) => string;
}

const FACETS: readonly Facet[] = [
  { name: 'Active scenarios', text: ({ scenarios }) => scenarios.join(', ') || 'none' },
  { name: 'Changed assumptions', text: ({ assumptions }) => assumptions.join(', ') || 'none' },
  { name: 'Clock', text: ({ clock }) => (clock.real ? 'real time' : formatTime(clock.now)) },
  { name: 'Upstream', text: ({ upstream = 'none' }) => upstream },
  { name: 'Held replies', text: ({ held }) => String(held) },
  { name: 'Animals', text: ({ animals }) => String(animals) },
  { name: 'Inventory entries', text: ({ inventory }) => String(inventory) },
  { name: 'Orders', text: ({ orders }) => String(orders) },
  { name: 'Exchanges', text: ({ requests }) => String(requests) },
  { name: 'Findings', text: ({ findings }) => String(findings) },
];

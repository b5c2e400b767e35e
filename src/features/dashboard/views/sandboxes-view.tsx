import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../../client/control-client.ts';
import { DEFAULT_SANDBOX, PERMANENT_SANDBOXES } from '../../../core/limits.ts';
import { rowNames } from '../../../core/words.ts';
import { Button } from '../parts/buttons.tsx';
import { NameForm, QuerySearch } from '../parts/form.tsx';
import { Loading } from '../parts/panel.tsx';
import { column, createSortedColumn, More, Table, usePagedList } from '../parts/table.tsx';
import { formatTime, plural, shorten } from '../parts/texts.tsx';
import { host } from '../state/host.ts';
import { attempt } from '../state/resource.ts';
import { client, controlPath, sandbox } from '../state/session.ts';

type SandboxSummary = ReplyOf<'GET /sandboxes'>[number];

const server = client.sandbox(DEFAULT_SANDBOX);

const PAGE_SIZE = 100;

const COUNTS = {
  requests: 'Exchanges',
  findings: 'Findings',
  animals: 'Animals',
  orders: 'Orders',
} as const;

const SANDBOXES = ['sandbox', 'sandboxes'] as const;

export function SandboxesView() {
  const { list, q, limit } = usePagedList<SandboxSummary>(
    'sandboxes',
    PAGE_SIZE,
    (paging, signal) => server.send('GET /sandboxes', { query: paging, signal }),
  );
  const [selected, select] = useState<readonly string[]>([]);
  if (list.value === undefined) return <Loading of={list} />;
  const { records, total } = list.value;
  const isMortal = (name: string) => !PERMANENT_SANDBOXES.includes(name);
  const names = records.map(({ name }) => name).filter(isMortal);
  const doomed = selected.filter(isMortal);
  const isAll = names.length > 0 && names.every((name) => selected.includes(name));
  const isFiltered = total > 0 && q !== '' && selected.length === 0;
  const all = isFiltered ? `all ${total.toLocaleString('en')} found` : '';
  const what = doomed.length > 0 ? plural(doomed.length, ...SANDBOXES) : all;
  const create = (name: string) =>
    attempt(`Created sandbox ${name}.`, () => server.call('POST /sandboxes', { body: { name } }));
  const remove = async () => {
    const isOwn = doomed.includes(sandbox) || (doomed.length === 0 && names.includes(sandbox));
    const isDone = await attempt(`Deleted ${what}.`, () => {
      if (doomed.length === 0) {
        return server.call('DELETE /sandboxes', { query: { q } });
      }
      const path = (name: string) => ({ path: { name } });
      return Promise.all(doomed.map((name) => server.call('DELETE /sandboxes/{name}', path(name))));
    });
    select([]);
    if (isDone && isOwn) location.assign(`${controlPath(DEFAULT_SANDBOX)}/#/sandboxes`);
  };
  const tick = ({ name }: SandboxSummary) => (
    <input
      type="checkbox"
      aria-label={`Select ${name}`}
      checked={selected.includes(name)}
      onChange={({ currentTarget: { checked } }) =>
        select(checked ? [...selected, name] : selected.filter((other) => other !== name))
      }
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
    column('Selected', tick, 'tick'),
    createSortedColumn('name', link, 'Name'),
    createSortedColumn('lastUsed', time, 'Last use'),
    ...rowNames(COUNTS).map((of) =>
      createSortedColumn(
        of,
        (row: SandboxSummary) => row[of]?.toLocaleString('en'),
        COUNTS[of],
        'number',
      ),
    ),
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
        <QuerySearch name="q" label="names" />
        <Button
          label="Select all"
          aria-pressed={isAll}
          onClick={() => select(isAll ? [] : names)}
        />
        {what !== '' && (
          <Button
            label={`Delete ${what}`}
            confirm={`${shorten(doomed.join(', ') || 'All that the filter shows')}: records, settings and exchanges go. Nothing brings them back.`}
            onClick={remove}
          />
        )}
      </search>
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

import type { ReplyOf } from '../../client/control-client.ts';
import { COLLECTIONS, type CollectionName } from '../../contract/records.ts';
import { Button } from '../parts/buttons.tsx';
import { Await, Fold, Prose, visible } from '../parts/texts.tsx';
import { formatValue, type Row, TABLES } from '../state/record-tables.ts';
import { formatBody } from '../state/requests.ts';
import { attempt, useResource } from '../state/resource.ts';
import { client, type RecordedExchange } from '../state/session.ts';
import { StatusBadge } from './exchange-rows.tsx';

export function Alternatives({
  of: { number, operation, basis },
}: {
  readonly of: RecordedExchange;
}) {
  if (operation === undefined) return null;
  return (
    <Fold title="The real service might answer instead" opened={basis === 'assumed'}>
      {() => <AlternativeTable number={number} />}
    </Fold>
  );
}

type Alternative = ReplyOf<'GET /requests/{number}/alternatives'>[number];

function AlternativeTable({ number }: { readonly number: number }) {
  const list = useResource(`${number} alternatives`, (signal) =>
    client.call('GET /requests/{number}/alternatives', { path: { number }, signal }),
  );
  const choose = ({ assumption, option }: Alternative) =>
    attempt(`${assumption} is ${option}. Such calls get it from now on.`, () =>
      client.call('PATCH /assumptions', { body: { [assumption]: option } }),
    );
  return (
    <Await of={list}>
      {(alternatives) =>
        alternatives.length === 0 ? (
          <p class="empty">No assumption changes this reply.</p>
        ) : (
          <ul class="rows">
            {alternatives.map((it) => (
              <li key={`${it.assumption}=${it.option}`}>
                <StatusBadge status={it.status} fault={undefined} />
                <span class="grow">
                  <code>
                    {it.assumption}={it.option}
                  </code>
                  : <Prose text={it.meaning} />
                  <BodyLine body={it.body} />
                </span>
                <Button
                  aria-label={`Choose ${it.assumption}=${it.option}`}
                  onClick={() => choose(it)}
                >
                  Choose this
                </Button>
              </li>
            ))}
          </ul>
        )
      }
    </Await>
  );
}

const MAX_LINE_CHARACTERS = 200;

function BodyLine({ body }: { readonly body: unknown }) {
  if (body === undefined) return null;
  return (
    <span class="quiet mono brief-body">
      {visible(formatBody(body).slice(0, MAX_LINE_CHARACTERS))}
    </span>
  );
}

type Records = Readonly<Record<CollectionName, readonly Row[]>>;

interface Difference {
  readonly record: string;
  readonly change: string;
}

export function StoreChanges({ of: { number } }: { readonly of: RecordedExchange }) {
  const rewind = (to: 'before' | 'after') =>
    attempt(`The sandbox is as ${to} call ${number}.`, () =>
      client.call('POST /requests/{number}/rewind', { path: { number }, body: { to } }),
    );
  return (
    <Fold title="Store before and after">
      {() => (
        <>
          <Differences number={number} />
          <div class="bar">
            <Button onClick={() => rewind('before')}>Rewind to before call {number}</Button>
            <Button onClick={() => rewind('after')}>Rewind to after it</Button>
          </div>
        </>
      )}
    </Fold>
  );
}

function Differences({ number }: { readonly number: number }) {
  const list = useResource(`${number} differences`, async (signal) => {
    const read = async (at: 'before' | 'after'): Promise<Records> => {
      const query = { at };
      return Object(
        await client.call('GET /requests/{number}/state', { path: { number }, query, signal }),
      );
    };
    const [before, after] = await Promise.all([read('before'), read('after')]);
    return COLLECTIONS.flatMap((name) => listDifferences(name, before[name], after[name]));
  });
  return (
    <Await of={list}>
      {(differences) =>
        differences.length === 0 ? (
          <p class="empty">This call changed no record.</p>
        ) : (
          <ul class="rows">
            {differences.map(({ record, change }) => (
              <li key={record}>
                <b>{record}</b> <span class="mono">{visible(change)}</span>
              </li>
            ))}
          </ul>
        )
      }
    </Await>
  );
}

function listDifferences(
  name: CollectionName,
  before: readonly Row[],
  after: readonly Row[],
): readonly Difference[] {
  const { noun, id } = TABLES[name];
  const idOf = (row: Row) => formatValue(row[id]);
  const old = new Map(before.map((row) => [idOf(row), row]));
  const left = new Set(after.map(idOf));
  const removed = before.filter((row) => !left.has(idOf(row)));
  const changes = after.flatMap((row) => {
    const previous = old.get(idOf(row));
    if (previous === undefined) return [[row, `added ${formatBody(row)}`] as const];
    const change = formatDifference(previous, row);
    return change === '' ? [] : [[row, change] as const];
  });
  return [...removed.map((row) => [row, `removed ${formatBody(row)}`] as const), ...changes].map(
    ([row, change]) => ({ record: `${noun} ${idOf(row)}`, change }),
  );
}

function formatDifference(before: Row, after: Row): string {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((field) => formatValue(before[field]) !== formatValue(after[field]))
    .map(
      (field) =>
        `${field}: ${formatValue(before[field]) || 'none'} → ${formatValue(after[field]) || 'none'}`,
    )
    .join(', ');
}

import type { ReplyOf } from '../../client/control-client.ts';
import { COLLECTIONS, type CollectionName } from '../../contract/records.ts';
import { Button } from '../parts/buttons.tsx';
import { Await, Fold, Prose, visible } from '../parts/texts.tsx';
import { type Row, TABLES, textOf } from '../state/record-tables.ts';
import { textOfBody } from '../state/requests.ts';
import { attempt, useResource } from '../state/resource.ts';
import { client, type RecordedExchange } from '../state/session.ts';
import { StatusBadge } from './exchange-rows.tsx';

/** What the same call would have got under other options of the assumptions. */
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

/** Characters of a body in a line. */
const MAX_LINE = 200;

function BodyLine({ body }: { readonly body: unknown }) {
  if (body === undefined) return null;
  return <span class="quiet mono brief-body">{visible(textOfBody(body).slice(0, MAX_LINE))}</span>;
}

/** The records of a store. */
type Records = Readonly<Record<CollectionName, readonly Row[]>>;

interface Difference {
  readonly record: string;
  readonly change: string;
}

/** What a call changed in the store, and the way back to it. */
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
    return COLLECTIONS.flatMap((name) => differencesOf(name, before[name], after[name]));
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

function differencesOf(
  name: CollectionName,
  before: readonly Row[],
  after: readonly Row[],
): readonly Difference[] {
  const { noun, id } = TABLES[name];
  const idOf = (row: Row) => textOf(row[id]);
  const old = new Map(before.map((row) => [idOf(row), row]));
  const left = new Set(after.map(idOf));
  const removed = before.filter((row) => !left.has(idOf(row)));
  const changes = after.flatMap((row) => {
    const previous = old.get(idOf(row));
    if (previous === undefined) return [[row, `added ${textOfBody(row)}`] as const];
    const change = changeOf(previous, row);
    return change === '' ? [] : [[row, change] as const];
  });
  return [...removed.map((row) => [row, `removed ${textOfBody(row)}`] as const), ...changes].map(
    ([row, change]) => ({ record: `${noun} ${idOf(row)}`, change }),
  );
}

/** The fields that differ; empty if none does. */
function changeOf(before: Row, after: Row): string {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((field) => textOf(before[field]) !== textOf(after[field]))
    .map(
      (field) => `${field}: ${textOf(before[field]) || 'none'} → ${textOf(after[field]) || 'none'}`,
    )
    .join(', ');
}

import type { ReplyOf } from '../../../client/control-client.ts';
import { COLLECTIONS, type CollectionName } from '../../../core/contract/records.ts';
import { Button } from '../parts/buttons.tsx';
import { Await, Fold } from '../parts/panel.tsx';
import { column, Rows, Table } from '../parts/table.tsx';
import { Marked, Prose, visible } from '../parts/texts.tsx';
import { formatValue, type Row, TABLES } from '../state/records.ts';
import { formatBody } from '../state/requests.ts';
import { perform, useResource } from '../state/resource.ts';
import { client, type ListedExchange } from '../state/session.ts';
import { StatusBadge } from './exchange-rows.tsx';

type Alternative = ReplyOf<'GET /requests/{number}/alternatives'>[number];

interface AlternativesProps {
  readonly of: ListedExchange;
}

export function Alternatives({ of }: AlternativesProps) {
  return (
    <Fold title="The real service might answer instead" opened={of.basis === 'assumed'}>
      {() => <AlternativeTable of={of} />}
    </Fold>
  );
}

function AlternativeTable({ of: { number, reply } }: AlternativesProps) {
  const list = useResource(`${number} alternatives`, (signal) =>
    client.call('GET /requests/{number}/alternatives', { path: { number }, signal }),
  );
  const given = visible(formatBody(reply.body, 2));
  const choose = ({ assumption, option }: Alternative) =>
    perform(`${assumption} is ${option}. Such calls get it from now on.`, 'PATCH /assumptions', {
      body: { [assumption]: option },
    });
  const nameOf = ({ assumption, option }: Alternative) => `${assumption}=${option}`;
  const describe = (row: Alternative) => {
    const body = row.body === undefined ? 'No body.' : visible(formatBody(row.body, 2));
    return (
      <>
        <code>{nameOf(row)}</code>: <Prose text={row.meaning} />
        <pre>
          {body === given ? 'The same body; another header.' : <Marked text={body} other={given} />}
        </pre>
      </>
    );
  };
  const columns = [
    column<Alternative>('Status', ({ status }) => <StatusBadge status={status} />, 'code'),
    column('Reply', describe),
    column<Alternative>('Action', (row) => (
      <Button label="Choose this" of={nameOf(row)} onClick={() => choose(row)} />
    )),
  ];
  return (
    <Await of={list}>
      {(rows) => (
        <Table
          caption="Replies under other options"
          columns={columns}
          rows={rows}
          keyOf={nameOf}
          empty="No assumption changes this reply."
        />
      )}
    </Await>
  );
}

interface ChangesProps {
  readonly number: number;
}

export function ChangesTable({ number }: ChangesProps) {
  const rewind = (to: 'before' | 'after') =>
    perform(`The sandbox is as ${to} call ${number}.`, 'POST /requests/{number}/rewind', {
      path: { number },
      body: { to },
    });
  return (
    <Fold title="Store before and after">
      {() => (
        <>
          <Differences number={number} />
          <div class="bar">
            <Button label={`Rewind to before call ${number}`} onClick={() => rewind('before')} />
            <Button label="Rewind to after it" onClick={() => rewind('after')} />
          </div>
        </>
      )}
    </Fold>
  );
}

type Records = Readonly<Record<CollectionName, readonly Row[]>>;

function Differences({ number }: ChangesProps) {
  const list = useResource(`${number} differences`, async (signal) => {
    const read = async (at: 'before' | 'after'): Promise<Records> => {
      const input = { path: { number }, query: { at }, signal };
      return Object(await client.call('GET /requests/{number}/state', input));
    };
    const [before, after] = await Promise.all([read('before'), read('after')]);
    return COLLECTIONS.flatMap((name) => listDifferences(name, before[name], after[name]));
  });
  return (
    <Await of={list}>
      {(differences) => (
        <Rows of={differences} keyOf={({ record }) => record} empty="This call changed no record.">
          {({ record, change }) => (
            <>
              <b>{record}</b> <span class="mono">{visible(change)}</span>
            </>
          )}
        </Rows>
      )}
    </Await>
  );
}

function listDifferences(name: CollectionName, before: readonly Row[], after: readonly Row[]) {
  const { noun, id } = TABLES[name];
  const byId = (rows: readonly Row[]) => new Map(rows.map((row) => [formatValue(row[id]), row]));
  const [old, next] = [byId(before), byId(after)];
  return [...new Set([...old.keys(), ...next.keys()])].flatMap((key) => {
    const change = formatDifference(old.get(key), next.get(key));
    return change === '' ? [] : [{ record: `${noun} ${key}`, change }];
  });
}

function formatDifference(before: Row | undefined, after: Row | undefined): string {
  if (before === undefined) return `added ${formatBody(after)}`;
  if (after === undefined) return `removed ${formatBody(before)}`;
  const format = (row: Row, field: string) => formatValue(row[field]) || 'none';
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((field) => format(before, field) !== format(after, field))
    .map((field) => `${field}: ${format(before, field)} → ${format(after, field)}`)
    .join(', ');
}

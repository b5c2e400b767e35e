import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../../client/control-client.ts';
import { COLLECTIONS, type CollectionName } from '../../../core/contract/records.ts';
import { Button, Menu } from '../parts/buttons.tsx';
import { MessageText } from '../parts/message.tsx';
import { Await, Fold } from '../parts/panel.tsx';
import { Rows } from '../parts/table.tsx';
import { LineDifference, Prose, visible } from '../parts/texts.tsx';
import { formatValue, type Row, TABLES } from '../state/records.ts';
import { formatBody } from '../state/requests.ts';
import { perform, useResource } from '../state/resource.ts';
import { client, type ListedExchange } from '../state/session.ts';

type Alternative = ReplyOf<'GET /requests/{number}/alternatives'>[number];

/** The reply, and in its place how it differs from what the real service might answer instead. */
export function ReplySide({ of }: { readonly of: ListedExchange }) {
  const { number, operation, status, reply, basis } = of;
  const [chosen, choose] = useState(-1);
  const list = useResource(`${number} alternatives`, (signal) =>
    operation === undefined
      ? Promise.resolve([])
      : client.call('GET /requests/{number}/alternatives', { path: { number }, signal }),
  );
  const given = writeBody(reply.body);
  // Another header alone is not worth a word.
  const others = (list.value ?? []).filter(
    (it) => it.status !== status || (basis === 'assumed' && writeBody(it.body) !== given),
  );
  const row = others[chosen];
  const body = <MessageText of={reply} name={`reply ${number}`} />;
  if (others.length === 0) return body;
  return (
    <>
      <p class="quiet">The real service might answer instead:</p>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset looks like a form */}
      <div role="group" class="segments" aria-label="Replies under other options">
        <Button
          label={`${status ?? 'none'}`}
          aria-pressed={row === undefined}
          onClick={() => choose(-1)}
        />
        {others.map(
          (other, index) =>
            other.status !== status && (
              <Button
                key={nameOf(other)}
                label={`${other.status}`}
                aria-label={`${other.status}, ${nameOf(other)}`}
                aria-pressed={index === chosen}
                onClick={() => choose(index)}
              />
            ),
        )}
      </div>{' '}
      {others.some((other) => other.status === status) && (
        <Menu label="Other bodies">
          {others.map(
            (other, index) =>
              other.status === status && (
                <Button key={nameOf(other)} label={nameOf(other)} onClick={() => choose(index)} />
              ),
          )}
        </Menu>
      )}
      {row === undefined ? body : <Instead of={row} given={given} />}
    </>
  );
}

function nameOf({ assumption, option }: Alternative): string {
  return `${assumption}=${option}`;
}

function writeBody(body: unknown): string {
  return body === undefined ? 'No body.' : visible(formatBody(body, 2));
}

function Instead({ of, given }: { readonly of: Alternative; readonly given: string }) {
  const { assumption, option, meaning } = of;
  const use = () =>
    perform(`${assumption} is ${option}. Such calls get it from now on.`, 'PATCH /assumptions', {
      body: { [assumption]: option },
    });
  return (
    <>
      <p class="bar">
        <span class="grow">
          <code>{nameOf(of)}</code>: <Prose text={meaning} />
        </span>
        <Button class="main" label="Use this" of={nameOf(of)} onClick={use} />
      </p>
      <div class="body">
        <LineDifference before={given} after={writeBody(of.body)} />
      </div>
    </>
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
    // Where there is room for the store, too.
    <Fold title="Store before and after" opened={innerWidth >= 1_800}>
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

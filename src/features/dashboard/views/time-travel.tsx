import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../../client/control-client.ts';
import { COLLECTIONS, type CollectionName } from '../../../core/contract/records.ts';
import { Button, Menu, Segments } from '../parts/buttons.tsx';
import { MessageText } from '../parts/message.tsx';
import { Await, Fold } from '../parts/panel.tsx';
import { Rows } from '../parts/table.tsx';
import { LineDifference, Prose, visible } from '../parts/texts.tsx';
import { type Row, TABLES } from '../state/records.ts';
import { formatBody } from '../state/requests.ts';
import { perform, useResource } from '../state/resource.ts';
import { client, type ListedExchange } from '../state/session.ts';

type Alternative = ReplyOf<'GET /requests/{number}/alternatives'>[number];

/** The reply, and in its place how it differs from what the real service might answer instead. */
export function ReplySide({ of }: { readonly of: ListedExchange }) {
  const { number, operation, status, reply, basis } = of;
  const [row, choose] = useState<Alternative>();
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
  const statuses = others.filter((it) => it.status !== status);
  const bodies = others.filter((it) => it.status === status);
  const segments = [
    [`${status ?? 'none'}`] as const,
    ...statuses.map((it) => [`${it.status}`, nameOf(it)] as const),
  ];
  return (
    <>
      {others.length > 0 && (
        <>
          <p class="quiet">The real service might answer instead:</p>
          <div class="bar">
            <Segments
              label="Replies under other options"
              items={segments}
              chosen={row === undefined ? 0 : statuses.indexOf(row) + 1 || -1}
              onChoose={(index) => choose(statuses[index - 1])}
            />
            {bodies.length > 0 && (
              <Menu label="Other bodies">
                {bodies.map((it) => (
                  <Button key={nameOf(it)} label={nameOf(it)} onClick={() => choose(it)} />
                ))}
              </Menu>
            )}
          </div>
        </>
      )}
      {row === undefined ? (
        <MessageText of={reply} name={`reply ${number}`} />
      ) : (
        <Instead of={row} given={given} />
      )}
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

export function ChangedRecords({ number }: { readonly number: number }) {
  const path = { number };
  const rewind = (to: 'before' | 'after') =>
    perform(`The sandbox is as ${to} call ${number}.`, 'POST /requests/{number}/rewind', {
      path,
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

function Differences({ number }: { readonly number: number }) {
  const list = useResource(`${number} differences`, async (signal) => {
    const read = async (at: 'before' | 'after') => {
      const input = { path: { number }, query: { at }, signal };
      const state: Readonly<Record<CollectionName, readonly Row[]>> = Object(
        await client.call('GET /requests/{number}/state', input),
      );
      const textsOf = (name: CollectionName) =>
        state[name].map(
          (row) => [`${TABLES[name].noun} ${row[TABLES[name].id]}`, writeBody(row)] as const,
        );
      return new Map(COLLECTIONS.flatMap(textsOf));
    };
    const [before, after] = await Promise.all([read('before'), read('after')]);
    return [...new Set([...before.keys(), ...after.keys()])]
      .map((name) => [name, before.get(name) ?? 'none', after.get(name) ?? 'none'] as const)
      .filter(([, old, next]) => old !== next);
  });
  return (
    <Await of={list}>
      {(differences) => (
        <Rows of={differences} keyOf={([name]) => name} empty="This call changed no record.">
          {([name, before, after]) => (
            <div class="grow">
              <b>{name}</b>
              <LineDifference before={before} after={after} />
            </div>
          )}
        </Rows>
      )}
    </Await>
  );
}

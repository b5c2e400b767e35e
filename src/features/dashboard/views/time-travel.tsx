import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../../client/control-client.ts';
import { COLLECTIONS, type CollectionName } from '../../../core/contract/records.ts';
import { Button, Menu, Segments } from '../parts/buttons.tsx';
import { MessageText } from '../parts/message.tsx';
import { Await, Fold } from '../parts/panel.tsx';
import { Rows } from '../parts/table.tsx';
import { LineDifference, Prose, visible } from '../parts/texts.tsx';
import { type Row, TABLES } from '../state/records.ts';
import { formatBody, replayFrom } from '../state/requests.ts';
import { listEdits, perform, useResource } from '../state/resource.ts';
import { formatHref } from '../state/route.ts';
import { client, type ListedExchange } from '../state/session.ts';

type Alternative = ReplyOf<'GET /requests/{number}/alternatives'>[number];

/** The reply, and in its place how it differs from what the real service might answer instead. */
export function ReplySide({ of }: { readonly of: ListedExchange }) {
  const { number, operation, status, reply, basis } = of;
  const [chosen, choose] = useState('');
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
  const row = others.find((it) => nameOf(it) === chosen);
  const statuses = others.filter((it) => it.status !== status);
  const bodies = others.filter((it) => it.status === status);
  const segments = [
    [`${status ?? 'none'}`, ''] as const,
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
              onChoose={(index) => choose(segments[index]?.[1] ?? '')}
            />
            {bodies.length > 0 && (
              <Menu label="Other bodies">
                {bodies.map((it) => (
                  <Button key={nameOf(it)} label={nameOf(it)} onClick={() => choose(nameOf(it))} />
                ))}
              </Menu>
            )}
          </div>
        </>
      )}
      {row === undefined ? (
        <MessageText of={reply} name={`reply ${number}`} />
      ) : (
        <Instead key={nameOf(row)} of={row} given={given} />
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
  const list = useResource('assumptions', (signal) => client.call('GET /assumptions', { signal }));
  const { chosen, default: first = option } = list.value?.find(({ id }) => id === assumption) ?? {};
  const isUsed = chosen === option;
  const use = () => {
    const value = isUsed ? first : option;
    const done = `${assumption} is ${value}. Such calls get it from now on.`;
    return perform(done, 'PATCH /assumptions', { body: { [assumption]: value } });
  };
  return (
    <>
      <p class="bar">
        <span class="grow">
          <code>{nameOf(of)}</code>: <Prose text={meaning} />
        </span>
        {isUsed && (
          <a class="badge assumed" href={formatHref('assumptions', assumption)}>
            in use
          </a>
        )}
        <Button
          class={isUsed ? '' : 'main'}
          label={isUsed ? 'Take it back' : 'Use this'}
          of={nameOf(of)}
          hidden={isUsed && first === option}
          onClick={use}
        />
      </p>
      <div class="body">
        <LineDifference before={given} after={writeBody(of.body)} />
      </div>
    </>
  );
}

export function ChangedRecords({ number }: { readonly number: number }) {
  return (
    // Where there is room for the store, too.
    <Fold title="Store before and after" opened={innerWidth >= 1_800}>
      {() => (
        <>
          <Differences number={number} />
          <Rewind number={number} />
        </>
      )}
    </Fold>
  );
}

function Rewind({ number }: { readonly number: number }) {
  const edits = useResource('edits', () => listEdits());
  const since = (edits.value ?? []).filter(({ after, isUndone }) => after >= number && !isUndone);
  const names = new Set(since.map(({ what }) => `“${visible(what)}”`));
  const told = ['what this and later calls changed', ...names].join(', ');
  const rewind = () =>
    perform(
      `The sandbox is as before call ${number}. Taken back: ${told}.`,
      'POST /requests/{number}/rewind',
      { path: { number }, body: { to: 'before' } },
    );
  return (
    <>
      <p class="quiet">Rewinding takes back {told}.</p>
      <div class="bar">
        <Button label={`Rewind to before call ${number}`} onClick={rewind} />
        <Button label="Replay this and the later ones" onClick={() => replayFrom(number)} />
      </div>
    </>
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

import { useState } from 'preact/hooks';
import type { ReplyOf } from '../../../client/control-client.ts';
import type { OperationId } from '../../../core/contract/operations.ts';
import { COLLECTIONS, type CollectionName } from '../../../core/contract/records.ts';
import { parseTarget } from '../../../core/contract/target.ts';
import { Button, Refusal, Segments } from '../parts/buttons.tsx';
import { MessageText } from '../parts/message.tsx';
import { Await, Fold } from '../parts/panel.tsx';
import { Rows } from '../parts/table.tsx';
import { LineDifference, Prose, visible } from '../parts/texts.tsx';
import { type Row, TABLES } from '../state/records.ts';
import { formatBody, replayFrom } from '../state/requests.ts';
import { listEdits, perform, useResource } from '../state/resource.ts';
import { formatHref } from '../state/route.ts';
import { client, type ListedExchange } from '../state/session.ts';
import { chooseOption, optionOf } from '../state/settings.ts';

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
  const rows = new Map(others.map((it) => [nameOf(it), it]));
  const row = rows.get(chosen);
  // Another body of the same status is known by its option.
  const sayOf = (name: string) => {
    const of = rows.get(name);
    return of && of.status === status ? of.option : `${(of ?? { status }).status ?? 'none'}`;
  };
  return (
    <>
      {others.length > 0 && (
        <>
          <p class="quiet">The real service might answer instead:</p>
          <Segments
            label="Replies under other options"
            names={['', ...rows.keys()]}
            sayOf={sayOf}
            chosen={row ? chosen : ''}
            onChoose={choose}
          />
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
  const { default: first = '' } = list.value?.find(({ id }) => id === assumption) ?? {};
  const question = { id: assumption, default: first };
  const isUsed = optionOf(question) === option;
  const use = () => {
    const value = isUsed ? first : option;
    const done = `${assumption} is ${value}. Such calls get it from now on.`;
    return chooseOption(question, value, done);
  };
  return (
    <>
      <p class="bar">
        <span class="grow">
          <code>{nameOf(of)}</code>: <Prose text={meaning} /> <Refusal of={assumption} />
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

export function ChangedRecords({ of }: { readonly of: ListedExchange }) {
  return (
    // Where there is room for the store, too.
    <Fold title="Store before and after" opened={innerWidth >= 1_800}>
      {() => (
        <>
          <Differences of={of} />
          <Rewind number={of.number} />
        </>
      )}
    </Fold>
  );
}

function Rewind({ number }: { readonly number: number }) {
  const edits = useResource('edits', () => listEdits());
  const since = (edits.value ?? []).filter(({ after, isUndone }) => after >= number && !isUndone);
  const names = new Set(since.map(({ what }) => `“${visible(what)}”`));
  const also = names.size > 0 ? `, and these changes: ${[...names].join(', ')}` : '';
  const told = `what this and later calls changed${also}`;
  const rewind = () =>
    perform(
      `The sandbox is as before call ${number}. Taken back: ${told}.`,
      'POST /requests/{number}/rewind',
      { path: { number }, body: { to: 'before' } },
    );
  return (
    <>
      <p class="quiet">
        Rewinding takes back {told}. Replaying starts from the store as it is now: rewind first to
        start from that of then.
      </p>
      <div class="bar">
        <Button label={`Rewind to before call ${number}`} onClick={rewind} />
        <Button label="Replay this and the later ones" onClick={() => replayFrom(number)} />
      </div>
    </>
  );
}

/** The collection of the record that the path of an operation names. */
const NAMED: Partial<Record<OperationId, CollectionName>> = {
  getPet: 'animals',
  updateInventory: 'inventory',
  cancelOrder: 'orders',
};

function Differences({ of: { number, operation, target } }: { readonly of: ListedExchange }) {
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
      return new Map<string, string>(COLLECTIONS.flatMap(textsOf));
    };
    const [before, after] = await Promise.all([read('before'), read('after')]);
    const collection = operation && NAMED[operation];
    const id = parseTarget(target).path.split('/').at(-1);
    const named = collection && visible(`${TABLES[collection].noun} ${id}`);
    return [...new Set([...(named ? [named] : []), ...before.keys(), ...after.keys()])]
      .map((name) => [name, before.get(name) ?? 'none', after.get(name) ?? 'none'] as const)
      .filter(([name, old, next]) => old !== next || name === named);
  });
  return (
    <Await of={list}>
      {(records) => (
        <Rows of={records} keyOf={([name]) => name} empty="This call changed no record.">
          {([name, before, after]) => (
            <div class="grow">
              <b>{name}</b> {before === after && <span class="quiet">unchanged</span>}
              <LineDifference before={before} after={after} />
            </div>
          )}
        </Rows>
      )}
    </Await>
  );
}

import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LogMeter } from '../../src/sandbox/meter.ts';
import { openFile } from '../../src/log/file/file-keeper.ts';
import { textsOf } from '../../src/log/redis/texts.ts';
import type { HeldReplies } from '../../src/sandbox/held-replies.ts';
import { type Keeper, StorageError, type MissedEntries } from '../../src/sandbox/storage.ts';
import { Sandbox } from '../../src/sandbox/sandbox.ts';
import { step } from '../../src/sandbox/answer.ts';
import type { Outcome } from '../../src/scenario/rules.ts';
import { thisInstant } from '../../src/service/clock.ts';
import { callOf, requestOf } from '../helpers/call.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import {
  anEvent,
  type Event,
  origin,
  shownState,
  starter,
  stateText,
} from '../helpers/histories.ts';

const folder = temporaryFolder();

const JOURNAL = 7;
const SHARE = {
  journal: JOURNAL,
  maxHold: 60_000,
  held: new Set<HeldReplies>(),
  isStopping: false,
  observers: new Set<never>(),
  onFinding: undefined,
  upstream: undefined,
  logMeter: new LogMeter(),
};

const sandboxWith = (keeper?: Keeper): Sandbox => new Sandbox('default', origin, SHARE, keeper);

/** Events that reach the servers together. */
interface Burst {
  readonly events: readonly (Event & { readonly server: number })[];
  /** Whether the first append after them fails. */
  readonly fails: boolean;
  /** How many turns of the event loop each append waits. */
  readonly delay: number;
  /** Whether the log may fold. */
  readonly folds: boolean;
}

const aHistory = fc.array(
  fc.record({
    events: fc.array(
      fc.tuple(anEvent, fc.nat(1)).map(([event, server]) => ({ ...event, server })),
      { minLength: 1, maxLength: 5 },
    ),
    fails: fc.nat(4).map((number) => number === 0),
    delay: fc.nat(2),
    folds: fc.boolean(),
  }),
  { maxLength: 8 },
);

/** What became of an event. A refused one has the outcome of its call, if it was one. */
interface End {
  readonly event: Event;
  readonly isRefused: boolean;
  readonly outcome?: Outcome;
}

async function happen(sandbox: Sandbox, event: Event): Promise<End> {
  if ('edit' in event) {
    try {
      await sandbox.change(event.edit);
      return { event, isRefused: false };
    } catch (error) {
      expect(error).toBeInstanceOf(StorageError);
      return { event, isRefused: true };
    }
  }
  const { call, preferred } = event;
  const request = requestOf(call, { receivedAt: thisInstant().steady });
  const outcome = await sandbox.perform(request, (state, now) => step(state, call, now, preferred));
  const text = outcome.reply?.body.kind === 'json' ? outcome.reply.body.text.toString() : '';
  return { event, isRefused: text.includes('"not_saved"'), outcome };
}

/** The same event in a sandbox that nothing keeps. */
function replay(model: Sandbox, { event, isRefused, outcome }: End, isShared: boolean): void {
  if ('edit' in event) {
    if (!isRefused) void model.change(event.edit);
    return;
  }
  const { call, preferred } = event;
  const request = requestOf(call, { receivedAt: thisInstant().steady });
  if (isRefused) {
    if (isShared || outcome === undefined) return;
    void model.perform(request, (state) => ({ state, outcome }));
    return;
  }
  const expected = model.perform(request, (state, now) => step(state, call, now, preferred));
  expect(shownOutcome(outcome)).toEqual(shownOutcome(expected));
}

function shownOutcome(outcome: Outcome | Promise<Outcome> | undefined): unknown {
  if (outcome === undefined || outcome instanceof Promise) throw new Error('There is no outcome.');
  const { reply, ...rest } = outcome;
  return { ...rest, status: reply?.status, headers: reply?.headers, body: reply?.body };
}

/** Everything that a sandbox shows. Times are not the same for two servers. */
function shown({ state, evidence }: Sandbox): object {
  const text = JSON.stringify(evidence.state, (name, value) =>
    INTERNAL.has(name) ? undefined : value,
  );
  return { state: shownState(state), evidence: JSON.parse(text) };
}

/** A success has an attempt only if it is needed, and in memory only the cases that are new. */
const INTERNAL = new Set(['attempt', 'shows', 'receivedAt', 'leftAt']);

const TEXTS = textsOf({
  origin,
  ownStart: (start) => start,
  starter,
  openUpstream: () => Promise.reject(new Error('there is no deployment')),
});

/** A log in memory with the texts of Redis. The keepers of any number of servers append to it. */
class MemoryLog {
  /** Those since the snapshot, one for each append. */
  readonly #texts: string[] = [];
  #snapshot: string | undefined;
  /** How many texts the snapshot replaces. */
  #folded = 0;
  /** Whether the next server that knows all entries replaces them by a snapshot. */
  isFoldDue = false;

  get #length(): number {
    return this.#folded + this.#texts.length;
  }

  keeper(): Keeper {
    let position = 0;
    const read = async (): Promise<MissedEntries> => {
      const snapshot = position < this.#folded ? this.#snapshot : undefined;
      const texts = this.#texts.slice(Math.max(0, position - this.#folded));
      position = this.#length;
      return {
        snapshot: snapshot === undefined ? undefined : await TEXTS.readSnapshot(snapshot),
        entries: await TEXTS.readEntries(texts),
      };
    };
    return {
      isShared: true,
      append: async (entries) => {
        if (position !== this.#length) return read();
        this.#texts.push(TEXTS.entriesText(entries));
        position = this.#length;
        return 'kept';
      },
      read,
      compact: (state, evidence) => {
        if (!this.isFoldDue || position !== this.#length) return;
        this.isFoldDue = false;
        this.#snapshot = TEXTS.snapshotText({ state, evidence: evidence.state });
        this.#folded = this.#length;
        this.#texts.length = 0;
      },
    };
  }
}

/** Adds failures and waits to a keeper. */
function troubled(keeper: Keeper, before: () => Promise<void>): Keeper {
  return {
    isShared: keeper.isShared,
    append: async (entries, state) => {
      await before();
      return keeper.append(entries, state);
    },
    read: () => keeper.read(),
    compact: (state, evidence) => keeper.compact?.(state, evidence),
  };
}

/** A log, and keepers that append to it. */
interface Log {
  keeper(): Keeper;
  /** How many servers there may be; each event of a burst reaches one of them. */
  readonly servers: number;
  fold?(): void;
  /** Checks what the log has at the end. */
  end?(model: Sandbox): Promise<void>;
}

/** Expects that servers with a log show what one shows that nothing keeps. */
async function expectKept(history: readonly Burst[], log: Log): Promise<void> {
  let burst: Burst | undefined;
  let fails = false;
  const before = async (): Promise<void> => {
    for (let turn = burst?.delay ?? 0; turn > 0; turn -= 1) await setImmediate();
    if (!fails) return;
    fails = false;
    throw new Error('the disk is full');
  };
  const sandboxes: Sandbox[] = [];
  for (let server = 0; server < log.servers; server += 1) {
    sandboxes.push(sandboxWith(troubled(log.keeper(), before)));
  }
  const isShared = log.servers > 1;
  const model = sandboxWith();
  for (burst of history) {
    ({ fails } = burst);
    if (burst.folds) log.fold?.();
    // A call is a retry if it comes in a later turn than the reply that it repeats.
    await setImmediate();
    const ends: End[] = [];
    const all = burst.events.map(async ({ server, ...event }) => {
      const sandbox = sandboxes[server % sandboxes.length];
      if (sandbox !== undefined) ends.push(await happen(sandbox, event));
    });
    await Promise.all(all);
    fails = false;
    await setImmediate();
    for (const end of ends) replay(model, end, isShared);
    const expected = shown(model);
    for (const sandbox of sandboxes) {
      await sandbox.current();
      expect(shown(sandbox)).toEqual(expected);
    }
  }
  await log.end?.(model);
}

test('servers that share a log show what one alone shows, late ones included', async () => {
  const property = fc.asyncProperty(aHistory, async (history) => {
    const log = new MemoryLog();
    await expectKept(history, {
      keeper: () => log.keeper(),
      servers: 2,
      fold: () => {
        log.isFoldDue = true;
      },
      end: async (model) => {
        const late = sandboxWith(log.keeper());
        await late.current();
        expect(shown(late)).toEqual(shown(model));
      },
    });
  });
  await fc.assert(property, { numRuns: 100 });
});

test('a file has the store that was acknowledged', async () => {
  let count = 0;
  const property = fc.asyncProperty(aHistory, async (history) => {
    count += 1;
    const path = join(folder, `${count}.json`);
    const { keeper } = await openFile(path, origin.store);
    await expectKept(history, {
      keeper: () => keeper,
      servers: 1,
      end: async (model) => {
        await keeper.close();
        const again = await openFile(path, origin.store);
        await again.keeper.close();
        expect(stateText(again.store)).toBe(stateText(model.state.store));
      },
    });
  });
  await fc.assert(property, { numRuns: 30 });
});

test('the same call is no retry of one whose reply waits for the log', async () => {
  const missing = { ...callOf('getPet'), pathId: '77', authorization: 'Bearer demo-key' };
  let second: Outcome | Promise<Outcome> | undefined;
  let isFirst = true;
  const keeper = troubled(new MemoryLog().keeper(), async () => {
    if (!isFirst) return;
    isFirst = false;
    await setImmediate();
    second = get();
    await setImmediate();
  });
  const sandbox = sandboxWith(keeper);
  const get = () =>
    sandbox.perform(requestOf(missing, { receivedAt: performance.now() }), (state, now) =>
      step(state, missing, now),
    );
  expect((await get()).reply?.status).toBe(404);
  expect((await second)?.reply?.status).toBe(404);
  const retries = () => sandbox.evidence.totals.counts['pointless-retry'];
  expect(retries()).toBeUndefined();
  await setImmediate();
  await get();
  expect(retries()).toBe(1);
});

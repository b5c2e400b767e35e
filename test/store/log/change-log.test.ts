import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type OpenStoreFile, openStoreFile } from '../../../src/store/file/store-file.ts';
import type { Appended, Missed, Position } from '../../../src/store/log/change-log.ts';
import { readRedisAddress } from '../../../src/store/log/redis-address.ts';
import { RedisConnection } from '../../../src/store/log/redis-connection.ts';
import { type LogTexts, RedisLog } from '../../../src/store/log/redis-log.ts';
import { createStore, forkStore, type Store, storeBaseOf } from '../../../src/store/store.ts';
import { describeWithRedis, RedisServer } from '../../helpers/redis.ts';

type Words = readonly string[];

/** A log of words, whatever keeps it. The state is the list of all words. */
interface WordLog {
  append(after: Position, words: Words): Promise<Appended<string, Words>>;
  /** The same for somebody who is behind. */
  appendBehind(after: Position, words: Words): Promise<Appended<string, Words>>;
  /** Reads for whoever is behind. */
  read(after: Position): Promise<Missed<string, Words>>;
  fold(at: Position, words: Words): Promise<void>;
  /** Opens the log again, as after a restart. */
  reopen(): Promise<{ readonly words: Words; readonly position: Position }>;
}

const aWord = fc.stringMatching(/^[a-zé"\\]{1,5}$/);
const aStep = fc.record({
  do: fc.constantFrom('append', 'append', 'append behind', 'read', 'fold', 'reopen'),
  words: fc.array(aWord, { minLength: 1, maxLength: 3 }),
  beside: fc.boolean(),
});

/** What every log of changes does. */
function conforms(open: () => Promise<WordLog>): void {
  test('it has every entry that it took, in order, for every reader that is behind', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aStep, { maxLength: 12 }), async (steps) => {
        const log = await open();
        const all: string[] = [];
        /** The words before position 0. */
        let first = 0;
        /** How far somebody else has followed. */
        let followed = 0;
        const end = (): Position => all.length - first;
        const append = async (words: Words): Promise<void> => {
          const position = end() + words.length;
          expect(await log.append(end(), words)).toEqual({ kept: true, position });
          all.push(...words);
        };
        const follow = ({ snapshot, entries, position }: Missed<string, Words>): void => {
          expect([...(snapshot ?? all.slice(0, first + followed)), ...entries]).toEqual(all);
          expect(position).toBe(end());
          followed = position;
        };
        for (const { do: step, words, beside } of steps) {
          if (step === 'append') await append(words);
          else if (step === 'read') follow(await log.read(followed));
          else if (step === 'append behind' && followed < end()) {
            const result = await log.appendBehind(followed, words);
            if (result.kept) throw new Error('an append from behind was kept');
            follow(result.missed);
          } else if (step === 'fold') {
            // Appends go on while the log is folded.
            const folding = log.fold(end(), [...all]);
            if (beside) await append(words);
            await folding;
          } else if (step === 'reopen') {
            const { words: known, position } = await log.reopen();
            expect(known).toEqual(all);
            first = all.length - position;
            followed = position;
          }
        }
        follow(await log.read(followed));
        expect((await log.reopen()).words).toEqual(all);
      }),
      { numRuns: 8 },
    );
  });
}

type StoreMissed = Awaited<ReturnType<OpenStoreFile['log']['read']>>;

describe('a log in a file', () => {
  let folder = '';
  const opened: OpenStoreFile[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'change-log-'));
  });
  afterEach(async () => {
    for (const { log } of opened.splice(0)) await log.close();
    rmSync(folder, { recursive: true });
  });

  const storeOf = (words: readonly string[]): Store =>
    createStore(
      storeBaseOf({
        animals: words.map((name, index) => ({ id: BigInt(index + 1), name, categoryId: 1n })),
        inventory: [],
        orders: [],
      }),
    );
  const wordsOf = ({ animals }: Store) => [...animals.ascending()].map(({ name }) => name);

  conforms(async () => {
    for (const { log } of opened.splice(0)) await log.close();
    const path = join(mkdtempSync(join(folder, 'run-')), 'db.json');
    let file = await openStoreFile(path, storeOf([]));
    opened.push(file);
    const told = ({ snapshot, entries, position }: StoreMissed): Missed<string, Words> => ({
      snapshot: snapshot && wordsOf(snapshot.store),
      entries: entries.flatMap(({ store }) => (store?.animals?.set ?? []).map(({ name }) => name)),
      position,
    });
    const append: WordLog['append'] = async (after, words) => {
      const made = words.map((name) => {
        const id = (file.store.animals.highestId ?? 0n) + 1n;
        file.store.animals.set({ id, name, categoryId: 1n });
        return file.store.take();
      });
      const entries = made.map((it) => ({ store: it?.change }));
      const result = await file.log.append(after, entries);
      if (result.kept) return result;
      for (const it of made.toReversed()) file.store.apply(it?.inverse ?? {});
      return { kept: false, missed: told(result.missed) };
    };
    return {
      append,
      appendBehind: append,
      read: async (after) => told(await file.log.read(after)),
      fold: (at) => file.log.fold(at, { store: forkStore(file.store) }),
      reopen: async () => {
        await file.log.close();
        file = await openStoreFile(path, storeOf([]));
        opened.push(file);
        return { words: wordsOf(file.store), position: file.position };
      },
    };
  });
});

describeWithRedis('a log in Redis', () => {
  const TEXTS: LogTexts<string, Words> = {
    writeEntry: String,
    readEntry: String,
    writeSnapshot: JSON.stringify,
    readSnapshot: JSON.parse,
    isLasting: () => true,
  };
  let redis: RedisServer;
  let connection: RedisConnection;
  let logs = 0;
  beforeAll(async () => {
    redis = await RedisServer.start();
    const address = readRedisAddress(redis.url);
    if (address === undefined) throw new Error('not an address');
    connection = new RedisConnection(address);
  });
  afterAll(async () => {
    connection.close();
    await redis.end();
  });

  conforms(async () => {
    const name = `words-${logs}`;
    logs += 1;
    const log = (): RedisLog<string, Words> => new RedisLog(connection, name, TEXTS, 0);
    let [one, other] = [log(), log()];
    await one.create([]);
    await one.read(0);
    return {
      append: (after, words) => one.append(after, words),
      appendBehind: (after, words) => other.append(after, words),
      read: (after) => other.read(after),
      fold: (at, words) => one.fold(at, words),
      reopen: async () => {
        [one, other] = [log(), log()];
        await other.read(0);
        const { snapshot = [], entries, position } = await one.read(0);
        return { words: [...snapshot, ...entries], position };
      },
    };
  });
});

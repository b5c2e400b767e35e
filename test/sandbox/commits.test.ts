import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LogMeter } from '../../src/evidence/meter.ts';
import { Commits, type Job, NotSavedError, type Replica } from '../../src/sandbox/commits.ts';
import type { Appended, ChangeLog, Missed } from '../../src/store/log/change-log.ts';

/** A log of words in memory. Others may append to it at any time, and it may fail. */
class ScriptedLog implements ChangeLog<string, readonly string[]> {
  readonly entries: string[] = [];
  readonly appends: string[][] = [];
  /** Called at the start of each append and read. */
  before: () => void = () => {};
  /** How many of the first entries are only in a snapshot. */
  folded = 0;
  isFoldDue = false;
  isShared = false;

  async append(
    after: number,
    entries: readonly string[],
  ): Promise<Appended<string, readonly string[]>> {
    await Promise.resolve();
    this.before();
    if (after !== this.entries.length) return { kept: false, missed: this.#since(after) };
    this.appends.push([...entries]);
    this.entries.push(...entries);
    return { kept: true, position: this.entries.length };
  }

  async read(after: number): Promise<Missed<string, readonly string[]>> {
    await Promise.resolve();
    this.before();
    return this.#since(after);
  }

  async fold(at: number, snapshot: readonly string[]): Promise<void> {
    await Promise.resolve();
    expect(snapshot).toEqual(this.entries.slice(0, at));
    this.folded = at;
    this.isFoldDue = false;
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #since(after: number): Missed<string, readonly string[]> {
    const position = this.entries.length;
    if (after >= this.folded) return { entries: this.entries.slice(after), position };
    const snapshot = this.entries.slice(0, this.folded);
    return { snapshot, entries: this.entries.slice(this.folded), position };
  }
}

/** A list of words. Work adds to `words`. */
class Words implements Replica<string, readonly string[]> {
  words: string[] = [];

  record(work: () => void) {
    const before = this.words.length;
    work();
    const added = this.words.slice(before);
    const undo = () => {
      expect(this.words.splice(before)).toEqual(added);
    };
    return { change: added.length === 0 ? undefined : added.join(), undo };
  }

  apply(change: string): void {
    this.words.push(...change.split(','));
  }

  snapshot(): readonly string[] {
    return [...this.words];
  }

  restore(snapshot: readonly string[]): void {
    this.words = snapshot.flatMap((change) => change.split(','));
  }
}

function setUp(meter?: LogMeter) {
  const log = new ScriptedLog();
  const replica = new Words();
  const commits = new Commits(log, replica, 0, meter);
  /** Adds a job; resolves with what its last run returned. */
  const job = <T>(run: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      let result: T;
      const added: Job = {
        run: () => {
          result = run();
        },
        kept: () => resolve(result),
        failed: reject,
      };
      commits.add(added);
    });
  const add = (word: string) => job(() => replica.words.push(word));
  const read = () => job(() => replica.words.join());
  return { log, replica, commits, job, add, read };
}

describe('jobs', () => {
  test('that arrive together share an append, in order', async () => {
    const { log, add, read } = setUp();
    expect(await Promise.all([add('a'), add('b'), read()])).toEqual([1, 2, 'a,b']);
    expect(log.appends).toEqual([['a', 'b']]);
  });

  test('that arrive during an append share the next one, and see what it kept', async () => {
    const { log, add, read } = setUp();
    let later: Promise<unknown>[] = [];
    log.before = () => {
      log.before = () => {};
      later = [read(), add('b'), add('c')];
    };
    await add('a');
    expect(await Promise.all(later)).toEqual(['a', 2, 3]);
    expect(log.appends).toEqual([['a'], ['b', 'c']]);
  });

  test('that change nothing need no append', async () => {
    const { log, read } = setUp();
    let told = '';
    void read().then((words) => {
      told = `read ${words}`;
    });
    await Promise.resolve();
    expect(told).toBe('read ');
    expect(log.appends).toEqual([]);
  });

  test('that throw change nothing and get the error', async () => {
    const { replica, job, add } = setUp();
    const failing = job(() => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await add('a');
    expect(replica.words).toEqual(['a']);
  });

  test('run again after what others appended', async () => {
    const { log, job, add, replica } = setUp();
    let conflicts = 4;
    log.before = () => {
      if (conflicts > 0) log.entries.push(`other ${conflicts}`);
      conflicts -= 1;
    };
    const count = job(() => replica.words.push(`${replica.words.length} before`));
    expect(await Promise.all([count, add('a')])).toEqual([5, 6]);
    expect(log.entries).toEqual(['other 4', 'other 3', 'other 2', 'other 1', '4 before', 'a']);
    expect(replica.words).toEqual(log.entries);
  });

  test('are metered: changes, conflicts, failures, and how far behind they came', async () => {
    const meter = new LogMeter();
    const { log, add } = setUp(meter);
    await Promise.all([add('a'), add('b')]);
    log.entries.push('x', 'y');
    await add('c');
    log.before = () => expect.fail('out of order');
    await expect(add('d')).rejects.toThrow(NotSavedError);
    expect(meter).toMatchObject({ changes: 3, conflicts: 1, failures: 1 });
    expect(meter.appends.counts.reduce((sum, count) => sum + count)).toBe(2);
  });

  test('run again on a snapshot if the log was folded', async () => {
    const { log, add, replica } = setUp();
    log.entries.push('x', 'y', 'z');
    log.folded = 2;
    expect(await add('a')).toBe(4);
    expect(replica.words).toEqual(['x', 'y', 'z', 'a']);
  });

  test('are undone and refused if the log fails, and succeed when it is back', async () => {
    const { log, add, read, replica } = setUp();
    await add('a');
    log.before = () => {
      throw new Error('the disk is full');
    };
    const [b, seen, c] = await Promise.allSettled([add('b'), read(), add('c')]);
    for (const result of [b, c]) {
      expect(result).toMatchObject({ reason: expect.any(NotSavedError) });
      expect(result).toMatchObject({
        reason: { message: expect.stringContaining('disk is full') },
      });
    }
    expect(seen).toEqual({ status: 'fulfilled', value: 'a' });
    expect(replica.words).toEqual(['a']);
    log.before = () => {};
    expect(await add('d')).toBe(2);
    expect(log.entries).toEqual(['a', 'd']);
  });

  test('that only read are refused too if other servers may have changed what they read', async () => {
    const { log, add, read } = setUp();
    log.isShared = true;
    log.before = () => {
      throw new Error('gone');
    };
    for (const result of await Promise.allSettled([add('a'), read()])) {
      expect(result).toMatchObject({ reason: expect.any(NotSavedError) });
    }
  });
});

describe('the state in memory', () => {
  test('is current once the running jobs are kept', async () => {
    const { commits, log, add } = setUp();
    const added = add('a');
    await commits.current();
    expect(log.entries).toEqual(['a']);
    await added;
  });

  test('is current for whoever was told so, while other jobs wait', async () => {
    const { commits, log, add, replica } = setUp();
    const seen: string[] = [];
    log.before = () => {
      log.before = () => {};
      void add('b');
    };
    const told = add('a').then(() => seen.push(replica.words.join()));
    await commits.current();
    seen.push(replica.words.join());
    await told;
    expect(seen).toEqual(['a', 'a']);
  });

  test('is current after the log failed, without other servers', async () => {
    const { commits, log, add, replica } = setUp();
    log.before = () => {
      throw new Error('the disk is full');
    };
    const refused = expect(add('a')).rejects.toThrow(NotSavedError);
    await commits.current();
    expect(replica.words).toEqual([]);
    await refused;
  });

  test('is current once it has what others appended', async () => {
    const { commits, log, replica } = setUp();
    log.entries.push('other');
    await commits.current();
    expect(replica.words).toEqual(['other']);
  });

  test('is not called current if the log cannot be read', async () => {
    const { commits, log } = setUp();
    log.isShared = true;
    log.before = () => {
      throw new Error('gone');
    };
    await expect(commits.current()).rejects.toThrow(NotSavedError);
  });

  test('is folded into the log when that is due', async () => {
    const { log, add } = setUp();
    log.isFoldDue = true;
    await add('a');
    await add('b');
    expect(log.folded).toBe(1);
  });
});

test('two writers of a log that also fails agree with it, and every acknowledged change is in it once', async () => {
  const aStep = fc.record({
    by: fc.constantFrom(0, 1),
    fails: fc.boolean(),
    reads: fc.boolean(),
    waits: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { maxLength: 20 }), async (steps) => {
      const log = new ScriptedLog();
      const copies = [new Words(), new Words()] as const;
      const writers = copies.map((replica) => new Commits(log, replica, 0));
      const acknowledged: string[] = [];
      const ends: Promise<void>[] = [];
      for (const [index, { by, fails, reads, waits }] of steps.entries()) {
        log.before = () => {
          log.before = () => {};
          if (fails) throw new Error('once');
        };
        const word = `${index}`;
        const end = new Promise<void>((resolve) => {
          writers[by]?.add({
            run: () => {
              if (!reads) copies[by].words.push(word);
            },
            kept: () => {
              if (!reads) acknowledged.push(word);
              resolve();
            },
            failed: () => resolve(),
          });
        });
        ends.push(end);
        if (waits) await end;
      }
      await Promise.all(ends);
      log.before = () => {};
      for (const writer of writers) await writer.current();
      for (const { words } of copies) expect(words).toEqual(log.entries);
      expect(log.entries.toSorted()).toEqual(acknowledged.toSorted());
    }),
    { numRuns: 60 },
  );
});

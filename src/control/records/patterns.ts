import { isObject } from '../../contract/records.ts';
import { listed } from '../../words.ts';
import type { AnyRecord, Like } from './read-query.ts';

/** How long patterns may be matched in one query: a pattern can need years for a short text. */
const MATCHING_MS = 1000;

/** Records that are matched at once, since the watch over each batch has its price. */
const BATCH = 1000;

/** A query whose patterns were given up on. */
export class TooSlow extends Error {}

/**
 * The records that match.
 *
 * @throws TooSlow where that takes too long
 */
export function* matchingPatterns<R extends AnyRecord>(
  records: Iterable<R>,
  likes: readonly Like[],
): Generator<R> {
  const watched = new WatchedMatching(likes);
  let batch: R[] = [];
  for (const record of records) {
    batch.push(record);
    if (batch.length < BATCH) continue;
    yield* watched.matches(batch);
    batch = [];
  }
  yield* watched.matches(batch);
}

/** Matches patterns as the engine does, and gives up where they take too long altogether. */
class WatchedMatching {
  readonly #likes: readonly Like[];
  // Loaded late: a static import would cost every start.
  readonly #vm = process.getBuiltinModule('node:vm');
  readonly #script = new this.#vm.Script('match()');
  readonly #context = this.#vm.createContext({ match: () => this.#match() });
  #left = MATCHING_MS;
  #values: readonly (readonly unknown[])[] = [];
  #matched: boolean[] = [];

  constructor(likes: readonly Like[]) {
    this.#likes = likes;
  }

  matches<R extends AnyRecord>(records: readonly R[]): R[] {
    // Read before the watch starts, which may stop what it runs anywhere.
    this.#values = records.map((record) => this.#likes.map(({ field }) => record[field]));
    this.#matched = [];
    const started = performance.now();
    try {
      this.#script.runInContext(this.#context, { timeout: Math.max(1, Math.ceil(this.#left)) });
    } catch (error) {
      if (!isTimeout(error)) throw error;
      const names = listed(
        this.#likes.map(({ name }) => name),
        'and',
      );
      throw new TooSlow(`${names}: expected patterns that match within ${MATCHING_MS} ms`);
    }
    this.#left -= performance.now() - started;
    return records.filter((_, index) => this.#matched[index]);
  }

  #match(): void {
    this.#matched = this.#values.map((values) =>
      this.#likes.every(({ patterns }, index) => {
        const value = values[index];
        return value !== undefined && patterns.some((pattern) => pattern.test(String(value)));
      }),
    );
  }
}

/** The error belongs to the context, so it is no `Error` of this one. */
function isTimeout(error: unknown): boolean {
  return isObject(error) && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

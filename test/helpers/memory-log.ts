import type { Evidence } from '../../src/evidence/sandbox-evidence.ts';
import type { Entry, Keeper, MissedEntries, SandboxSnapshot } from '../../src/sandbox/keeper.ts';
import type { State } from '../../src/sandbox/state.ts';

/** A log in memory. The keepers of any number of servers append to it. */
export class MemoryLog {
  /** Those since the snapshot. */
  readonly #entries: Entry[] = [];
  #snapshot: SandboxSnapshot | undefined;
  /** How many entries the snapshot replaces. */
  #folded = 0;
  /** Called before each append and read, which fail if it throws. */
  before: () => void | Promise<void> = () => {};
  /** Whether the next server that knows all entries replaces them by a snapshot. */
  isFoldDue = false;

  get #length(): number {
    return this.#folded + this.#entries.length;
  }

  /** @param isShared as of Redis, not of a file */
  keeper(isShared = false): Keeper {
    let position = 0;
    const read = (): MissedEntries => {
      const snapshot = position < this.#folded ? this.#snapshot : undefined;
      const from = snapshot === undefined ? position - this.#folded : 0;
      position = this.#length;
      return { snapshot, entries: this.#entries.slice(from).map(copyOf) };
    };
    return {
      isShared,
      append: async (entries) => {
        await this.before();
        if (position !== this.#length) return read();
        this.#entries.push(...entries.map(copyOf));
        position = this.#length;
        return 'kept';
      },
      read: async () => {
        await this.before();
        return read();
      },
      settled: (state, evidence) => {
        if (this.isFoldDue && position === this.#length) this.#fold(state, evidence);
      },
    };
  }

  #fold(state: State, evidence: Evidence): void {
    this.isFoldDue = false;
    this.#snapshot = { state, evidence: structuredClone(evidence.state) };
    this.#folded = this.#length;
    this.#entries.length = 0;
  }
}

/** An entry as another server gets it: with an exchange of its own, which it numbers. */
function copyOf(entry: Entry): Entry {
  return { ...entry, exchange: structuredClone(entry.exchange) };
}

import type { RecordedStore } from '../store/log/recorded-store.ts';
import { forkStore } from '../store/store.ts';
import type { Change, SandboxSnapshot } from './change.ts';
import type { Made, Replica } from './commits.ts';

/** The state of a sandbox, as its log sees it. */
export class SandboxReplica implements Replica<Change, SandboxSnapshot> {
  readonly #store: RecordedStore;
  readonly #undoSettings: () => () => void;

  /** @param undoSettings returns what undoes the changes of settings from now on */
  constructor(store: RecordedStore, undoSettings: () => () => void) {
    this.#store = store;
    this.#undoSettings = undoSettings;
  }

  record(work: () => void): Made<Change> {
    const undoSettings = this.#undoSettings();
    try {
      work();
    } catch (error) {
      const made = this.#store.take();
      if (made !== undefined) this.#store.apply(made.inverse);
      undoSettings();
      throw error;
    }
    const made = this.#store.take();
    const undo = (): void => {
      if (made !== undefined) this.#store.apply(made.inverse);
      undoSettings();
    };
    return { change: made && { store: made.change }, undo };
  }

  apply({ store }: Change): void {
    if (store !== undefined) this.#store.apply(store);
  }

  snapshot(): SandboxSnapshot {
    return { store: forkStore(this.#store) };
  }

  restore({ store: { animals, inventory, orders } }: SandboxSnapshot): void {
    this.#store.apply({
      animals: { from: animals },
      inventory: { from: inventory },
      orders: { from: orders },
    });
  }
}

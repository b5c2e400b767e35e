import { readClock } from '../service/clock.ts';
import { MemoryJournal } from './memory-journal.ts';
import type { State } from './state.ts';
import {
  Emitter,
  type JournalContext,
  type OpenedSandbox,
  type SandboxEvent,
  type SandboxListener,
  type Storage,
  type Update,
} from './storage.ts';

export class MemoryStorage implements Storage {
  readonly isShared = false;
  readonly isDurable: boolean = false;
  readonly journal: MemoryJournal;
  state: State;
  readonly #events = new Emitter<SandboxEvent>();

  constructor({ name, initial }: OpenedSandbox, context: JournalContext) {
    this.state = initial;
    this.journal = new MemoryJournal(name, context);
  }

  update<U extends Update>(run: (state: State) => U): U | Promise<U> {
    const before = this.state;
    const update = run(before);
    this.take(before, update);
    return update;
  }

  take(before: State, { state, exchange, edit, clears, undoes }: Update): void {
    this.state = state;
    if (clears !== undefined) this.journal.clear(clears);
    if (exchange !== undefined) {
      this.journal.add(exchange, before, state);
      if (!this.#events.isEmpty) this.#events.emit({ kind: 'exchange', exchange });
    }
    if (edit !== undefined) {
      this.journal.addEdit(edit, readClock(state.clock), before, state, undoes);
      this.#events.emit({ kind: 'edit' });
    }
  }

  publish(event: SandboxEvent): void {
    this.#events.emit(event);
  }

  subscribe(listener: SandboxListener): () => void {
    return this.#events.add(listener);
  }
}

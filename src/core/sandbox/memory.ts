import { readClock } from '../service/clock.ts';
import { MemoryJournal } from './memory-journal.ts';
import type { State } from './state.ts';
import {
  Emitter,
  type JournalContext,
  type OpenedSandbox,
  type SandboxEvent,
  type SandboxListener,
  type SaveScenarios,
  type Storage,
  type Update,
} from './storage.ts';

export class MemoryStorage implements Storage {
  readonly isShared = false;
  readonly isDurable: boolean = false;
  readonly journal: MemoryJournal;
  state: State;
  readonly #events = new Emitter<SandboxEvent>();
  readonly #saveScenarios: SaveScenarios | undefined;

  constructor(
    { name, initial }: OpenedSandbox,
    context: JournalContext,
    saveScenarios?: SaveScenarios,
  ) {
    this.state = initial;
    this.#saveScenarios = saveScenarios;
    this.journal = new MemoryJournal(name, context);
  }

  update<U extends Update>(run: (state: State) => U): U | Promise<U> {
    const before = this.state;
    const update = run(before);
    this.saveScenarios(before, update.state);
    this.take(before, update);
    return update;
  }

  protected saveScenarios({ scenarios: before }: State, { scenarios: after }: State): void {
    if (before !== after) this.#saveScenarios?.(before, after);
  }

  take(before: State, { state, exchange, edit, clears, undoes, forgets = false }: Update): void {
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
    if (forgets) this.journal.forgetStates();
  }

  publish(event: SandboxEvent): void {
    this.#events.emit(event);
  }

  subscribe(listener: SandboxListener): () => void {
    return this.#events.add(listener);
  }
}

import { performance } from 'node:perf_hooks';
import { warn } from '../../server/node-errors.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import { currentInstant, type Instant } from '../service/clock.ts';
import type { Call } from '../service/input.ts';
import { AssumptionTrace, errorReply, type Reply } from '../service/reply.ts';
import { type Answer, answer, type MatchedCall, matchCall } from './answer.ts';
import type { Exchange, ServiceRequest } from './exchange.ts';
import { dropFinal } from './findings.ts';
import { type HoldContext, Holds } from './holds.ts';
import type { Preference } from './preference.ts';
import type { State } from './state.ts';
import {
  type EditText,
  type Emitter,
  type Journal,
  type JournalContext,
  type SandboxListener,
  type Storage,
  StorageError,
} from './storage.ts';

export interface ServerEvent {
  /** `hold` when a held reply has left, or never will. */
  readonly kind: 'exchange' | 'hold';
  readonly sandbox: string;
  readonly exchange: Exchange;
}

export interface ServerContext extends JournalContext, HoldContext {
  readonly events: Emitter<ServerEvent>;
}

export interface Edited<T> {
  readonly state: State;
  readonly result: T;
  readonly clears?: 'journal' | 'all' | undefined;
  readonly forgets?: boolean | undefined;
}

export class Sandbox {
  readonly name: string;
  start: Start;
  readonly #storage: Storage;
  readonly #context: ServerContext;
  #holds: Holds | undefined;
  /** Later than now while a reply is delayed. */
  #usedAt = performance.now();
  #listeners = 0;

  constructor(name: string, start: Start, storage: Storage, context: ServerContext) {
    this.name = name;
    this.start = start;
    this.#storage = storage;
    this.#context = context;
  }

  get journal(): Journal {
    return this.#storage.journal;
  }

  /** As this server last saw it; a fleet may have a newer one. */
  get state(): State {
    return this.#storage.state;
  }

  get isShared(): boolean {
    return this.#storage.isShared;
  }

  get isDurable(): boolean {
    return this.#storage.isDurable;
  }

  get holds(): Holds {
    this.#holds ??= new Holds(this.#storage, this.#context, (exchange) => {
      this.#use(exchange.delay);
      this.#context.events.emit({ kind: 'hold', sandbox: this.name, exchange });
    });
    return this.#holds;
  }

  /** In milliseconds. 0 while anybody waits. */
  get unused(): number {
    const isWaitedFor = this.#listeners > 0 || this.#holds?.isEmpty === false;
    return isWaitedFor ? 0 : Math.max(0, performance.now() - this.#usedAt);
  }

  #use(delay = 0): void {
    this.#usedAt = Math.max(this.#usedAt, performance.now() + delay);
  }

  /** Throws a StorageError. */
  read(): State | Promise<State> {
    const update = this.#storage.update((state) => ({ state }));
    return update instanceof Promise ? update.then(({ state }) => state) : update.state;
  }

  /** A promise unless only memory keeps the state. */
  handle(request: ServiceRequest, preference?: Preference): Exchange | Promise<Exchange> {
    try {
      const update = this.#storage.update((state) =>
        answer(state, request, currentInstant(), preference),
      );
      if (!(update instanceof Promise)) return this.#finish(update, request);
      return update.then(
        (done) => this.#finish(done, request, true),
        (error) => this.#fail(error, request),
      );
    } catch (error) {
      return this.#fail(error, request);
    }
  }

  /** Counts the call. Throws a StorageError. */
  async match(call: Call, preference: Preference | undefined): Promise<MatchedCall> {
    return this.#storage.update((state) => matchCall(state, call, preference));
  }

  #finish({ state, exchange }: Answer, request: ServiceRequest, hasWaited = false): Exchange {
    this.#use(exchange.delay);
    const { events } = this.#context;
    // Nobody else needs an exact duration.
    if ((hasWaited || !events.isEmpty) && state.clock.frozenAt === undefined) {
      exchange.duration = performance.now() - request.receivedAt + exchange.delay;
    }
    if (!events.isEmpty) events.emit({ kind: 'exchange', sandbox: this.name, exchange });
    return exchange;
  }

  async #fail(error: unknown, request: ServiceRequest): Promise<Exchange> {
    const failed = { ...request, given: { reply: createFailure(this.state, error) } };
    const answerFailed = (state: State) => answer(state, failed, currentInstant());
    const isRecorded = !(error instanceof StorageError && this.isShared);
    const done = isRecorded ? await this.#storage.update(answerFailed) : answerFailed(this.state);
    return this.#finish(done, request);
  }

  /** `change` is pure: it runs again if another server was faster. Throws a StorageError. */
  async edit<T>(change: (state: State, now: Instant) => Edited<T>, text?: EditText): Promise<T> {
    const editing = this.#storage.update((before) => {
      const edited = change(before, currentInstant());
      const { state } = edited;
      if (state === before) return edited;
      const counters = { ...state.counters, retries: dropFinal(state.counters.retries) };
      return { ...edited, state: { ...state, counters }, edit: text };
    });
    const { result } = await this.#finishEditing(editing);
    this.#use();
    return result;
  }

  /** The latest edit or undo until it is kept. */
  #editing: unknown;

  async #finishEditing<T>(editing: T): Promise<Awaited<T>> {
    this.#editing = editing;
    try {
      return await editing;
    } finally {
      if (this.#editing === editing) this.#editing = undefined;
    }
  }

  /** Undefined if nothing can be undone. */
  async undo(
    by: string,
  ): Promise<{ readonly what: string; readonly laterCalls: number } | undefined> {
    // The journal has an edit once it is kept.
    while (this.#editing !== undefined) await Promise.allSettled([this.#editing]);
    const last = this.journal.lastEdit();
    if (last === undefined) return undefined;
    const { what } = last.edit;
    const edit = { what: `undid: ${what}`, by };
    await this.#finishEditing(
      this.#storage.update(() => ({ state: last.before, edit, undoes: true })),
    );
    return { what, laterCalls: last.laterCalls() };
  }

  get listeners(): number {
    return this.#listeners;
  }

  subscribe(listener: SandboxListener): () => void {
    const cancel = this.#storage.subscribe(listener);
    this.#listeners += 1;
    return () => {
      this.#listeners -= 1;
      this.#use();
      cancel();
    };
  }

  close(): void {
    void this.#storage.publish({ kind: 'deleted' });
  }
}

/** Warns of a bug of the mock, but not of a storage that is away. */
export function createFailure({ settings: { choices } }: State, error: unknown): Reply {
  const trace = new AssumptionTrace(choices);
  if (error instanceof StorageError) return errorReply(trace, error.code, 503, error.refusal);
  warn(error);
  return errorReply(trace, 'internal_error', 500, 'the mock failed because of a bug');
}

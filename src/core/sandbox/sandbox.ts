import type { Platform } from '../platform.ts';
import type { RuleMatch } from '../scenario/rules.ts';
import { type Instant, readClock, steadyNow } from '../service/clock.ts';
import type { Call } from '../service/input.ts';
import { AssumptionTrace, errorReply, type Reply } from '../service/reply.ts';
import { hasSameFields } from '../store/store.ts';
import { answer, matchCall, type Outcome, outcome } from './answer.ts';
import type { EditText } from './edit-log.ts';
import type { Exchange, ExchangeWithHold, HoldEnd, ServiceRequest } from './exchange.ts';
import { type HoldContext, Holds } from './holds.ts';
import { Journal, type JournalContext } from './journal.ts';
import type { Preference } from './preference.ts';
import { dropFinal, noteLostReply } from './retries.ts';
import type { Start } from './start.ts';
import { initialState, NO_PAST, type State } from './state.ts';
import { StorageError } from './storage-error.ts';

export class Emitter<Event> {
  // Created on first use, since few of many sandboxes have listeners.
  #listeners: Set<(event: Event) => void> | undefined;

  get size(): number {
    return this.#listeners?.size ?? 0;
  }

  /** Calls `listener` on each event. Returns a function that cancels this. */
  add(listener: (event: Event) => void): () => void {
    this.#listeners ??= new Set();
    const listeners = this.#listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  emit(event: Event): void {
    if (this.#listeners !== undefined) for (const listener of this.#listeners) listener(event);
  }
}

export type SandboxEvent =
  | { readonly kind: 'exchange'; readonly exchange: Exchange }
  /** A hold has ended: its reply was sent, or never will be. */
  | { readonly kind: 'hold'; readonly exchange: Exchange }
  | { readonly kind: 'edit' }
  /** The holds of these exchanges, or all holds, have to end. */
  | { readonly kind: 'release'; readonly why: HoldEnd; readonly exchanges?: readonly number[] }
  | { readonly kind: 'deleted' };

export type SandboxListener = (event: SandboxEvent) => void;

export interface ExchangeEvent {
  /** `hold` if the hold of an earlier exchange has ended. */
  readonly kind: 'exchange' | 'hold';
  readonly sandbox: Sandbox;
  readonly exchange: Exchange;
}

export interface SandboxContext extends JournalContext, HoldContext {
  readonly events: Emitter<ExchangeEvent>;
  readonly platform: Platform;
}

export class Sandbox {
  readonly name: string;
  start: Start;
  state: State;
  /** The newest state while a write of it is under way; the next call builds on it. */
  unsaved: State | undefined;
  readonly journal: Journal;
  readonly #context: SandboxContext;
  // Created on first use, since few of many sandboxes hold replies.
  #holds: Holds | undefined;
  readonly #events = new Emitter<SandboxEvent>();
  /** By `steadyNow`. In the future while a reply is delayed. */
  #usedAt = steadyNow();
  #begun = 0;

  constructor(name: string, start: Start, context: SandboxContext) {
    this.name = name;
    this.start = start;
    this.state = initialState(start, Date.now());
    this.journal = new Journal(name, context);
    this.#context = context;
  }

  get holds(): Holds {
    this.#holds ??= new Holds(this.journal, this.#context, (exchange) => {
      this.#use(exchange.delay);
      this.emit({ kind: 'hold', exchange });
      this.#context.events.emit({ kind: 'hold', sandbox: this, exchange });
    });
    return this.#holds;
  }

  /** The replies that are held now, the oldest first. */
  held(): readonly ExchangeWithHold[] {
    return this.#holds?.list() ?? [];
  }

  /** Milliseconds since the last use; 0 while a listener, a call or a held reply remains. */
  get unused(): number {
    const isWaitedFor = this.listeners > 0 || this.#begun > 0 || this.#holds?.isEmpty === false;
    return isWaitedFor ? 0 : Math.max(0, steadyNow() - this.#usedAt);
  }

  /** Keeps the sandbox in use while a call's body arrives. Returns a function that ends this. */
  beginCall(): () => void {
    this.#begun += 1;
    let left = 1;
    return () => {
      this.#begun -= left;
      left = 0;
    };
  }

  #use(delay = 0): void {
    this.#usedAt = Math.max(this.#usedAt, steadyNow() + delay);
  }

  get #newest(): State {
    return this.unsaved ?? this.state;
  }

  read(): Outcome<State> {
    const state = this.#newest;
    return outcome(state, state);
  }

  /** Answers a request. A bug of the mock becomes a warning and a 500. */
  answer(request: ServiceRequest, now: Instant, preference?: Preference): Outcome<Exchange> {
    try {
      return answer(this.#newest, request, now, preference);
    } catch (error) {
      return this.fail(error, request, now);
    }
  }

  fail(error: unknown, request: ServiceRequest, now: Instant): Outcome<Exchange> {
    const reply = createFailure(this.state, error, this.#context.platform);
    return answer(this.#newest, { ...request, supplied: { reply } }, now);
  }

  /** Notes that a reply will not arrive, which was unknown when it was made. */
  loseReply(exchange: Exchange, now: Instant): Outcome<void> {
    const state = this.#newest;
    const { counters } = state;
    const recent = noteLostReply(counters.recent, exchange, now);
    if (recent === counters.recent) return outcome(state, undefined);
    return outcome(state, undefined, { counters: { ...counters, recent } });
  }

  /** Finds the rule for a call. All rules that match count the call. */
  match(call: Call, preference: Preference | undefined): Outcome<RuleMatch | undefined> {
    return matchCall(this.#newest, call, preference);
  }

  /** @param text describes the change for the journal, if there is one */
  change<T>(
    change: (state: State, now: Instant) => Outcome<T>,
    now: Instant,
    text?: EditText,
  ): Outcome<T> {
    const changed = change(this.#newest, now);
    const { before, state } = changed;
    // An edit that changes nothing is not kept, since undoing it would have no effect.
    const hasSameRecords = hasSameFields(state.store, before.store);
    const isSameState = hasSameRecords && hasSameFields({ ...state, store: before.store }, before);
    if (isSameState && text?.isUndo !== true) return changed;
    const counters = { ...state.counters, recent: dropFinal(state.counters.recent) };
    // Rules with `lag` must not hide what was arranged by hand.
    const isSame = state.store === before.store && state.settings === before.settings;
    const past = isSame ? state.past : NO_PAST;
    return { ...changed, state: { ...state, counters, past }, edit: text };
  }

  /** @param waited for how many milliseconds the outcome waited to be kept */
  take<T>(outcome: Outcome<T>, waited = 0): T {
    const { before, state, exchange, edit, clears, forgets, result } = outcome;
    this.state = state;
    if (clears !== undefined) this.journal.clear(clears);
    if (exchange !== undefined) {
      if (state.clock.frozenAt === undefined) exchange.duration += waited;
      this.journal.add(exchange, before, state);
      const { hold } = exchange;
      if (hold !== undefined) this.holds.add({ ...exchange, hold });
      this.emit({ kind: 'exchange', exchange });
      this.announce(exchange);
    }
    if (edit !== undefined) {
      this.journal.addEdit(edit, readClock(state.clock), before, state);
      this.emit({ kind: 'edit' });
    }
    if (forgets) this.journal.forgetStates();
    if (edit !== undefined || clears !== undefined) this.#use();
    return result;
  }

  /** Notifies listeners of the whole server, such as the log. */
  announce(exchange: Exchange): void {
    this.#use(exchange.delay);
    const { events } = this.#context;
    if (events.size > 0) events.emit({ kind: 'exchange', sandbox: this, exchange });
  }

  get listeners(): number {
    return this.#events.size;
  }

  subscribe(listener: SandboxListener): () => void {
    const cancel = this.#events.add(listener);
    // A listener that subscribes during a stop has missed the event, so it gets its own.
    if (this.#context.isStopping) queueMicrotask(() => listener({ kind: 'deleted' }));
    return () => {
      cancel();
      this.#use();
    };
  }

  /** Emits an event of this server or of another one. */
  emit(event: SandboxEvent): void {
    if (event.kind === 'release') this.#holds?.end(event.why, event.exchanges);
    if (event.kind === 'deleted') this.#holds?.end('deleted');
    this.#events.emit(event);
    if (event.kind === 'deleted') this.journal.close();
  }
}

/** Creates a 500 and warns of a bug, or a 503 if the storage is not available. */
export function createFailure(
  { settings: { choices } }: State,
  error: unknown,
  { warn }: Pick<Platform, 'warn'>,
): Reply {
  const trace = new AssumptionTrace(choices);
  if (error instanceof StorageError) return errorReply(trace, error.code, 503, error.consequence);
  warn(error);
  return errorReply(trace, 'internal_error', 500, 'the mock failed because of a bug');
}

import { writeJson } from '../json.ts';
import { DEFAULTS } from '../limits.ts';
import type { Platform } from '../platform.ts';
import { RULE_SHAPE, type RuleDefinition } from '../scenario/rule-shape.ts';
import { createRuleBook, dropCounters, type LatchRule } from '../scenario/rules.ts';
import { steadyNow } from '../service/clock.ts';
import type { MockOptions } from '../service/mock-options.ts';
import type { Shape } from '../shape/shapes.ts';
import type { Exchange, ExchangeWithHold, HoldEnd } from './exchange.ts';
import type { Journal } from './journal.ts';
import { type State, withEntry } from './state.ts';

export interface Release {
  readonly name?: string | undefined;
  readonly exchanges?: readonly number[] | undefined;
  readonly count?: number | undefined;
  readonly newestFirst?: boolean | undefined;
}

export interface Released {
  readonly released: readonly ExchangeWithHold[];
  readonly held: number;
}

export interface ReadyReply {
  readonly send: () => void;
  /** Calls `act` when the client leaves. Returns a function that cancels this. */
  readonly onDisconnect: (act: () => void) => () => void;
}

interface WaitingReply {
  readonly exchange: ExchangeWithHold;
  /** Sends the reply. Set once the code that answers the client waits for the hold. */
  send?: () => void;
  readonly cancels: (() => void)[];
}

export interface HoldContext {
  readonly options: MockOptions;
  /** Whether the server is stopping: then a held reply is sent at once. */
  isStopping: boolean;
  readonly platform: Platform;
}

/** The replies of one sandbox that this server holds back. */
export class Holds {
  readonly #journal: Journal;
  readonly #context: HoldContext;
  readonly #onEnd: (exchange: ExchangeWithHold) => void;
  readonly #replies = new Map<number, WaitingReply>();

  constructor(journal: Journal, context: HoldContext, onEnd: (exchange: ExchangeWithHold) => void) {
    this.#journal = journal;
    this.#context = context;
    this.#onEnd = onEnd;
  }

  get isEmpty(): boolean {
    return this.#replies.size === 0;
  }

  /** The held replies, the oldest first. */
  list(): readonly ExchangeWithHold[] {
    return Array.from(this.#replies.values(), ({ exchange }) => exchange);
  }

  add(exchange: ExchangeWithHold): void {
    this.#replies.set(exchange.number, { exchange, cancels: [] });
  }

  /** Sends the reply when its hold ends, or now if it has ended already. */
  wait({ number }: Exchange, { send, onDisconnect }: ReadyReply): void {
    const reply = this.#replies.get(number);
    if (reply === undefined) {
      send();
      return;
    }
    const { options, isStopping, platform } = this.#context;
    const { maxHold = DEFAULTS.maxHold } = options;
    const end = (why: HoldEnd) => this.end(why, [number]);
    reply.send = send;
    reply.cancels.push(platform.after(maxHold, () => end('expired')));
    // This calls back at once if the client has left already.
    reply.cancels.push(onDisconnect(() => end('left')));
    if (isStopping) end('stopped');
  }

  /** Ends these holds in the given order. Returns the exchanges that were still held. */
  end(
    why: HoldEnd,
    exchanges: Iterable<number> = this.#replies.keys(),
  ): readonly ExchangeWithHold[] {
    const ended: ExchangeWithHold[] = [];
    for (const number of [...exchanges]) {
      const reply = this.#replies.get(number);
      if (reply === undefined) continue;
      const { exchange, send, cancels } = reply;
      ended.push(exchange);
      this.#replies.delete(number);
      for (const cancel of cancels) cancel();
      if (why !== 'left') send?.();
      const { since, isFrozen } = exchange.hold;
      const lasted = isFrozen ? 0 : steadyNow() - since;
      this.#onEnd(this.#journal.endHold(exchange, why, lasted));
    }
    return ended;
  }

  release(which: Release, why: HoldEnd): Released {
    const due = selectHeld(this.list(), which).map(({ number }) => number);
    const released = this.end(why, due);
    return { released, held: this.#replies.size };
  }
}

export function selectHeld(
  held: readonly ExchangeWithHold[],
  { name, exchanges, count, newestFirst }: Release,
): readonly ExchangeWithHold[] {
  const wanted = exchanges && new Set(exchanges);
  const matching = held.filter(
    ({ number, hold }) =>
      (name === undefined || hold.name === name) && (wanted === undefined || wanted.has(number)),
  );
  if (newestFirst) matching.reverse();
  return matching.slice(0, count);
}

export const LATCH: Shape<readonly [name: string, latch: LatchRule], RuleDefinition> = {
  ...RULE_SHAPE,
  read(value, at, report) {
    const rule = RULE_SHAPE.read(value, at, report);
    if (rule === undefined) return undefined;
    const { hold, lag } = rule;
    if (lag !== undefined) {
      return report({ at: [...at, 'lag'], expected: 'no lag in a latch', found: 'one' });
    }
    if (hold === undefined) {
      return report({ at: [...at, 'hold'], expected: 'true, or a name', found: 'nothing' });
    }
    // The name of every latch in `Mock-Basis`.
    const named = { scenario: 'latch', number: 1, title: `latch ${hold}` };
    const book = createRuleBook([{ ...rule, ...named }], 'latch', hold);
    return [hold, { json: writeJson(Object(value)), book }];
  },
};

/** Sets or removes a latch. Its call counter starts again from 0. */
export function withLatch(state: State, name: string, latch: LatchRule | undefined): State {
  const { latches, counters } = state;
  if (latch === undefined && !latches.has(name)) return state;
  return {
    ...state,
    latches: withEntry(latches, name, latch),
    counters: { ...counters, rules: dropCounters(counters.rules, 'latch', name) },
  };
}

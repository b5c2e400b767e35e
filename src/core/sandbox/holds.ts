import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import { parseInput, writeJson } from '../contract/json.ts';
import { RULE_SHAPE, type RuleDefinition } from '../scenario/rule-shape.ts';
import { createRuleBook, dropCounters, type LatchRule } from '../scenario/rules.ts';
import { readAs, type Shape } from '../shape/shapes.ts';
import type { Exchange, HeldExchange, HoldEnd } from './exchange.ts';
import { type State, withEntry } from './state.ts';
import type { SandboxEvent, Storage } from './storage.ts';

export interface Release {
  readonly name?: string | undefined;
  readonly exchanges?: readonly number[] | undefined;
  readonly count?: number | undefined;
  readonly newestFirst?: boolean | undefined;
}

export interface ReadyReply {
  readonly send: () => void;
  /** Returns how to cancel. */
  readonly onDisconnect: (act: () => void) => () => void;
}

interface WaitingReply {
  readonly exchange: HeldExchange;
  /** By `performance.now()`: the wall clock can jump. */
  readonly since: number;
  readonly send: () => void;
  readonly timer: NodeJS.Timeout;
  cancel: () => void;
}

export interface HoldContext {
  /** Milliseconds before a reply leaves unreleased. */
  readonly maxHold: number;
  readonly holding: Set<Holds>;
  /** Holds nothing any more. */
  isStopping: boolean;
}

/** For other servers of a fleet to send what they hold. */
const CONFIRM_TIMEOUT_MS = 1_000;

/** By this server, in one sandbox. */
export class Holds {
  readonly #storage: Storage;
  readonly #context: HoldContext;
  readonly #onEnd: (exchange: Exchange) => void;
  readonly #replies = new Map<number, WaitingReply>();
  #unfollow: (() => void) | undefined;

  constructor(storage: Storage, context: HoldContext, onEnd: (exchange: Exchange) => void) {
    this.#storage = storage;
    this.#context = context;
    this.#onEnd = onEnd;
  }

  get isEmpty(): boolean {
    return this.#replies.size === 0;
  }

  add(exchange: HeldExchange, { send, onDisconnect }: ReadyReply): void {
    const { maxHold, holding, isStopping } = this.#context;
    const end = (why: HoldEnd) => void this.end(why, [exchange.number]);
    const timer = setTimeout(end, maxHold, 'expired').unref();
    const reply = { exchange, since: performance.now(), send, timer, cancel() {} };
    this.#replies.set(exchange.number, reply);
    reply.cancel = onDisconnect(() => end('left'));
    holding.add(this);
    this.#unfollow ??= this.#storage.subscribe((event) => this.#follow(event));
    if (isStopping) end('stopped');
  }

  #follow(event: SandboxEvent): void {
    if (event.kind === 'release') void this.end(event.why, event.exchanges);
    else if (event.kind === 'deleted') void this.end('deleted');
  }

  /** In this order. Resolves once the journal has it. */
  async end(why: HoldEnd, exchanges: Iterable<number> = this.#replies.keys()): Promise<void> {
    const ended: Promise<void>[] = [];
    for (const number of [...exchanges]) {
      const reply = this.#replies.get(number);
      if (reply === undefined) continue;
      this.#replies.delete(number);
      clearTimeout(reply.timer);
      reply.cancel();
      if (why !== 'left') reply.send();
      ended.push(this.#record(reply, why));
    }
    await Promise.all(ended);
  }

  async #record({ exchange, since }: WaitingReply, why: HoldEnd): Promise<void> {
    const lasted = performance.now() - since;
    exchange.hold.ended = why;
    exchange.hold.lasted = lasted;
    exchange.duration += lasted;
    await this.#storage.journal.endHold(exchange);
    this.#onEnd(exchange);
    void this.#storage.publish({ kind: 'hold', exchange });
    if (!this.isEmpty) return;
    this.#context.holding.delete(this);
    this.#unfollow?.();
    this.#unfollow = undefined;
  }

  /** Releases replies on any server. Returns those sent, and how many still wait. */
  async release(which: Release, why: HoldEnd = 'released') {
    const { journal } = this.#storage;
    const due = selectHeld(await journal.held(), which);
    const numbers = due.map(({ number }) => number);
    const left = new Set(numbers);
    const confirmed = this.#waitUntilSent(left);
    if (due.length > 0) await this.#storage.publish({ kind: 'release', why, exchanges: numbers });
    await confirmed;
    const held = (await journal.held()).length;
    return { released: due.filter(({ number }) => !left.has(number)), held };
  }

  /** Removes from `left` what was sent, until all is sent or the time is over. */
  async #waitUntilSent(left: Set<number>): Promise<void> {
    if (left.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(end, CONFIRM_TIMEOUT_MS).unref();
      const cancel = this.#storage.subscribe((event) => {
        if (event.kind === 'hold') left.delete(event.exchange.number);
        if (left.size === 0) end();
      });
      function end(): void {
        clearTimeout(timer);
        cancel();
        resolve();
      }
    });
  }
}

function selectHeld(
  held: readonly HeldExchange[],
  { name, exchanges, count, newestFirst }: Release,
): readonly HeldExchange[] {
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
    const { hold } = rule;
    if (hold === undefined) {
      return report({ at: [...at, 'hold'], expected: 'true, or a name', found: 'nothing' });
    }
    const book = createRuleBook([{ ...rule, scenario: 'latch', number: 1 }], 'latch', hold);
    return [hold, { json: writeJson(Object(value)), book }];
  },
};

export function parseLatch(json: string): LatchRule {
  const reading = readAs(LATCH, parseInput(json));
  if (!reading.ok) throw new Error(`a latch cannot be read: ${json}`);
  return reading.value[1];
}

/** Counts its calls anew. */
export function withLatch(state: State, name: string, latch: LatchRule | undefined): State {
  const { latches, counters } = state;
  return {
    ...state,
    latches: withEntry(latches, name, latch),
    counters: { ...counters, rules: dropCounters(counters.rules, 'latch', name) },
  };
}

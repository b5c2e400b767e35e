import { performance } from 'node:perf_hooks';
import { clearTimeout, setTimeout } from 'node:timers';
import type { Exchange, HeldExchange, HoldEnd } from './exchange.ts';
import type { Journal } from './journal.ts';
import type { SandboxEvent } from './storage.ts';

/** Which of the replies that are held back to release. */
export interface Release {
  readonly name?: string | undefined;
  /** Numbers of exchanges. */
  readonly exchanges?: readonly number[] | undefined;
  readonly count?: number | undefined;
  readonly newestFirst?: boolean | undefined;
}

/** The held exchanges that a release means, in the order in which their replies go. */
export function selectHeld(
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

/** A reply that is ready to be sent. */
export interface ReadyReply {
  readonly send: () => void;
  /** Calls back if the client disconnects. Returns what cancels that. */
  readonly onDisconnect: (act: () => void) => () => void;
}

interface WaitingReply {
  readonly exchange: HeldExchange;
  /** By `performance.now()`: the wall clock can jump. */
  readonly since: number;
  readonly send: () => void;
  readonly timer: NodeJS.Timeout;
  /** Stops listening for the client. */
  cancel: () => void;
}

/** The replies of one sandbox that this server holds back, by the numbers of their exchanges. */
export class WaitingReplies {
  readonly #journal: Journal;
  readonly #onEnd: (exchange: Exchange) => void;
  readonly #replies = new Map<number, WaitingReply>();

  /** @param onEnd called when a reply has left, or never will */
  constructor(journal: Journal, onEnd: (exchange: Exchange) => void) {
    this.#journal = journal;
    this.#onEnd = onEnd;
  }

  get isEmpty(): boolean {
    return this.#replies.size === 0;
  }

  /** Sends a reply once it is released, or after `maxHold` milliseconds. */
  add(exchange: HeldExchange, { send, onDisconnect }: ReadyReply, maxHold: number): void {
    const end = (why: HoldEnd) => void this.end(why, [exchange.number]);
    const timer = setTimeout(end, maxHold, 'expired').unref();
    const reply = { exchange, since: performance.now(), send, timer, cancel() {} };
    this.#replies.set(exchange.number, reply);
    reply.cancel = onDisconnect(() => end('left'));
  }

  /** Acts on what happens to the sandbox, on whichever server. */
  follow(event: SandboxEvent): void {
    if (event.kind === 'release') void this.end(event.why, event.exchanges);
    else if (event.kind === 'deleted') void this.end('deleted');
  }

  /** Sends replies, all by default, in this order. Resolves when the journal says so. */
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
    await this.#journal.endHold(exchange);
    this.#onEnd(exchange);
  }
}

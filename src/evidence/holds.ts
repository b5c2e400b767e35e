import type { Hold, HoldEnd } from '../scenario/hold.ts';
import type { Exchange } from './exchange.ts';
import type { FindingText } from './finding-codes.ts';

/** An exchange whose reply is or was held back. */
export interface HeldExchange extends Exchange {
  readonly hold: Hold;
}

/** Which of the replies that are held back to let go. */
export interface Release {
  readonly name?: string | undefined;
  /** Numbers of exchanges. */
  readonly exchanges?: readonly number[] | undefined;
  readonly count?: number | undefined;
  readonly newestFirst?: boolean | undefined;
}

/** What happened to replies that are held back. */
export type HoldEvent =
  | { readonly due: Release; readonly why: HoldEnd }
  /** Their server has sent them, or the client left. */
  | { readonly over: readonly Required<Pick<Hold, 'exchange' | 'lasted' | 'ended'>>[] };

/** Milliseconds after which a server that should have ended a hold is gone for good. */
const GRACE = 60_000;

/** The finding about a reply that went out because nobody had released it. */
export function unreleased({
  hold: { name, ended, lasted = 0 },
}: HeldExchange): readonly FindingText[] {
  if (ended !== 'expired') return [];
  const seconds = Number((lasted / 1000).toPrecision(2));
  const message = `Nobody released the reply that "${name}" held back; it was sent after ${seconds} s.`;
  return [{ code: 'unreleased-hold', message }];
}

function isHeld(exchange: Exchange): exchange is HeldExchange {
  return exchange.hold !== undefined;
}

/** The replies of a sandbox that are held back: a fold over its exchanges and what became of them. */
export class Holds {
  /** By number, the oldest first. */
  readonly #open = new Map<number, HeldExchange>();
  readonly #longest: number;

  /** @param longest how long a server holds a reply back, in milliseconds */
  constructor(longest: number) {
    this.#longest = longest;
  }

  /** Takes an exchange that has its number. */
  add(exchange: Exchange): void {
    if (!isHeld(exchange)) return;
    const { hold } = exchange;
    hold.exchange = exchange.number;
    for (const { number, hold: earlier } of this.#open.values()) {
      if (hold.since - earlier.since < this.#longest + GRACE) break;
      this.#end(number, 'lost', this.#longest);
    }
    this.#open.set(hold.exchange, exchange);
  }

  /** The replies that are not released yet, the oldest first. Those of a server that died wait in vain. */
  waiting(now: number): readonly HeldExchange[] {
    const since = now - this.#longest - GRACE;
    return this.open.filter(({ hold }) => hold.due === undefined && hold.since > since);
  }

  /** The replies that are not sent yet, the oldest first. */
  get open(): readonly HeldExchange[] {
    return [...this.#open.values()];
  }

  /** Undefined if no reply is held back. */
  get state(): readonly Exchange[] | undefined {
    return this.#open.size === 0 ? undefined : this.open;
  }

  /** Takes an event. Returns the exchanges that it changed, in the order in which replies are due. */
  take(event: HoldEvent): readonly HeldExchange[] {
    if ('over' in event) {
      return event.over.flatMap((it) => this.#end(it.exchange, it.ended, it.lasted) ?? []);
    }
    const { name, exchanges, count, newestFirst } = event.due;
    const wanted = exchanges && new Set(exchanges);
    const matching = this.open.filter(
      ({ number, hold }) =>
        hold.due === undefined &&
        (name === undefined || hold.name === name) &&
        (wanted === undefined || wanted.has(number)),
    );
    if (newestFirst) matching.reverse();
    const due = matching.slice(0, count);
    for (const { hold } of due) hold.due = event.why;
    return due;
  }

  #end(number: number, ended: HoldEnd, lasted: number): HeldExchange | undefined {
    const exchange = this.#open.get(number);
    if (exchange === undefined) return undefined;
    this.#open.delete(number);
    exchange.hold.ended = ended;
    exchange.hold.lasted = lasted;
    exchange.duration += lasted;
    return exchange;
  }
}

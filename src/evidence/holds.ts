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

/** What happened to replies that are held back, by the numbers of their exchanges. */
export type HoldEvent =
  | { readonly due: readonly number[] | 'all'; readonly why: HoldEnd }
  /** Their server has sent them, or the client left. */
  | { readonly over: readonly Required<Pick<Hold, 'exchange' | 'lasted' | 'ended'>>[] };

/** Milliseconds after which a server that should have ended a hold is gone for good. */
const GRACE = 60_000;

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
    exchange.hold.exchange = exchange.number;
    this.#open.set(exchange.number, exchange);
  }

  /** The replies that are not sent yet, the oldest first; without those of a server that died. */
  get open(): readonly HeldExchange[] {
    return [...this.#open.values()].filter((it) => this.#isAlive(it));
  }

  get isEmpty(): boolean {
    return this.open.length === 0;
  }

  #isAlive({ hold }: HeldExchange): boolean {
    return hold.since > Date.now() - this.#longest - GRACE;
  }

  /** Those that nobody has released. */
  waiting({ name, exchanges, count, newestFirst }: Release = {}): readonly HeldExchange[] {
    const wanted = exchanges && new Set(exchanges);
    const matching = this.open.filter(
      ({ number, hold }) =>
        hold.due === undefined &&
        (name === undefined || hold.name === name) &&
        (wanted === undefined || wanted.has(number)),
    );
    if (newestFirst) matching.reverse();
    return matching.slice(0, count);
  }

  /** Takes an event. Returns the exchanges that it changed, in its order. */
  take(event: HoldEvent): readonly HeldExchange[] {
    if ('due' in event) {
      const numbers = event.due === 'all' ? [...this.#open.keys()] : event.due;
      const due = numbers.flatMap((number) => this.#open.get(number) ?? []);
      for (const { hold } of due) hold.due ??= event.why;
      return due;
    }
    return event.over.flatMap(({ exchange: number, ended, lasted }) => {
      const exchange = this.#open.get(number);
      if (exchange === undefined) return [];
      this.#open.delete(number);
      exchange.hold.ended = ended;
      exchange.hold.lasted = lasted;
      exchange.duration += lasted;
      return [exchange];
    });
  }
}

/** The finding about a reply that went out because nobody had released it. */
export function findingsOfHold({ hold }: Exchange): readonly FindingText[] {
  if (hold?.ended !== 'expired') return [];
  const seconds = Number(((hold.lasted ?? 0) / 1000).toPrecision(2));
  const message = `The hold "${hold.name}" was not released; its reply was sent after ${seconds} s.`;
  return [{ code: 'unreleased-hold', message }];
}

function isHeld(exchange: Exchange): exchange is HeldExchange {
  return exchange.hold !== undefined;
}

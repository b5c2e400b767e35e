import { DEFAULTS } from '../core/limits.ts';
import { type Exchange, isHeld } from '../core/sandbox/exchange.ts';
import { countExchange, MAX_REMEMBERED_BYTES, withoutBodies } from '../core/sandbox/journal.ts';
import type { RanExchange } from '../terminal/command.ts';

/** The exchanges of a run, until memory is full. Tests delete their sandboxes, and the journals with them. */
export class ExchangeRecorder {
  readonly #max: number;
  readonly #kept = new Set<{ readonly sandbox: string; exchange: Exchange }>();
  #bytes = 0;
  /** Whether the oldest exchanges were dropped, since memory was full. */
  isCut = false;

  constructor(max: number = MAX_REMEMBERED_BYTES) {
    this.#max = max;
  }

  record(sandbox: string, exchange: Exchange): void {
    const kept = withoutBodies(exchange);
    this.#kept.add({ sandbox, exchange: kept });
    this.#bytes += countExchange(kept);
    for (const oldest of this.#kept) {
      if (this.#bytes <= this.#max) break;
      this.#bytes -= countExchange(oldest.exchange);
      this.#kept.delete(oldest);
      this.isCut = true;
    }
  }

  /** Records how an exchange ended that was held when it was recorded. */
  endHold(sandbox: string, exchange: Exchange): void {
    for (const ran of this.#kept) {
      const isSame = ran.sandbox === sandbox && ran.exchange.number === exchange.number;
      if (isSame && isHeld(ran.exchange)) ran.exchange = withoutBodies(exchange);
    }
  }

  /** All exchanges, in the order of the calls. */
  list(): readonly RanExchange[] {
    return [...this.#kept];
  }

  /** The newest exchanges of each sandbox, as many as a journal keeps by default. */
  newest(): readonly RanExchange[] {
    const counts = new Map<string, number>();
    return this.list()
      .toReversed()
      .filter(({ sandbox }) => {
        const count = (counts.get(sandbox) ?? 0) + 1;
        counts.set(sandbox, count);
        return count <= DEFAULTS.journal;
      })
      .reverse();
  }
}

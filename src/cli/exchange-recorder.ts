import { writeHarEntry, writeHarHead } from '../core/control/journal/har.ts';
import { DEFAULTS } from '../core/limits.ts';
import type { Exchange } from '../core/sandbox/exchange.ts';
import { countExchange, withoutBodies } from '../core/sandbox/journal.ts';
import { MAX_REMEMBERED_BYTES } from '../core/sandbox/memory-budget.ts';
import { Ring } from '../core/sandbox/ring.ts';
import type { RanExchange } from '../server/feature.ts';
import { packageVersion } from '../server/files.ts';

interface Recorded extends RanExchange {
  readonly bytes: number;
  readonly order: number;
}

/** The newest exchanges of each sandbox. Tests delete their sandboxes, and the journals with them. */
export class ExchangeRecorder {
  readonly #max: number;
  readonly #bySandbox = new Map<string, Ring<Recorded>>();
  #count = 0;
  #bytes = 0;

  constructor(max: number = MAX_REMEMBERED_BYTES) {
    this.#max = max;
  }

  record(name: string, exchange: Exchange): void {
    const ring = this.#bySandbox.get(name) ?? new Ring<Recorded>(DEFAULTS.journal);
    // The sandbox used last comes last.
    this.#bySandbox.delete(name);
    this.#bySandbox.set(name, ring);
    if (ring.size === DEFAULTS.journal) this.#forget(ring);
    const kept = withoutBodies(exchange);
    const bytes = countExchange(kept);
    this.#count += 1;
    ring.push({ sandbox: name, exchange: kept, bytes, order: this.#count });
    this.#bytes += bytes;
    while (this.#bytes > this.#max) {
      const [[unused, oldest] = [name, ring]] = this.#bySandbox;
      this.#forget(oldest);
      if (oldest.size === 0) this.#bySandbox.delete(unused);
    }
  }

  #forget(ring: Ring<Recorded>): void {
    this.#bytes -= ring.shift()?.bytes ?? 0;
  }

  /** In the order of the calls. */
  list(): readonly RanExchange[] {
    return [...this.#bySandbox.values()]
      .flatMap((ring) => [...ring])
      .sort((a, b) => a.order - b.order);
  }
}

/** One file for the run, with a page for each sandbox. */
export function writeHar(exchanges: readonly RanExchange[], url: string): string {
  const pages = new Map<string, number>();
  for (const { sandbox, exchange } of exchanges)
    if (!pages.has(sandbox)) pages.set(sandbox, exchange.at);
  const { origin } = new URL(url);
  const entries = exchanges.map(({ sandbox, exchange }) =>
    writeHarEntry(exchange, origin, sandbox),
  );
  return `${writeHarHead(packageVersion(), pages)}[\n${entries.join(',\n')}\n]}}\n`;
}

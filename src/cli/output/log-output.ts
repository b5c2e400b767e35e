import type { Writable } from 'node:stream';
import type { Observer } from '../../evidence/journal.ts';
import { type LogFormat, renderDropped, renderJson, renderPretty } from './log.ts';
import type { Terminal } from './terminal.ts';

/** Prints exchanges as they come. */
export interface Log {
  readonly observe: Observer;
  /** Prints what is still being gathered. */
  flush(): void;
}

/** Milliseconds for which lines are gathered: one write for many exchanges costs little more. */
const GATHER = 10;

/** Characters that are gathered: V8 makes room for a longer text with more effort. */
const MOST_GATHERED = 1 << 15;

/** Characters that wait for a reader who is slower than we are. */
const MOST_WAITING = 1 << 20;

/** @param format undefined: what suits who reads; `off` makes no log at all */
export function openLog(
  { output, interactive, style }: Terminal,
  format: LogFormat | undefined,
): Log | undefined {
  const chosen = format ?? (interactive ? 'pretty' : 'json');
  if (chosen === 'off') return undefined;
  const lines = new Lines(output, (count) => renderDropped(count, chosen));
  const observe: Observer =
    chosen === 'json'
      ? (sandbox, exchange) => lines.add(() => renderJson(sandbox, exchange))
      : (sandbox, exchange) => lines.add(() => renderPretty(sandbox, exchange, style));
  return { observe, flush: () => lines.flush() };
}

/** Lines on their way to a reader, who may be slow or may have left. */
class Lines {
  readonly #output: Writable;
  readonly #tellDropped: (count: number) => string;
  #waiting = '';
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the output has more than it wants, and will tell when it has not. */
  #full = false;

  constructor(output: Writable, tellDropped: (count: number) => string) {
    this.#output = output;
    this.#tellDropped = tellDropped;
  }

  /** @param render called at once, or never where the line would be dropped */
  add(render: () => string): void {
    if (!this.#output.writable) return;
    if (this.#waiting.length >= MOST_WAITING) {
      this.#dropped += 1;
      return;
    }
    this.#waiting += render();
    if (this.#full) return;
    if (this.#waiting.length >= MOST_GATHERED) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), GATHER);
  }

  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const missing = this.#dropped === 0 ? '' : this.#tellDropped(this.#dropped);
    const text = this.#waiting + missing;
    this.#waiting = '';
    this.#dropped = 0;
    if (text === '' || !this.#output.writable || this.#output.write(text)) return;
    this.#full = true;
    this.#output.once('drain', () => {
      this.#full = false;
      this.flush();
    });
  }
}

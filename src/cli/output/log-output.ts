import type { Writable } from 'node:stream';
import type { FinishedCall } from '../../control/parts.ts';
import type { OnFinding } from '../../evidence/findings.ts';
import type { Observer } from '../../evidence/observed-exchange.ts';
import {
  type LogFormat,
  type Logged,
  renderControlCall,
  renderDropped,
  renderFinding,
  renderJson,
  renderPretty,
} from './log.ts';
import type { Terminal } from './terminal.ts';

/** The log: one line for each exchange, finding and control call. */
export interface Log {
  readonly observe: Observer;
  readonly onFinding: OnFinding;
  readonly onControlCall: (call: FinishedCall) => void;
  /**
   * Prints the lines gathered so far, and those of replies that are still delayed: a server that stops
   * sends these at once.
   */
  flush(): void;
}

/** Milliseconds during which lines are gathered into one write. */
const GATHER = 10;

/** Characters that trigger a write: longer texts cost V8 more. */
const MOST_GATHERED = 1 << 15;

/** Characters kept for a slow reader. Further lines are dropped. */
const MOST_WAITING = 1 << 20;

/** The format that suits the reader, if none was chosen. */
export function logFormatFor({ interactive }: Terminal, chosen: LogFormat | undefined): LogFormat {
  return chosen ?? (interactive ? 'pretty' : 'json');
}

/** Undefined if the log is off. */
export function openLog({ output, style }: Terminal, format: LogFormat): Log | undefined {
  if (format === 'off') return undefined;
  const lines = new Lines(output, (count) => renderDropped(count, format));
  const render = format === 'json' ? renderJson : renderPretty;
  const delayed = new Set<() => void>();
  return {
    observe: (sandbox, exchange) => {
      const { delay, basis } = exchange;
      // A deployment's reply is observed after its delay.
      if (delay === 0 || basis.kind === 'upstream') {
        lines.add(() => render(sandbox, exchange, style));
        return;
      }
      const startedAt = performance.now();
      const print = (): void => {
        clearTimeout(timer);
        delayed.delete(print);
        const left = Math.max(0, delay - (performance.now() - startedAt));
        lines.add(() => render(sandbox, shortened(exchange, left), style));
      };
      const timer = setTimeout(print, delay).unref();
      delayed.add(print);
    },
    onFinding: (finding) => lines.add(() => renderFinding(finding, format, style)),
    onControlCall: (call) => lines.add(() => renderControlCall(call, format, style)),
    flush: () => {
      for (const print of delayed) print();
      lines.flush();
    },
  };
}

/** An exchange whose delay was cut by so many milliseconds. */
function shortened(exchange: Logged, left: number): Logged {
  const { number, at, method, target, operation, status, basis, fault, delay, key, why } = exchange;
  const duration = exchange.duration - left;
  return { number, at, method, target, operation, status, basis, fault, duration, delay, key, why };
}

/** Writes lines to a reader that may be slow or gone. */
class Lines {
  readonly #output: Writable;
  readonly #tellDropped: (count: number) => string;
  #waiting = '';
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Whether the output is waiting to drain. */
  #full = false;

  constructor(output: Writable, tellDropped: (count: number) => string) {
    this.#output = output;
    this.#tellDropped = tellDropped;
  }

  /** @param render called at once, or never if the line is dropped */
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

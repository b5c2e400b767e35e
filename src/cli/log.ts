import type { Writable } from 'node:stream';
import type { FinishedCall } from '../control/parts.ts';
import type { ObservedExchange, Observer } from '../evidence/exchange.ts';
import type { Finding } from '../evidence/report-shapes.ts';
import type { OnFinding } from '../evidence/totals.ts';
import { DEFAULT_SANDBOX } from '../sandbox/sandbox-names.ts';
import { holdView } from '../scenario/hold.ts';
import { decidersOf } from '../service/reply.ts';
import { countText, cut } from '../words.ts';
import type { Flags } from './flags.ts';
import {
  type Colour,
  escaped,
  escapedLines,
  escapeOf,
  paint,
  type Style,
  type Terminal,
} from './terminal.ts';

export type LogFormat = NonNullable<Flags['log']>;

/** Characters shown of a text that clients influence. */
const LONGEST_TEXT = 1000;

/** A reason that pretty lines leave out. */
const PLAIN_REASON = 'as the document prescribes';

/** An exchange as a line of JSON, in ASCII, without members that have no value. */
export function renderJson(sandbox: string, exchange: ObservedExchange): string {
  const { number, operation, traceId, status, fault, delay, hold, basis, key } = exchange;
  const by = decidersOf(basis);
  return jsonLine({
    time: instantOf(exchange.at),
    sandbox,
    number,
    method: brief(exchange.method),
    target: brief(exchange.target),
    operation,
    traceId,
    status,
    fault,
    duration: rounded(exchange.duration),
    delay: delay > 0 ? delay : undefined,
    hold: hold && holdView(hold),
    basis: basis.kind,
    by: by.length > 0 ? by : undefined,
    why: exchange.why.map(brief),
    key,
  });
}

/** An exchange as a line for a person. */
export function renderPretty(sandbox: string, exchange: ObservedExchange, style: Style): string {
  const { basis, duration, fault, delay, hold, traceId } = exchange;
  const circumstances = [
    basis.kind,
    ...(fault === undefined ? [] : [`fault ${fault}`]),
    `${duration.toFixed(1)} ms`,
    ...(delay > 0 ? [`delayed by ${delay} ms`] : []),
    ...(hold === undefined ? [] : [`${hold.ended ?? 'held'} as ${hold.name}`]),
    ...(traceId === undefined ? [] : [`trace ${traceId}`]),
    ...(sandbox === DEFAULT_SANDBOX ? [] : [`in sandbox ${sandbox}`]),
  ].join(', ');
  const why = exchange.why.filter((reason) => reason !== PLAIN_REASON).join('; ');
  const reasons = why === '' ? '' : `: ${escaped(brief(why))}`;
  return prettyLine(exchange, `${circumstances}${reasons}`, style);
}

function prettyLine(
  { at, method, target, status }: Pick<ObservedExchange, 'at' | 'method' | 'target' | 'status'>,
  circumstances: string,
  style: Style,
): string {
  return [
    timeOf(at, style),
    escaped(method).padEnd('DELETE'.length),
    escaped(brief(target)),
    paint(String(status ?? '---'), colourOf(status), style),
    `${circumstances}\n`,
  ].join(' ');
}

/** A call of the control API. */
export function renderControlCall(call: FinishedCall, format: LogFormat, style: Style): string {
  const { method, target, status, at, duration } = call;
  if (format === 'pretty') {
    return prettyLine(call, `control API, ${duration.toFixed(1)} ms`, style);
  }
  const time = instantOf(at);
  return jsonLine({ time, control: true, method, target, status, duration: rounded(duration) });
}

/** A finding; follows the exchange that caused it. */
export function renderFinding(finding: Finding, format: LogFormat, style: Style): string {
  const { at, sandbox, exchange, code, message, advice } = finding;
  if (format === 'json') {
    return jsonLine({ time: at, sandbox, number: exchange, finding: code, message, advice });
  }
  const kind = paint(`finding ${code}`, 'yellow', style);
  return `${timeOf(Date.parse(at), style)} ${kind}: ${escaped(message)} ${advice}\n`;
}

/** Any other message to the operator. */
export function renderNotice(text: string, format: LogFormat): string {
  if (format === 'json') return jsonLine({ time: new Date().toISOString(), notice: text });
  return `petstore-mock: ${escapedLines(text)}\n`;
}

/** Replaces lines that were dropped. */
function renderDropped(count: number, format: LogFormat): string {
  const why = 'the reader of this log is too slow';
  if (format === 'json') return jsonLine({ dropped: count, why: [why] });
  return `${countText(count, 'line')} dropped: ${why}\n`;
}

function colourOf(status: number | undefined): Colour {
  if (status === undefined || status >= 500) return 'red';
  return status >= 400 ? 'yellow' : 'green';
}

/** The time of day, cut from the end because years can have more than four digits. */
function timeOf(at: number, style: Style): string {
  return paint(instantOf(at).slice(-'00:00:00.000Z'.length, -1), 'grey', style);
}

function instantOf(at: number): string {
  return new Date(at).toISOString();
}

/** A text without what would flood the log. */
function brief(text: string): string {
  return text.length > LONGEST_TEXT ? `${cut(text, LONGEST_TEXT)}…` : text;
}

const BEYOND_ASCII = /[\u007F-\uFFFF]/g;

function jsonLine(members: object): string {
  return `${JSON.stringify(members).replace(BEYOND_ASCII, escapeOf)}\n`;
}

/** A number with at most three decimals. */
export function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

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
        // The server may have stopped before the delay was over.
        const sent = { ...exchange, duration: exchange.duration - left };
        lines.add(() => render(sandbox, sent, style));
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
    if (!this.#full) this.#timer ??= setTimeout(() => this.flush(), GATHER);
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

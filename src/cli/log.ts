import {
  listCircumstances,
  type RecordedExchange,
} from '../core/control/journal/recorded-exchange.ts';
import { DEFAULT_SANDBOX } from '../core/limits.ts';
import { EXCHANGE_FIELDS } from '../core/sandbox/exchange-fields.ts';
import type { Finding } from '../core/sandbox/report-shapes.ts';
import { DOCUMENTED_REASON } from '../core/service/reply.ts';
import { rowNames } from '../core/tables.ts';
import { countText, escapeCharacter, roundDuration } from '../core/words.ts';
import type { ServerOptions } from '../features.ts';
import type { FinishedCall } from '../server/observers.ts';
import {
  escapeControls,
  escapeLines,
  paint,
  type Style,
  type Terminal,
  writeInBackground,
} from '../terminal/terminal.ts';
import type { Flags } from './flags.ts';

export type LogFormat = NonNullable<Flags['log']>;

const MAX_TEXT = 1000;

// A finding has a line of its own.
const { at: _at, findings: _findings, expected: _expected, ...LOGGED } = EXCHANGE_FIELDS;

const LOGGED_NAMES = rowNames(LOGGED);

/** An exchange as a line of JSON, in ASCII, without members that have no value. */
export function renderJson(sandbox: string, exchange: RecordedExchange): string {
  const members = LOGGED_NAMES.map((name) => [name, exchange[name]] as const);
  const told = members.filter(([name, value]) => !isNothing(value) || name === 'duration');
  const texts = told.map(([name, value]) => [name, truncateTexts(value)]);
  return jsonLine({ time: exchange.at, sandbox, ...Object.fromEntries(texts) });
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === 0 || (Array.isArray(value) && value.length === 0);
}

function truncateTexts(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(truncateTexts);
  return typeof value === 'string' ? truncate(value) : value;
}

export function renderPretty(sandbox: string, exchange: RecordedExchange, style: Style): string {
  const { basis, duration, traceId } = exchange;
  const circumstances = [
    basis,
    `${duration.toFixed(1)} ms`,
    ...listCircumstances(exchange),
    ...(traceId === undefined ? [] : [`trace ${traceId}`]),
    ...(sandbox === DEFAULT_SANDBOX ? [] : [`in sandbox ${sandbox}`]),
  ].join(', ');
  const why = exchange.why.filter((reason) => reason !== DOCUMENTED_REASON).join('; ');
  const reasons = why === '' ? '' : `: ${escapeControls(truncate(why))}`;
  return prettyLine(exchange, `${circumstances}${reasons}`, style);
}

function prettyLine(
  { at, method, target, status }: Pick<RecordedExchange, 'at' | 'method' | 'target' | 'status'>,
  circumstances: string,
  style: Style,
): string {
  const isError = status === undefined || status >= 500;
  const colour = isError ? 'red' : status >= 400 ? 'yellow' : 'green';
  return [
    formatTime(at, style),
    escapeControls(method).padEnd('DELETE'.length),
    escapeControls(truncate(target)),
    paint(String(status ?? '---'), colour, style),
    `${circumstances}\n`,
  ].join(' ');
}

export function renderControlCall(call: FinishedCall, format: LogFormat, style: Style): string {
  const { method, target, status, duration } = call;
  const time = new Date(call.at).toISOString();
  if (format === 'pretty') {
    const circumstances = `control API, ${duration.toFixed(1)} ms`;
    return prettyLine({ ...call, at: time }, circumstances, style);
  }
  return jsonLine({
    time,
    control: true,
    method,
    target,
    status,
    duration: roundDuration(duration),
  });
}

export function renderFinding(finding: Finding, format: LogFormat, style: Style): string {
  const { at, sandbox, exchange, code, message, advice } = finding;
  if (format === 'json') {
    return jsonLine({ time: at, sandbox, number: exchange, finding: code, message, advice });
  }
  const kind = paint(`finding ${code}`, 'yellow', style);
  return `${formatTime(at, style)} ${kind}: ${escapeControls(message)} ${advice}\n`;
}

export function renderNotice(text: string, format: LogFormat): string {
  if (format === 'json') return jsonLine({ time: new Date().toISOString(), notice: text });
  return `petstore-mock: ${escapeLines(text)}\n`;
}

function renderDropped(count: number, format: LogFormat): string {
  const why = 'the reader of this log is too slow';
  if (format === 'json') return jsonLine({ dropped: count, why: [why] });
  return `${countText(count, 'line')} dropped: ${why}\n`;
}

/** The time of day from the end because years can have more than four digits. */
function formatTime(at: string, style: Style): string {
  return paint(at.slice(-'00:00:00.000Z'.length, -1), 'grey', style);
}

function truncate(text: string): string {
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
}

const BEYOND_ASCII = /[\u007F-\uFFFF]/g;

function jsonLine(members: object): string {
  return `${JSON.stringify(members).replace(BEYOND_ASCII, escapeCharacter)}\n`;
}

export interface Log {
  readonly hooks: Pick<ServerOptions, 'observe' | 'onFinding' | 'onControlCall'>;
  readonly flush: () => void;
}

/** Milliseconds during which lines are gathered into one write. */
const GATHER_MS = 10;

/** Characters kept for a slow reader. Further lines are dropped. */
const MAX_WAITING = 1 << 20;

export function openLog(
  { output, style }: Pick<Terminal, 'output' | 'style'>,
  format: LogFormat,
): Log | undefined {
  if (format === 'off') return undefined;
  writeInBackground(output);
  let waiting = '';
  let dropped = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (dropped > 0) waiting += renderDropped(dropped, format);
    dropped = 0;
    if (waiting !== '' && output.writable) output.write(waiting);
    waiting = '';
  };
  const add = (render: () => string): void => {
    if (!output.writable) return;
    if (output.writableLength + waiting.length >= MAX_WAITING) dropped += 1;
    else {
      waiting += render();
      timer ??= setTimeout(flush, GATHER_MS);
    }
  };
  const render = format === 'json' ? renderJson : renderPretty;
  return {
    hooks: {
      observe: (sandbox, exchange) => add(() => render(sandbox, exchange, style)),
      onFinding: (finding) => add(() => renderFinding(finding, format, style)),
      onControlCall: (call) => add(() => renderControlCall(call, format, style)),
    },
    flush,
  };
}

import type { Exchange } from '../simulation/journal.ts';
import { DEFAULT_SANDBOX } from '../simulation/sandboxes.ts';
import { type Colour, paint, type Style } from './terminal.ts';

export const LOG_FORMATS = ['pretty', 'json', 'off'] as const;

export type LogFormat = (typeof LOG_FORMATS)[number];

/** What a line tells of an exchange. */
export type Logged = Pick<
  Exchange,
  | 'number'
  | 'at'
  | 'method'
  | 'target'
  | 'operation'
  | 'status'
  | 'basis'
  | 'fault'
  | 'delay'
  | 'key'
  | 'why'
>;

/** Characters of a target and of a reason: clients write the one, and have a part in the other. */
const LONGEST_IN_JSON = 1000;
const LONGEST_TARGET = 200;
const LONGEST_REASONS = 300;

/** What `why` says where there is nothing to say beyond the basis. */
const NO_MORE_TO_SAY = 'as the document prescribes';

/** An exchange as a line of JSON. What there is not is left out. */
export function renderJson(sandbox: string, exchange: Logged): string {
  const { number, at, method, target, operation, status, fault, delay, basis, key } = exchange;
  const line = JSON.stringify({
    time: instantOf(at),
    sandbox,
    number,
    method,
    target: cut(target, LONGEST_IN_JSON),
    operation,
    status,
    fault,
    delay: delay > 0 ? delay : undefined,
    basis: basis.kind,
    by: groundsOf(basis),
    why: exchange.why.map((reason) => cut(reason, LONGEST_IN_JSON)),
    key,
  });
  return `${escaped(line)}\n`;
}

function groundsOf(basis: Logged['basis']): readonly string[] | undefined {
  switch (basis.kind) {
    case 'documented':
      return undefined;
    case 'assumed':
      return basis.by;
    case 'forced':
      return [basis.by];
  }
}

/** An exchange as a line for a person. */
export function renderPretty(sandbox: string, exchange: Logged, style: Style): string {
  const { method, target, status, basis, fault, delay } = exchange;
  // Whatever the year, which can have more than four digits, the time of day stands at the end.
  const time = instantOf(exchange.at).slice(-'00:00:00.000Z'.length, -1);
  const circumstances = [
    basis.kind,
    ...(fault === undefined ? [] : [`fault ${fault}`]),
    ...(delay > 0 ? [`after ${Math.round(delay)} ms`] : []),
    ...(sandbox === DEFAULT_SANDBOX ? [] : [`in sandbox ${sandbox}`]),
  ];
  const why = exchange.why.filter((reason) => reason !== NO_MORE_TO_SAY).join('; ');
  const reasons = why === '' ? '' : `: ${escaped(cut(why, LONGEST_REASONS))}`;
  return [
    paint(time, 'grey', style),
    escaped(method).padEnd('DELETE'.length),
    escaped(cut(target, LONGEST_TARGET)),
    paint(String(status ?? '---'), colourOf(status), style),
    `${circumstances.join(', ')}${reasons}\n`,
  ].join(' ');
}

function colourOf(status: number | undefined): Colour {
  if (status === undefined || status >= 500) return 'red';
  return status >= 400 ? 'yellow' : 'green';
}

/** Told where lines were dropped, in their place. */
export function renderDropped(count: number, format: LogFormat): string {
  const why = 'whoever reads this log is too slow';
  if (format === 'json') return `${JSON.stringify({ dropped: count, why: [why] })}\n`;
  return `${count} ${count === 1 ? 'line' : 'lines'} dropped: ${why}\n`;
}

let lastAt = Number.NaN;
let lastInstant = '';

/** An instant as text; kept, since many exchanges come in the same millisecond. */
function instantOf(at: number): string {
  if (at !== lastAt) {
    lastAt = at;
    lastInstant = new Date(at).toISOString();
  }
  return lastInstant;
}

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

/**
 * What a terminal obeys or reorders instead of showing it: a client could forge lines, or hide them.
 * The escapes are those of JSON, so that a line of it stays one.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
const UNSAFE = /[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;

function escaped(text: string): string {
  return text.replace(UNSAFE, (it) => `\\u${it.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

import type { Exchange } from '../../evidence/journal.ts';
import { DEFAULT_SANDBOX } from '../../sandbox/sandbox-names.ts';
import { escaped, escapeOf } from './escaped.ts';
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

/**
 * An exchange as a line of JSON, in ASCII. What there is not is left out. It is put together by
 * hand: this runs for every exchange, and JSON.stringify takes four times as long (measured).
 */
export function renderJson(sandbox: string, exchange: Logged): string {
  const { operation, status, fault, delay, basis, key } = exchange;
  let line = `{"time":"${instantOf(exchange.at)}","sandbox":"${sandbox}","number":${exchange.number}`;
  line += `,"method":${quoted(exchange.method)},"target":${quoted(exchange.target)}`;
  if (operation !== undefined) line += `,"operation":"${operation}"`;
  if (status !== undefined) line += `,"status":${status}`;
  if (fault !== undefined) line += `,"fault":"${fault}"`;
  if (delay > 0) line += `,"delay":${delay}`;
  line += `,"basis":"${basis.kind}"`;
  const by = groundsOf(basis);
  if (by !== undefined) line += `,"by":[${by.map(quoted).join()}]`;
  line += `,"why":[${exchange.why.map(quoted).join()}]`;
  if (key !== undefined) line += `,"key":${quotedKey(key)}`;
  return `${line}}\n`;
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

/** What stands in JSON as it is. */
const SIMPLE = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  if (text.length <= LONGEST_IN_JSON && SIMPLE.test(text)) return `"${text}"`;
  const ascii = JSON.stringify(cut(text, LONGEST_IN_JSON)).replace(BEYOND_ASCII, escapeOf);
  // V8 goes on to hold it with two bytes for a character, and then all that it becomes a part of.
  return Buffer.from(ascii, 'latin1').toString('latin1');
}

let lastKey = '';
let lastQuotedKey = '""';

/** Kept too: a client has one key, and the ellipsis in it is what takes long. */
function quotedKey(key: string): string {
  if (key !== lastKey) {
    lastKey = key;
    lastQuotedKey = quoted(key);
  }
  return lastQuotedKey;
}

function cut(text: string, longest: number): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text;
}

const BEYOND_ASCII = /[\u007F-\uFFFF]/g;

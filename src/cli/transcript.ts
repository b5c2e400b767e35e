import { BASE_PATH, OPERATION_IDS, operationShape } from '../core/contract/operations.ts';
import { parseQuery, parseTarget } from '../core/contract/target.ts';
import { INTEGER_TEXT, isObject, parseInput, tryParseJson, writeJson } from '../core/json.ts';
import { pairHeaders } from '../core/raw-http.ts';
import { isManual } from '../core/sandbox/answer.ts';
import {
  bodyText,
  type Exchange,
  isCredential,
  isDropped,
  maskHeaders,
} from '../core/sandbox/exchange.ts';
import { countText } from '../core/words.ts';
import type { RanExchange } from '../terminal/command.ts';
import { compareLines } from '../terminal/compare-lines.ts';
import { escapeControls } from '../terminal/terminal.ts';

/** What counts besides the sandbox, the method and the path of a call. */
export const CALL_PARTS = ['order', 'query', 'headers', 'body'] as const;

export type CallPart = (typeof CALL_PARTS)[number];

const TITLE = 'petstore-mock calls: ';

/** Headers that belong to the connection, so that the client's code does not decide about them. */
const LEFT_OUT =
  /^(?:host|connection|keep-alive|proxy-connection|content-length|transfer-encoding|te|trailer|upgrade|expect|mock-sandbox)$/;

/** Texts that differ from run to run or name a machine, and what stands in their place. */
const MASKS: readonly (readonly [pattern: RegExp, mask: string])[] = [
  // The ids of a trace can consist of digits alone.
  [/\b[0-9a-f]{32}-[0-9a-f]{16}\b/g, '{trace}'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, '{uuid}'],
  [/\b(?=\d*[a-f])[0-9a-f]{16,}\b/gi, '{hex}'],
  [/\b\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:?\d\d|\b)/g, '{time}'],
  [/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT\b/g, '{time}'],
  [/\b\d{4}-\d\d-\d\d\b/g, '{date}'],
  [/(:\/\/(?:\[[^\]]*\]|[\w.-]+)):\d+/g, '$1:{port}'],
];

function mask(text: string): string {
  return escapeControls(MASKS.reduce((masked, [pattern, by]) => masked.replace(pattern, by), text));
}

/** What ids name by the path above them: `/v1/inventory` has the same as `/v1/pets`. */
const FOUND_BELOW = new Map(
  OPERATION_IDS.map(operationShape).flatMap(({ path, parameters }) =>
    parameters.flatMap(({ name, finds }) =>
      finds === undefined ? [] : [[BASE_PATH + path.replace(`/{${name}}`, ''), finds] as const],
    ),
  ),
);

/** @param nameId what stands for an id in the path, by the path above it */
function writeCall(
  { method, target, request }: Exchange,
  parts: ReadonlySet<CallPart>,
  nameId: (id: string, above: string) => string,
): string {
  const parsed = parseTarget(target);
  const path = parsed.below
    .split('/')
    .reduce((above, part) => `${above}/${INTEGER_TEXT.test(part) ? nameId(part, above) : part}`);
  const query = parts.has('query') ? parseQuery(parsed).map(describeParameter).sort() : [];
  const headers = parts.has('headers') ? pairHeaders(request.headers).flatMap(describeHeader) : [];
  const body = parts.has('body') ? describeBody(request) : [];
  const called = escapeControls(`${method} ${path}`);
  return [
    `  ${called}${query.length > 0 ? `?${query.join('&')}` : ''}\n`,
    ...[...headers.sort(), ...body].map((line) => `    ${line}\n`),
  ].join('');
}

function describeParameter([name, value]: readonly [string, string]): string {
  return isCredential(name) ? `${escapeControls(name)}={key}` : mask(`${name}=${value}`);
}

function describeHeader([name, raw]: readonly [string, string]): string[] {
  const lower = name.toLowerCase();
  if (LEFT_OUT.test(lower)) return [];
  const [, value = raw] = maskHeaders([name, raw]);
  if (isCredential(name)) return [`${lower}: ${value.replace(/\S*…$/, '{key}')}`];
  // A version says nothing about what the client does.
  const named = lower === 'user-agent' ? value.replaceAll(/\/v?\d[^\s;)]*/g, '/{version}') : value;
  return [`${lower}: ${mask(named)}`];
}

function describeBody(request: Exchange['request']): string[] {
  if (isDropped(request)) return [`{${request.size} bytes}`];
  const text = bodyText(request) ?? '';
  const json = tryParseJson(text, parseInput);
  return text === '' ? [] : [mask(json === undefined ? text : writeJson(sortMembers(json)))];
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isObject(value)) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sortMembers(member)]));
}

/** Names that the mock draws, whole or behind the name of a test. */
const DRAWN = /(?<=^|-)[0-9a-f]{8}-[0-9a-f]{4}(?:-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?$/;

/** The calls of a run by sandbox, so that tests that run in parallel give the same text every time. */
export function writeTranscript(
  exchanges: readonly RanExchange[],
  parts: readonly CallPart[] = CALL_PARTS,
): string {
  const counted = new Set(parts);
  const bySandbox = new Map<string, Exchange[]>();
  for (const { sandbox, exchange } of exchanges) {
    // What a person sent by the mock's own tools says nothing about the client.
    if (isManual({ headers: exchange.request.headers, replays: exchange.replays })) continue;
    const calls = bySandbox.get(sandbox);
    if (calls === undefined) bySandbox.set(sandbox, [exchange]);
    else calls.push(exchange);
  }
  const blocks = Array.from(bySandbox, ([name, calls]) => {
    // Ids are numbered as they appear: which ids there are depends on the store.
    const numbers = new Map<string, Map<string, number>>();
    const nameId = (id: string, above: string): string => {
      if (!counted.has('order')) return '{id}';
      const named = FOUND_BELOW.get(above) ?? above;
      const ids = numbers.get(named) ?? new Map<string, number>();
      numbers.set(named, ids.set(id, ids.get(id) ?? ids.size + 1));
      return `{id:${ids.get(id)}}`;
    };
    const texts = calls.map((call) => writeCall(call, counted, nameId));
    if (!counted.has('order')) texts.sort();
    return `sandbox ${name.replace(DRAWN, '*')}\n${texts.join('')}`;
  });
  const named = CALL_PARTS.filter((part) => counted.has(part)).join(', ');
  return `${TITLE}${named}\n${blocks.sort().join('')}`;
}

/** The parts of calls that a transcript has; undefined for a text that is no transcript. */
export function readCallParts(transcript: string): readonly CallPart[] | undefined {
  const [title = ''] = transcript.split('\n', 1);
  const words = title.slice(TITLE.length).split(', ');
  return title.startsWith(TITLE) ? CALL_PARTS.filter((part) => words.includes(part)) : undefined;
}

export interface CallDifference {
  /** Changed lines below the sandbox and the call that they belong to. */
  readonly lines: readonly string[];
  /** The first one that differs, in the transcript before, from 1. */
  readonly line: number;
  readonly summary: string;
}

const MAX_SHOWN = 40;

const SIGNS = { ' ': ' ', '−': '-', '+': '+' } as const;

/** @returns undefined if they are the same */
export function compareTranscripts(before: string, after: string): CallDifference | undefined {
  const compared = compareLines(before.trimEnd(), after.trimEnd());
  const first = compared.findIndex(([sign]) => sign !== ' ');
  if (first < 0) return undefined;
  let above = 0;
  // From the end: besides what differs, the sandbox and the call that it belongs to, by the indent.
  const lines = compared.toReversed().flatMap(([sign, text]) => {
    const depth = text.length - text.trimStart().length;
    if (sign === ' ' && depth >= above) return [];
    above = depth;
    return [`${SIGNS[sign]} ${escapeControls(text)}`];
  });
  const shown = lines.reverse().slice(0, MAX_SHOWN);
  if (lines.length > MAX_SHOWN) shown.push(`and ${lines.length - MAX_SHOWN} more lines`);
  const count = (wanted: string) => compared.filter(([sign]) => sign === wanted).length;
  const summary = `${countText(count('−'), 'line')} less, ${countText(count('+'), 'line')} more`;
  const line = Math.max(1, compared[first]?.[0] === '−' ? first + 1 : first);
  return { lines: shown, line, summary };
}

import { compareLines } from '../core/compare-lines.ts';
import { parseQuery, parseTarget } from '../core/contract/target.ts';
import { isIntegerText, isObject, parseInput, tryParseJson, writeJson } from '../core/json.ts';
import { pairHeaders } from '../core/raw-http.ts';
import {
  bodyText,
  type Exchange,
  isByHand,
  isDropped,
  maskHeaders,
} from '../core/sandbox/exchange.ts';
import { countText } from '../core/words.ts';
import { escapeControls } from '../terminal/terminal.ts';

/** What counts besides the sandbox, the method and the path of a call. */
export const CALL_PARTS = ['order', 'query', 'headers', 'body'] as const;

export type CallPart = (typeof CALL_PARTS)[number];

const TITLE = 'petstore-mock calls: ';

/** Of the connection, not of the client's code. */
const LEFT_OUT =
  /^(?:host|connection|keep-alive|proxy-connection|content-length|transfer-encoding|te|trailer|upgrade|expect|mock-sandbox)$/;

/** What differs from run to run, or names a machine. */
const MASKS: readonly (readonly [pattern: RegExp, mask: string])[] = [
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

interface SentCall {
  readonly method: string;
  /** In segments. */
  readonly path: readonly string[];
  readonly query: string;
  readonly lines: readonly string[];
}

/** Undefined for what a person sent by the mock's own tools. */
function describeCall(exchange: Exchange, parts: ReadonlySet<CallPart>): SentCall | undefined {
  const { method, target, request, replays } = exchange;
  if (isByHand({ headers: request.headers, replays })) return undefined;
  const parsed = parseTarget(target);
  const query = parseQuery(parsed).map(([name, value]) => mask(`${name}=${value}`));
  const headers = pairHeaders(request.headers).flatMap(([name, value]) =>
    LEFT_OUT.test(name.toLowerCase()) ? [] : describeHeader(name, value),
  );
  const text = bodyText(request) ?? '';
  const body = isDropped(request)
    ? [`{${request.size} bytes}`]
    : text === ''
      ? []
      : [describeBody(text)];
  return {
    method: escapeControls(method),
    path: escapeControls(parsed.below).split('/'),
    query: parts.has('query') ? query.sort().join('&') : '',
    lines: [...(parts.has('headers') ? headers.sort() : []), ...(parts.has('body') ? body : [])],
  };
}

function describeHeader(name: string, raw: string): string {
  const [, value = raw] = maskHeaders([name, raw]);
  const lower = name.toLowerCase();
  if (value !== raw && value.endsWith('…')) return `${lower}: ${value.replace(/\S*…$/, '{key}')}`;
  // A version says nothing about what the client does.
  const named = lower === 'user-agent' ? value.replaceAll(/\/v?\d[^\s;)]*/g, '/{version}') : value;
  return `${lower}: ${mask(named)}`;
}

function describeBody(text: string): string {
  const json = tryParseJson(text, parseInput);
  return mask(json === undefined ? text : writeJson(sortMembers(json)));
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isObject(value)) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sortMembers(member)]));
}

/** Names that the mock draws, whole or behind the name of a test. */
const DRAWN = /(?<=^|-)[0-9a-f]{8}-[0-9a-f]{4}(?:-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?$/;

/** What `--against` can read again. */
const MAX_CHARACTERS = 12 * 1024 * 1024;

/** The calls of a run by sandbox, so that tests that run in parallel give the same text every time. */
export class Transcript {
  readonly #parts: ReadonlySet<CallPart>;
  readonly #bySandbox = new Map<string, SentCall[]>();
  #characters = 0;

  constructor(parts: readonly CallPart[] = CALL_PARTS) {
    this.#parts = new Set(parts);
  }

  /** Whether there were more calls than it has. */
  get isCut(): boolean {
    return this.#characters > MAX_CHARACTERS;
  }

  add(sandbox: string, exchange: Exchange): void {
    const call = this.isCut ? undefined : describeCall(exchange, this.#parts);
    if (call === undefined) return;
    for (const text of [...call.path, call.query, ...call.lines])
      this.#characters += text.length + 8;
    const calls = this.#bySandbox.get(sandbox);
    if (calls === undefined) this.#bySandbox.set(sandbox, [call]);
    else calls.push(call);
  }

  write(): string {
    const blocks = Array.from(this.#bySandbox, ([name, calls]) => {
      const texts = this.#parts.has('order')
        ? writeInOrder(calls)
        : calls.map((call) => writeCall(call)).sort();
      return `sandbox ${name.replace(DRAWN, '*')}\n${texts.join('')}`;
    });
    return `${TITLE}${CALL_PARTS.filter((part) => this.#parts.has(part)).join(', ')}\n${blocks.sort().join('')}`;
  }
}

/** Ids are numbered as they appear: which one it was depends on the store. */
function writeInOrder(calls: readonly SentCall[]): string[] {
  const ids = new Map<string, number>();
  return calls.map((call) =>
    writeCall(call, (id) => {
      const number = ids.get(id) ?? ids.size + 1;
      ids.set(id, number);
      return `{id:${number}}`;
    }),
  );
}

function writeCall(
  { method, path, query, lines }: SentCall,
  nameId = (_id: string) => '{id}',
): string {
  const called = path.map((part) => (isIntegerText(part) ? nameId(part) : part)).join('/');
  const asked = query === '' ? '' : `?${query}`;
  return [`  ${method} ${called}${asked}\n`, ...lines.map((line) => `    ${line}\n`)].join('');
}

/** The parts that a transcript has; undefined if it is none. */
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

/** How deep a line of a transcript is indented: a sandbox, a call, a header or a body. */
const depthOf = (line: string): number => line.length - line.trimStart().length;

/** Undefined if they are the same. */
export function compareTranscripts(before: string, after: string): CallDifference | undefined {
  const lines: string[] = [];
  const above = new Map<number, string>();
  const changed = { '−': 0, '+': 0 };
  let [number, first] = [0, 0];
  for (const [sign, text] of compareLines(before.trimEnd(), after.trimEnd())) {
    if (sign !== '+') number += 1;
    const depth = depthOf(text);
    for (const known of above.keys()) if (known >= depth) above.delete(known);
    if (sign === ' ') {
      above.set(depth, text);
      continue;
    }
    changed[sign] += 1;
    first ||= Math.max(number, 1);
    lines.push(
      ...[...above.values()].map((heading) => `  ${heading}`),
      `${sign === '+' ? '+' : '-'} ${text}`,
    );
    above.clear();
  }
  if (first === 0) return undefined;
  const summary = `${countText(changed['−'], 'line')} less, ${countText(changed['+'], 'line')} more`;
  const shown = lines.slice(0, MAX_SHOWN).map(escapeControls);
  if (lines.length > MAX_SHOWN) shown.push(`and ${lines.length - MAX_SHOWN} more lines`);
  return { lines: shown, line: first, summary };
}

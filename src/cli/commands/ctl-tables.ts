import type { ControlClient, Route } from '../../client/control-client.ts';
import type { RecordedExchange } from '../../core/control/journal/recorded-exchange.ts';
import { type Json, parseInput, tryParseJson, writeJson } from '../../core/json.ts';
import { ANY, type Shape } from '../../core/shape/shapes.ts';
import { readJson } from '../../core/shape/source-text.ts';
import { describe, joinWords } from '../../core/words.ts';
import { misuse, type WordUsage } from '../../terminal/command.ts';
import { renderTable } from '../../terminal/table.ts';
import { bold, escapeControls, type Style } from '../../terminal/terminal.ts';
import { fileError } from '../flag-sources.ts';
import type { FlagName, Flags } from '../flags.ts';
import type { Fact } from '../run-evidence.ts';

export interface Action {
  readonly takes: WordUsage;
  readonly flags?: readonly FlagName[];
  /** Calls what exists at the default sandbox only. */
  readonly defaultOnly?: true;
  readonly summary: string;
  readonly run: (
    client: ControlClient,
    words: readonly string[],
    flags: Flags,
  ) => Promise<ActionResult>;
}

export interface ActionResult {
  /** The rows of a table; its headings are the names of their members. */
  readonly rows?: readonly object[];
  readonly facts?: readonly Fact[];
  readonly text?: string;
  /** What `--json` prints in their place; `{"done": text}` by default. */
  readonly json?: object;
}

export function createTable<Row extends object>(
  list: readonly Row[],
  ...members: readonly (keyof Row & string)[]
): ActionResult {
  const rows = list.map((row) => Object.fromEntries(members.map((name) => [name, row[name]])));
  return { rows, json: list };
}

/** A result for a person. Clients influence the cells, so they are escaped. */
export function renderResult({ rows, facts, text = '' }: ActionResult, style: Style): string {
  if (facts !== undefined) return renderTable(facts, style);
  if (rows === undefined) return text;
  if (rows.length === 0) return `none\n${text}`;
  const names = [...new Set(rows.flatMap(Object.keys))];
  const cells = rows.map((row) => {
    const members = new Map<string, unknown>(Object.entries(row));
    return names.map((name) => escapeControls(formatCell(members.get(name))));
  });
  const headings = names.map((name) => bold(name, style));
  return renderTable([headings, ...cells], style, 0) + text;
}

function formatCell(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? writeJson(value) : String(value);
}

export function exchangeRow({ number, method, target, ...reply }: RecordedExchange) {
  const { status, fault, basis, by } = reply;
  return {
    number,
    method,
    target,
    status: [status, fault].filter((part) => part !== undefined).join(' '),
    basis: by.length === 0 ? basis : `${basis}: ${by.join(', ')}`,
  };
}

/** The texts of each name in words NAME=VALUE. */
export function parseAssignments(words: readonly string[]) {
  const texts = new Map<string, readonly string[]>();
  for (const word of words) {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (name === undefined || text === undefined) throw misuse('ctl', 'NAME=VALUE', describe(word));
    texts.set(name, [...(texts.get(name) ?? []), text]);
  }
  return texts;
}

/** Filters, which can be repeated. */
export function parseFilters(words: readonly string[]) {
  return Object.fromEntries(parseAssignments(words));
}

/** The body of a call, from words NAME=VALUE. */
export async function parseMembers(route: Route, words: readonly string[]): Promise<Json> {
  // Only some actions need the endpoints, with all that they import.
  const { ENDPOINTS } = await import('../../core/control/endpoints.ts');
  const row = ENDPOINTS.find(({ method, path }) => `${method.toUpperCase()} ${path}` === route);
  return createBody(row?.body?.shape, parseAssignments(words));
}

export function createBody(
  { part }: Shape<unknown> = ANY,
  texts: ReturnType<typeof parseAssignments>,
): Json {
  const members = Array.from(texts, ([name, of]) => {
    return [name, parseValue(name, onlyText(name, of), part?.(name))] as const;
  });
  return Object.fromEntries(members);
}

export function onlyText(name: string, texts: readonly string[]): string {
  const [text, ...more] = texts;
  if (text !== undefined && more.length === 0) return text;
  throw misuse('ctl', `one value for ${name}`, joinWords(texts.map(describe), 'and'));
}

/** JSON, the text as it is, or its parts between commas, as the shape has it. The server refuses the rest. */
function parseValue(name: string, text: string, { likeness, part }: Shape<unknown> = ANY): unknown {
  const canBe = (value: unknown) => likeness(value) > 0;
  if (/^\s*[{[]/.test(text) && (canBe({}) || canBe([]))) return parseJsonText(`ctl ${name}`, text);
  const value = tryParseJson(text, parseInput);
  if (value !== undefined && typeof value !== 'string' && canBe(value)) return value;
  if (canBe('') || !canBe([])) return text;
  return text.split(',').map((one) => parseValue(name, one, part?.(name)));
}

/** Splits words into the first one that matches, and the others. */
export function splitFirst(words: readonly string[], pattern: RegExp) {
  const at = words.findIndex((word) => pattern.test(word));
  return [words[at], words.filter((_, index) => index !== at)] as const;
}

/** @param origin where the text is, for messages */
export function parseJsonText(origin: string, text: string): unknown {
  const reading = readJson(origin, text);
  if (reading.ok) return reading.value;
  throw fileError(reading.problems);
}

import type { ControlClient } from '../../client/control-client.ts';
import type { RecordedExchange } from '../../core/control/journal/recorded-exchange.ts';
import { parseInput, tryParseJson, writeJson } from '../../core/json.ts';
import { firstProblems, formatProblem } from '../../core/problems.ts';
import { readJson } from '../../core/shape/source-text.ts';
import { describe } from '../../core/words.ts';
import { UsageError, type WordUsage } from '../../terminal/command.ts';
import { renderTable } from '../../terminal/table.ts';
import { bold, escapeControls, type Style } from '../../terminal/terminal.ts';
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

export function parseAssignments(words: readonly string[]): Record<string, string> {
  const assignments = words.map((word) => {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (name !== undefined && text !== undefined) return [name, text] as const;
    throw new UsageError(`ctl: expected NAME=VALUE, found ${describe(word)}`);
  });
  return Object.fromEntries(assignments);
}

/** Parses assignments whose values are JSON; a value that is no JSON is a string. */
export function parseJsonAssignments(words: readonly string[]): Record<string, unknown> {
  const assignments = Object.entries(parseAssignments(words)).map(([name, text]) => {
    const value = /^\s*[{[]/.test(text)
      ? parseJsonText(`ctl ${name}`, text)
      : tryParseJson(text, parseInput);
    return [name, value === undefined ? text : value] as const;
  });
  return Object.fromEntries(assignments);
}

/** @param origin where the text is, for messages */
export function parseJsonText(origin: string, text: string): unknown {
  const reading = readJson(origin, text);
  if (reading.ok) return reading.value;
  throw new UsageError(firstProblems(reading.problems, formatProblem).join('\n'));
}

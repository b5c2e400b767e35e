import { writeJson } from '../../contract/json.ts';
import type { RecordedExchange } from '../../control/control-shapes.ts';
import { describe } from '../../words.ts';
import { UsageError } from '../command.ts';
import { bold, escaped, renderTable, type Style } from '../terminal.ts';

/** What an action of `ctl` prints: one value in two forms. */
export interface Result {
  /** What `--json` prints; undefined for an action that only does something. */
  readonly value: object | undefined;
  readonly text: (style: Style) => string;
}

/** A result of one line. */
export function lineOf(line: string, value?: object): Result {
  return { value, text: () => `${line}\n` };
}

/** Columns of a table by heading, each with the member of a row that it shows. */
type Columns<Row> = Readonly<Record<string, keyof Row | ((row: Row) => unknown)>>;

/**
 * A list as a table with headings. Clients influence the cells, so they are escaped.
 *
 * @param value what `--json` prints, if it is not the rows
 * @param below the text below the table
 */
export function tableOf<Row>(
  rows: readonly Row[],
  columns: Columns<Row>,
  value: object = rows,
  below = '',
): Result {
  const cells = rows.map((row) =>
    Object.values(columns).map((cell) =>
      escaped(textOf(typeof cell === 'function' ? cell(row) : row[cell])),
    ),
  );
  const text = (style: Style) => {
    const headings = Object.keys(columns).map((heading) => bold(heading, style));
    const table = renderTable([headings, ...cells], { width: style.width, indent: 0 });
    return (rows.length === 0 ? 'none\n' : table) + below;
  };
  return { value, text };
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? writeJson(value) : String(value);
}

/** Columns with the names of the members that they show. */
export function membersOf<Name extends string>(...names: readonly Name[]): Record<string, Name> {
  return Object.fromEntries(names.map((name) => [name, name]));
}

/** What a table shows of exchanges. */
export const EXCHANGE_COLUMNS = {
  ...membersOf('number', 'method', 'target'),
  status: replied,
  basis: grounds,
};

/** An exchange as a line, for a list that grows. */
export function exchangeLine(exchange: RecordedExchange): string {
  const { number, method, target } = exchange;
  return `${number} ${method} ${escaped(target)} ${replied(exchange)} ${grounds(exchange)}\n`;
}

function replied({ status, fault }: RecordedExchange): string {
  return [status, fault].filter((part) => part !== undefined).join(' ');
}

function grounds({ basis, by }: RecordedExchange): string {
  return by.length === 0 ? basis : `${basis}: ${by.join(', ')}`;
}

/**
 * The values in words such as `status=shipped`, by name.
 *
 * @throws UsageError for a word of another form
 */
export function assignmentsIn(words: readonly string[]): Record<string, string> {
  const assignments = words.map((word) => {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (name !== undefined && text !== undefined) return [name, text] as const;
    throw new UsageError(`ctl: expected NAME=VALUE, found ${describe(word)}`);
  });
  return Object.fromEntries(assignments);
}

import { writeJson } from '../../contract/json.ts';
import { escaped } from '../output/escaped.ts';
import { renderTable } from '../output/table.ts';
import { bold, type Style } from '../output/terminal.ts';

/** What an action of `ctl` prints: one value in two forms. */
export interface Result {
  /** What `--json` prints; undefined for an action that only does something. */
  readonly value: object | undefined;
  readonly text: (style: Style) => string;
}

/** An action that only does something, and the line that says so. */
export function done(line: string): Result {
  return { value: undefined, text: () => `${line}\n` };
}

/** Columns of a table by heading, each with the text of its cell in a row. */
type Columns<Row> = Readonly<Record<string, (row: Row) => unknown>>;

/** A list as a table with headings. Clients influence the cells, so they are escaped. */
export function tableOf<Row>(
  rows: readonly Row[],
  columns: Columns<Row>,
  value: object = rows,
): Result {
  const cellsOf = (row: Row) => Object.values(columns).map((cell) => escaped(textOf(cell(row))));
  return { value, text: (style) => withHeadings(Object.keys(columns), rows.map(cellsOf), style) };
}

/** Records as a table. Their members are the columns. */
export function recordTable(records: readonly object[], value: object = records): Result {
  const names = new Set(records.flatMap(Object.keys));
  const columns = [...names].map((name) => [name, (record: object) => memberOf(record, name)]);
  return tableOf(records, Object.fromEntries(columns), value);
}

function memberOf(record: object, name: string): unknown {
  return Object.entries(record).find(([it]) => it === name)?.[1];
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? writeJson(value) : String(value);
}

function withHeadings(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  style: Style,
): string {
  if (rows.length === 0) return 'none\n';
  const all = [headings, ...rows];
  const columns = headings
    .slice(0, -1)
    .map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  const [head = '', ...lines] = renderTable(all, { width: style.width, columns, indent: 0 }).split(
    /(?<=\n)/,
  );
  return `${bold(head.trimEnd(), style)}\n${lines.join('')}`;
}

import { writeJson } from '../../contract/json.ts';
import type { RecordedExchange } from '../../control/control-shapes.ts';
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
  const text = (style: Style) => {
    if (rows.length === 0) return 'none\n';
    const headings = Object.keys(columns).map((heading) => bold(heading, style));
    return renderTable([headings, ...rows.map(cellsOf)], { width: style.width, indent: 0 });
  };
  return { value, text };
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

/** What a table shows of exchanges. */
export function exchangeTable(exchanges: readonly RecordedExchange[]): Result {
  return tableOf(exchanges, {
    number: ({ number }) => number,
    method: ({ method }) => method,
    target: ({ target }) => target,
    status: replied,
    basis: grounds,
  });
}

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

import { extname } from 'node:path';
import { parseInt64, toInt64 } from '../../contract/int64.ts';
import { parseJson, writeJson } from '../../contract/json.ts';
import {
  COLLECTIONS,
  type CollectionName,
  type Fields,
  type Order,
  STORED_RECORDS,
} from '../../contract/records.ts';
import type { RecordedExchange } from '../../control/control-shapes.ts';
import { type ControlClient, queryOf } from '../../library/control-client.ts';
import { readText, SETTINGS_LIMIT } from '../../read-text.ts';
import { describe, joinWords } from '../../words.ts';
import { oneOf, refusal, UsageError } from '../command.ts';
import { bold, escaped, renderTable, type Style } from '../terminal.ts';

/** Records that a table shows unless `_limit` says otherwise: a store can have a million. */
const SHOWN = 100;

/** `get orders`, `get orders 1`, `get orders status=shipped _sort=id`. */
export async function getRecords(
  client: ControlClient,
  [name = '', ...words]: readonly string[],
): Promise<Result> {
  const path = `/${collectionOf(name, 'ctl get')}`;
  const [id] = words;
  if (id !== undefined && !id.includes('=')) {
    if (words.length > 1) throw refusal('ctl get', 'one id, or filters', describe(words[1]));
    const record = await client.call<RecordMembers>('GET', `${path}/${idOf(id)}`);
    return recordTable([record], record);
  }
  const query = { _limit: SHOWN, ...Object.fromEntries(assignmentsOf(words)) };
  const records = await client.call<readonly RecordMembers[]>('GET', path + queryOf(query));
  const total = await client.count(path + queryOf({ ...query, _limit: 0 }));
  const { value, text } = recordTable(records);
  const more = total > records.length ? `${records.length} of ${total}; _limit=N shows more\n` : '';
  return { value, text: (style) => text(style) + more };
}

/** `set inventory 1 quantity=0 status=sold`. */
export async function setFields(
  client: ControlClient,
  [name = '', id = '', ...words]: readonly string[],
): Promise<Result> {
  const collection = collectionOf(name, 'ctl set');
  const fields = STORED_RECORDS[collection];
  const changes = assignmentsOf(words).map(
    ([field, text]) => [field, fieldValue(fields, field, text)] as const,
  );
  return changeRecord(client, `/${collection}/${idOf(id)}`, Object.fromEntries(changes));
}

/** Changes one record, and prints it. */
async function changeRecord(client: ControlClient, path: string, changes: object): Promise<Result> {
  const record = await client.call<RecordMembers>('PATCH', path, changes);
  return recordTable([record], record);
}

/** Sets the state of an order. */
export function changeOrder(
  client: ControlClient,
  id: string,
  status: Order['status'],
): Promise<Result> {
  return changeRecord(client, `/orders/${idOf(id)}`, { status });
}

/** The collection that a word names. Paths of the service call animals pets. */
function collectionOf(word: string, origin: string): CollectionName {
  if (!/^pets?$/i.test(word)) return oneOf(COLLECTIONS, word, origin);
  throw refusal(origin, joinWords(COLLECTIONS, 'or'), `${describe(word)} (did you mean animals?)`);
}

/** The id of a record. */
function idOf(word: string): bigint {
  const id = parseInt64(word);
  if (id === undefined) throw refusal('ctl', 'the id of a record', describe(word));
  return id;
}

/** A field's value from its text. The server refuses what the field cannot have. */
function fieldValue(fields: Fields, name: string, text: string): unknown {
  const field = fields[oneOf(Object.keys(fields), name, 'ctl set')];
  if (text === 'null' && field?.required === false) return null;
  const isText = field?.type !== 'int64' && field?.type !== 'integer' && field?.type !== 'boolean';
  if (isText) return text;
  try {
    const value = parseJson(text);
    return toInt64(value) ?? value;
  } catch {
    return text;
  }
}

/**
 * Takes words such as `status=shipped` apart.
 *
 * @throws UsageError for a word of another form
 */
export function assignmentsOf(words: readonly string[]): (readonly [name: string, text: string])[] {
  return words.map((word) => {
    const [, name, text] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
    if (name !== undefined && text !== undefined) return [name, text];
    throw new UsageError(`ctl: expected NAME=VALUE, found ${describe(word)}`);
  });
}

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

/** Columns of a table by heading, each with the member of a row that it shows. */
type Columns<Row> = Readonly<Record<string, keyof Row | ((row: Row) => unknown)>>;

/** A list as a table with headings. Clients influence the cells, so they are escaped. */
export function tableOf<Row>(
  rows: readonly Row[],
  columns: Columns<Row>,
  value: object = rows,
): Result {
  const cellsOf = (row: Row) =>
    Object.values(columns).map((cell) =>
      escaped(textOf(typeof cell === 'function' ? cell(row) : row[cell])),
    );
  const text = (style: Style) => {
    if (rows.length === 0) return 'none\n';
    const headings = Object.keys(columns).map((heading) => bold(heading, style));
    return renderTable([headings, ...rows.map(cellsOf)], { width: style.width, indent: 0 });
  };
  return { value, text };
}

type RecordMembers = Readonly<Record<string, unknown>>;

/** Records as a table. Their members are the columns. */
function recordTable(records: readonly RecordMembers[], value: object = records): Result {
  const names = new Set(records.flatMap(Object.keys));
  return tableOf(records, Object.fromEntries([...names].map((name) => [name, name])), value);
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? writeJson(value) : String(value);
}

/** What a table shows of exchanges. */
export function exchangeTable(exchanges: readonly RecordedExchange[]): Result {
  return tableOf(exchanges, {
    ...({ number: 'number', method: 'method', target: 'target' } as const),
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

/** `save busy-day busy-day.yaml`. */
export async function saveScenario(
  client: ControlClient,
  [name = '', file = '']: readonly string[],
): Promise<Result> {
  const read = await readText(file, SETTINGS_LIMIT);
  if (!read.ok) throw refusal('ctl save', 'a scenario file', `${read.found} at ${file}`);
  const type = extname(file).toLowerCase() === '.json' ? 'application/json' : 'application/yaml';
  const body = new Blob([read.text], { type });
  await client.call('PUT', `/scenarios/${encodeURIComponent(name)}`, body);
  return done(`saved ${name}`);
}

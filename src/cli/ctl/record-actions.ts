import { parseInt64, toInt64 } from '../../contract/int64.ts';
import { parseJson } from '../../contract/json.ts';
import {
  COLLECTIONS,
  type CollectionName,
  type Fields,
  type Order,
  STORED_RECORDS,
} from '../../contract/records.ts';
import { type ControlClient, queryOf } from '../../library/control-client.ts';
import { describe, listed } from '../../words.ts';
import { UsageError } from '../failures.ts';
import { oneOf, refusal } from '../input/given.ts';
import { type Result, recordTable } from './result.ts';

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
    const record = await client.call<object>('GET', `${path}/${idOf(id)}`);
    return recordTable([record], record);
  }
  const query = { _limit: SHOWN, ...Object.fromEntries(assignmentsOf(words)) };
  const records = await client.call<readonly object[]>('GET', path + queryOf(query));
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
  const record = await client.call<object>('PATCH', path, changes);
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
  throw refusal(origin, listed(COLLECTIONS, 'or'), `${describe(word)} (did you mean animals?)`);
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

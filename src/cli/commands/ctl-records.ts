import { parseInt64 } from '../../contract/json.ts';
import {
  type AnyRecord,
  COLLECTIONS,
  type CollectionName,
  type Field,
} from '../../contract/records.ts';
import type { ControlClient } from '../../library/control-client.ts';
import { FIELD_SHAPES } from '../../shape/record-shapes.ts';
import { joinWords } from '../../words.ts';
import { parseChoice, refusal } from '../command.ts';
import type { Result } from './ctl-tables.ts';

export function readCollection(action: string, word: string | undefined): CollectionName {
  if (word !== 'pets') return parseChoice(COLLECTIONS, word, action);
  throw refusal(action, joinWords(COLLECTIONS, 'or'), '"pets" (did you mean animals?)');
}

export function recordPath(collection: CollectionName, id = ''): string {
  return `/${collection}/${encodeURIComponent(id)}`;
}

export async function changeRecord(
  client: ControlClient,
  collection: CollectionName,
  id: string | undefined,
  changes: object,
): Promise<Result> {
  const record = await client.call<AnyRecord>('PATCH', recordPath(collection, id), changes);
  return { rows: [record], json: record };
}

/** A field's value from its text. The server refuses what the field cannot have. */
export function fieldValue(field: Field | undefined, text: string): unknown {
  if (text === 'null' && !field?.required) return null;
  if (field === undefined || FIELD_SHAPES[field.type].schema.type === 'string') return text;
  return /^(?:true|false)$/.test(text) ? text === 'true' : (parseInt64(text) ?? text);
}

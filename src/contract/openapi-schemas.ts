import type { Json } from './json.ts';
import { OPERATION_IDS, type OperationId, operationShape } from './operations.ts';
import { FIELD_TYPES, type Field, type Fields, RECORDS, type RecordName } from './records.ts';

/** The examples of an Error are in its replies: Prism would prefer one here. */
const EXAMPLES: Readonly<Partial<Record<RecordName, Json>>> = {
  Animal: { id: 1, name: 'Rex', categoryId: 1, status: 'available' },
  InventoryEntry: { petId: 1, quantity: 12, status: 'available' },
  Order: { id: 1, petId: 1, quantity: 2, shipDate: '2031-01-15T09:30:00Z', complete: false },
};

/** The id of an animal and of an order in the default fixture; the order can be cancelled. */
export const EXAMPLE_ID = 1;

/** RFC 9457, with the code that the Error would have. */
const PROBLEM: Json = {
  'x-mock-basis': 'assumed',
  type: 'object',
  description: 'A problem of HTTP (RFC 9457), if assumed in place of the Error.',
  required: ['type', 'title', 'status'],
  properties: {
    type: { type: 'string', format: 'uri-reference' },
    title: { type: 'string' },
    status: FIELD_TYPES.integer.schema,
    detail: { type: 'string' },
    code: fieldSchema(RECORDS.Error.code),
  },
};

/** The records and the request bodies. The example of a body fits the example of its reply. */
export function schemas(): Json {
  const all: Record<string, Json> = { Problem: PROBLEM };
  for (const id of OPERATION_IDS) {
    const { body, replies } = operationShape(id);
    for (const { body: shown } of Object.values(replies)) {
      if (shown === undefined) continue;
      all[shown.record] ??= objectSchema(RECORDS[shown.record], EXAMPLES[shown.record]);
      if (body === undefined || shown.record === 'Error') continue;
      all[body.name] = objectSchema(body.fields, EXAMPLES[shown.record]);
    }
  }
  return all;
}

/** An example of an operation's body: what the reply to it shows. */
export function bodyExample(id: OperationId): Json | undefined {
  const { body, replies } = operationShape(id);
  const shown = Object.values(replies).find((it) => it.body && it.body.record !== 'Error')?.body;
  return body && shown && exampleOf(body.fields, EXAMPLES[shown.record]);
}

function exampleOf(fields: Fields, example: Json = {}): Json {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, example[name]]));
}

function objectSchema(fields: Fields, example: Json | undefined): Json {
  const entries = Object.entries(fields);
  const required = entries.filter(([, field]) => field.required).map(([name]) => name);
  return withoutUndefined({
    type: 'object',
    required: required.length === 0 ? undefined : required,
    properties: Object.fromEntries(entries.map(([name, field]) => [name, fieldSchema(field)])),
    examples: example && [exampleOf(fields, example)],
  });
}

function fieldSchema({ type, description, seen }: Field): Json {
  return withoutUndefined({ ...FIELD_TYPES[type].schema, description, 'x-seen-values': seen });
}

export function withoutUndefined(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

export function jsonContent(schema: Json, more: Json = {}): Json {
  return { 'application/json': { ...more, schema } };
}

export function ref(kind: 'headers' | 'responses' | 'schemas', name: string): Json {
  return { $ref: `#/components/${kind}/${name}` };
}

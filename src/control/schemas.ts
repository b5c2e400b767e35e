import { fieldSchema, type Json, ref } from '../contract/openapi-schemas.ts';
import { OPERATION_IDS } from '../contract/operations.ts';
import { type CollectionName, type Fields, RECORDS, STORED_RECORDS } from '../contract/records.ts';
import { ID_NAME } from '../store/merge.ts';
import { FILTER_PARAMETERS } from './journal/exchange-filter.ts';

const TEXT: Json = { type: 'string' };
const WHOLE: Json = { type: 'integer', minimum: 0 };
const FLAG: Json = { type: 'boolean' };
const INSTANT: Json = { type: 'string', format: 'date-time' };
const ANY: Json = { description: 'Any JSON.' };

/** The name of each collection's record. */
const RECORD_NAMES: Readonly<Record<CollectionName, string>> = {
  animals: 'Animal',
  inventory: 'InventoryEntry',
  orders: 'Order',
};

/** The schemas of the control API, by name. */
export function controlSchemas(): Readonly<Record<string, Json>> {
  return {
    Error: recordSchema(RECORDS.Error),
    ...recordSchemas('animals', STORED_RECORDS.animals),
    ...recordSchemas('inventory', STORED_RECORDS.inventory),
    ...recordSchemas('orders', STORED_RECORDS.orders),
    State: object({
      animals: listOf(ref('schemas', 'Animal')),
      inventory: listOf(ref('schemas', 'InventoryEntry')),
      orders: listOf(ref('schemas', 'Order')),
    }),
    StateChanges: object({
      animals: changesOf('Animal'),
      inventory: changesOf('InventoryEntry'),
      orders: changesOf('Order'),
    }),
    Snapshot: object({ name: TEXT, animals: WHOLE, inventory: WHOLE, orders: WHOLE }, 'all'),
    Scenario: object({ name: TEXT, description: TEXT }, 'all'),
    ScenarioChoice: object({
      scenarios: listOf(TEXT),
      scenario: { type: 'object', description: 'What a scenario file holds.' },
    }),
    ActiveScenarios: object({ scenarios: listOf(ref('schemas', 'ActiveScenario')) }, 'all'),
    ActiveScenario: object(
      { name: TEXT, description: TEXT, rules: listOf(ref('schemas', 'ActiveRule')) },
      'all',
    ),
    ActiveRule: object(
      {
        number: WHOLE,
        on: listOf({ type: 'string', enum: OPERATION_IDS }),
        status: { ...WHOLE, description: 'Of its reply, if it has one.' },
        fault: TEXT,
        calls: { ...WHOLE, description: 'How many it has matched, where anything depends on it.' },
      },
      ['number', 'on'],
    ),
    Assumption: object(
      {
        id: TEXT,
        topic: TEXT,
        question: TEXT,
        options: listOf(object({ name: TEXT, meaning: TEXT }, 'all')),
        chosen: TEXT,
        default: TEXT,
      },
      'all',
    ),
    Clock: object(
      {
        now: INSTANT,
        frozen: FLAG,
        real: { ...FLAG, description: "Whether it shows the machine's own time." },
      },
      'all',
    ),
    ClockSetting: object({ now: INSTANT, frozen: FLAG, real: FLAG }),
    ...journalSchemas(),
    Sandbox: object(
      {
        name: TEXT,
        service: { ...TEXT, description: 'The path of its service.' },
        control: { ...TEXT, description: 'The path of its control API.' },
        animals: WHOLE,
        inventory: WHOLE,
        orders: WHOLE,
        requests: { ...WHOLE, description: 'The exchanges that its journal keeps.' },
      },
      'all',
    ),
  };
}

function journalSchemas(): Readonly<Record<string, Json>> {
  const body = { body: ANY, cut: { ...FLAG, description: 'Whether it is not all there.' } };
  const filters = FILTER_PARAMETERS.map(({ name, schema }): [string, Json] => [name, schema]);
  return {
    Journal: object(
      {
        exchanges: listOf(ref('schemas', 'Exchange')),
        dropped: { ...WHOLE, description: 'Exchanges that are no longer kept.' },
        total: { ...WHOLE, description: 'How many there are without a limit.' },
      },
      'all',
    ),
    Exchange: object(
      {
        number: { ...WHOLE, description: 'Counts from 1, whatever was dropped since.' },
        at: INSTANT,
        method: TEXT,
        target: TEXT,
        operation: { type: 'string', enum: OPERATION_IDS },
        key: { ...TEXT, description: 'The first characters of the API key.' },
        status: { ...WHOLE, description: 'Left out where the client was sent none.' },
        fault: TEXT,
        delay: { type: 'number', description: 'In milliseconds.' },
        basis: { type: 'string', enum: ['documented', 'assumed', 'forced'] },
        by: { ...listOf(TEXT), description: 'What the basis names.' },
        why: { ...listOf(TEXT), description: 'In words, the nearest cause first.' },
        request: object(body),
        reply: object({ headers: { type: 'object', additionalProperties: TEXT }, ...body }),
      },
      ['number', 'at', 'method', 'target', 'delay', 'basis', 'by', 'why', 'request', 'reply'],
    ),
    ExchangeFilter: object(Object.fromEntries(filters)),
    ExchangeCount: object({ count: WHOLE, complete: FLAG }, 'all'),
  };
}

function object(properties: Readonly<Record<string, Json>>, required: 'all' | string[] = []): Json {
  const names = required === 'all' ? Object.keys(properties) : required;
  return { type: 'object', ...(names.length > 0 && { required: names }), properties };
}

function listOf(items: Json): Json {
  return { type: 'array', items };
}

/** An array of records to be set, or the changes of a scenario. */
function changesOf(record: string): Json {
  const records = listOf(ref('schemas', `${record}Changes`));
  const int64 = { type: 'integer', format: 'int64' };
  const remove = { oneOf: [{ const: 'all' }, listOf(int64)] };
  return { oneOf: [records, object({ set: records, remove })] };
}

function recordSchema(fields: Fields): Json {
  const entries = Object.entries(fields);
  const required = entries.filter(([, field]) => field.required).map(([name]) => name);
  return object(
    Object.fromEntries(entries.map(([name, field]) => [name, fieldSchema(field)])),
    required,
  );
}

/** A collection's record as it is kept, as it is given whole, and as members of it are given. */
function recordSchemas(collection: CollectionName, fields: Fields): Readonly<Record<string, Json>> {
  const name = RECORD_NAMES[collection];
  const entries = Object.entries(fields);
  const given = entries.map(([field, it]) => [
    field,
    field === ID_NAME[collection] ? { ...it, required: false } : it,
  ]);
  const changes = entries.map(([field, it]) => {
    const schema = fieldSchema(it);
    return [field, it.required ? schema : { oneOf: [schema, { type: 'null' }] }];
  });
  return {
    [name]: recordSchema(fields),
    [`New${name}`]: { ...recordSchema(Object.fromEntries(given)), additionalProperties: false },
    [`${name}Changes`]: { ...object(Object.fromEntries(changes)), additionalProperties: false },
  };
}

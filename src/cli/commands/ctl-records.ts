import type { ControlClient, Route } from '../../client/control-client.ts';
import { COLLECTIONS, type CollectionName } from '../../core/contract/records.ts';
import { type Json, parseInput, parseJson, tryParseJson } from '../../core/json.ts';
import { describe, suggest } from '../../core/words.ts';
import { FEATURES } from '../../features.ts';
import { misuse, parseChoice, readTextFile, UsageError } from '../../terminal/command.ts';
import { ANY_NUMBER } from '../command-table.ts';
import {
  type Action,
  type ActionResult,
  createBody,
  onlyText,
  parseAssignments,
  parseFilters,
  parseJsonText,
  parseMembers,
  splitFirst,
} from './ctl-tables.ts';

/** The `_limit` of `get` by default: a store can have a million records. */
const DEFAULT_LIMIT = 100;

export const RECORD_ACTIONS = {
  ship: {
    takes: ['ORDER', 1, 1],
    summary: 'Mark an order as shipped.',
    run: (client, [id]) => changeRecord(client, 'orders', id, { status: 'shipped' }),
  },
  cancel: {
    takes: ['ORDER', 1, 1],
    summary: 'Mark an order as cancelled.',
    run: (client, [id]) => changeRecord(client, 'orders', id, { status: 'cancelled' }),
  },
  get: {
    takes: ['pets|inventory|orders [ID | FIELD=VALUE…]', 1, ANY_NUMBER],
    summary: 'Print records: all, one, or those that match the filters of the control API.',
    async run(client, [name, ...words]) {
      const collection = readCollection('ctl get', name);
      const [id = ''] = words;
      if (words.length === 1 && !id.includes('=')) {
        return recordResult(await client.call(`GET /${collection}/{id}`, { path: { id } }));
      }
      const query = { _limit: DEFAULT_LIMIT, ...parseFilters(words) };
      const response = await client.send(`GET /${collection}`, { query });
      const records = parseJson(await response.text());
      const rows = Array.isArray(records) ? records : [];
      const total = Number(response.headers.get('X-Total-Count'));
      const isPart = total > rows.length;
      const text = isPart ? `${rows.length} of ${total}; _limit=N shows more\n` : '';
      return { rows, text, json: rows };
    },
  },
  add: {
    takes: ['pets|inventory|orders FIELD=VALUE…', 2, ANY_NUMBER],
    summary: 'Create a record.',
    async run(client, [name, ...words]) {
      const collection = readCollection('ctl add', name);
      const body = await parseFields(`POST /${collection}`, words);
      const response = await client.request(`POST /${collection}`, { body });
      return recordResult(parseJson(await response.text()));
    },
  },
  set: {
    takes: ['pets|inventory|orders ID FIELD=VALUE…', 3, ANY_NUMBER],
    summary: 'Change fields of a record; null removes an optional one.',
    async run(client, [name, id, ...words]) {
      const collection = readCollection('ctl set', name);
      const changes = await parseFields(`PATCH /${collection}/{id}`, words);
      return changeRecord(client, collection, id, changes);
    },
  },
  delete: {
    takes: ['pets|inventory|orders ID', 2, 2],
    summary: 'Delete a record.',
    async run(client, [name, id = '']) {
      const collection = readCollection('ctl delete', name);
      await client.call(`DELETE /${collection}/{id}`, { path: { id } });
      return { text: `deleted ${collection} ${id}\n` };
    },
  },
} as const satisfies Record<string, Action>;

function readCollection(action: string, word: string | undefined): CollectionName {
  return word === 'pets' ? 'animals' : parseChoice(COLLECTIONS, word, action);
}

async function changeRecord(
  client: ControlClient,
  collection: CollectionName,
  id = '',
  body: object,
): Promise<ActionResult> {
  return recordResult(await client.call(`PATCH /${collection}/{id}`, { path: { id }, body }));
}

/** The body for a record. The word null is sent as null: the server knows which fields it may remove. */
async function parseFields(route: Route, words: readonly string[]): Promise<Json> {
  const fields = Object.entries(await parseMembers(route, words));
  return Object.fromEntries(fields.map(([name, it]) => [name, it === 'null' ? null : it]));
}

function recordResult(record: unknown): ActionResult {
  const json: object = Object(record);
  return { rows: [json], json };
}

/** Calls an endpoint by its id: NAME=VALUE fills its path, then its body, or its query if it has none. */
export async function callEndpoint(
  client: ControlClient,
  [id, ...words]: readonly string[],
): Promise<ActionResult> {
  // Only this action needs the endpoints, with all that they import.
  const { listEndpoints } = await import('../../core/control/control-api.ts');
  const endpoints = listEndpoints(FEATURES);
  if (id === undefined) {
    const rows = endpoints.map((row) => {
      return { id: row.id, method: row.method.toUpperCase(), path: row.path, summary: row.summary };
    });
    return { rows, json: rows };
  }
  const endpoint = endpoints.find((known) => known.id === id);
  if (endpoint === undefined) {
    const hint = suggest(
      id,
      Array.from(endpoints, (known) => known.id),
    );
    throw misuse('ctl call', 'an operation that "ctl call" lists', describe(id) + hint);
  }
  const [content, assigned] = splitFirst(words, /^[@{[]/);
  const given = parseAssignments(assigned);
  const path: Record<string, string> = {};
  for (const [, name = ''] of endpoint.path.matchAll(/\{(\w+)\}/g)) {
    const texts = given.get(name);
    if (texts === undefined) throw new UsageError(`ctl call ${id} needs ${name}=VALUE`);
    path[name] = onlyText(name, texts);
    given.delete(name);
  }
  const fillsBody = content === undefined && endpoint.body !== undefined;
  const response = await client.request(`${endpoint.method.toUpperCase()} ${endpoint.path}`, {
    path,
    query: fillsBody ? {} : Object.fromEntries(given),
    body: fillsBody
      ? createBody(endpoint.body?.shape, given)
      : content && (await readContent(content, endpoint.body?.asText)),
  });
  const text = await response.text();
  if (text === '') return { text: `${id}\n` };
  return { text: `${text.trimEnd()}\n`, json: Object(tryParseJson(text) ?? { text }) };
}

async function readContent(content: string, mayBeYaml = false): Promise<object | string> {
  const file = content.startsWith('@') ? content.slice(1) : undefined;
  const text = file === undefined ? content : await readTextFile(file, 'ctl call', 'a file');
  const isJson = !mayBeYaml || /\.json$/i.test(file ?? '');
  const value = isJson ? parseJsonText(file ?? 'ctl call', text) : tryParseJson(text, parseInput);
  return typeof value === 'object' && value !== null ? value : text;
}

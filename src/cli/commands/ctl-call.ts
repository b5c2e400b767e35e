import type { ControlClient } from '../../client/control-client.ts';
import { tryParseJson } from '../../contract/json.ts';
import { ENDPOINTS } from '../../control/endpoints.ts';
import { suggest } from '../../words.ts';
import { readTextFile, refusal, UsageError } from '../command.ts';
import { createTable, parseJsonAssignments, type Result } from './ctl-tables.ts';

/** Calls an endpoint by its id: NAME=VALUE fills its path, then its body, or its query if it has none. */
export async function callEndpoint(
  client: ControlClient,
  [id, ...words]: readonly string[],
): Promise<Result> {
  if (id === undefined) {
    const rows = ENDPOINTS.map(({ id, method, path, summary }) => {
      return { id, method: method.toUpperCase(), path, summary };
    });
    return createTable(rows, 'id', 'method', 'path', 'summary');
  }
  const endpoint = ENDPOINTS.find((known) => known.id === id);
  if (endpoint === undefined) {
    const found =
      id +
      suggest(
        id,
        ENDPOINTS.map((known) => known.id),
      );
    throw refusal('ctl call', 'an operation that "ctl call" lists', found);
  }
  const content = words.find((word) => /^[@{[]/.test(word));
  const given = parseJsonAssignments(words.filter((word) => word !== content));
  const path: Record<string, string> = {};
  for (const [, name = ''] of endpoint.path.matchAll(/\{(\w+)\}/g)) {
    if (!(name in given)) throw new UsageError(`ctl call ${id} needs ${name}=VALUE`);
    path[name] = String(given[name]);
    delete given[name];
  }
  const fillsBody = content === undefined && endpoint.body !== undefined;
  const response = await client.request(`${endpoint.method.toUpperCase()} ${endpoint.path}`, {
    path,
    query: fillsBody ? {} : given,
    body: fillsBody ? given : content && (await readBody(content)),
  });
  const text = await response.text();
  if (text === '') return { text: `${id}\n` };
  return { text: `${text.trimEnd()}\n`, json: Object(tryParseJson(text) ?? { text }) };
}

async function readBody(content: string): Promise<object | string> {
  const isFile = content.startsWith('@');
  const text = isFile ? await readTextFile(content.slice(1), 'ctl call', 'a file') : content;
  const value = tryParseJson(text);
  return typeof value === 'object' && value !== null ? value : text;
}

import { describe, expect, test } from 'vitest';
import { ENDPOINTS } from '../../../src/core/control/endpoints.ts';
import { isObject } from '../../../src/core/json.ts';
import { describedBy } from '../../helpers/described.ts';
import { openMock } from '../../helpers/in-process.ts';
import type { Client } from '../../helpers/wire.ts';

async function documentAt({ send }: Client, path: string) {
  return JSON.parse((await send('GET', path)).text);
}

describe('the OpenAPI document of the control API', () => {
  test('is served by each sandbox with its own server URL', async () => {
    const client = await openMock();
    const whole = await documentAt(client, '/__mock/openapi.json');
    expect(whole.servers[0].url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/__mock$/);
    expect(Object.keys(whole.paths)).toEqual([...new Set(ENDPOINTS.map(({ path }) => path))]);
    const tags = whole.tags.map(({ name }: { name: string }) => name);
    expect(tags).toEqual([...new Set(tags)]);
    const other = await documentAt(client, '/~a/__mock/openapi.json');
    expect(other.servers[0].url).toMatch(/\/~a\/__mock$/);
    expect(Object.keys(other.paths)).not.toContain('/sandboxes');
  });

  test('names the fields in which `q` looks, also where it selects what is deleted', async () => {
    const { paths } = await documentAt(await openMock(), '/__mock/openapi.json');
    const searched = ({ parameters }: { parameters: { name: string; description: string }[] }) =>
      parameters.find(({ name }) => name === 'q')?.description;
    const names = paths['/inventory'].get.parameters.map((it: { name: string }) => it.name);
    expect(names.join()).toBe('petId,quantity,status,q,_sort,_order,_page,_limit');
    expect(searched(paths['/sandboxes'].delete)).toMatch(/ in name, in any case\.$/);
    expect(searched(paths['/inventory'].get)).toMatch(
      / in petId, quantity or status, in any case\.$/,
    );
  });

  test('gives each endpoint a unique operation id', () => {
    const ids = ENDPOINTS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });
});

test('every example request of both documents succeeds, in their order, with a reply as described', async () => {
  const client = await openMock();
  for (const [mount, path] of [
    ['/v1', '/__mock/service.openapi.json'],
    ['/__mock', '/__mock/openapi.json'],
  ] as const) {
    const document = await documentAt(client, path);
    const expectDescribed = describedBy(document);
    for (const { id, method, target, body, responses } of exampleRequests(document)) {
      const reply = await client.send(method, mount + target, { body });
      expect([id, reply.status < 300]).toEqual([id, true]);
      expectDescribed(id, responses, reply);
    }
  }
});

/** The example requests of a document, in its order; those of an exchange come before all are cleared. */
function exampleRequests({ paths }: { paths: object }) {
  const all = entriesOf(paths).flatMap(([path, item]) =>
    entriesOf(item).map(([method, operation]) => {
      const { operationId: id, parameters = [], requestBody, responses } = Object(operation);
      const query = new URLSearchParams();
      let target = path;
      for (const { name, in: place, example } of parameters) {
        if (place === 'path') target = target.replace(`{${name}}`, String(example));
        else if (place === 'query' && example !== undefined) query.set(name, String(example));
      }
      const body = Object(requestBody).content?.['application/json']?.example;
      return { id, method: method.toUpperCase(), target: `${target}?${query}`, body, responses };
    }),
  );
  // A server of plain HTTP has no certificate, and a stream does not end.
  const called = all.filter(({ id }) => id !== 'getCertificate' && id !== 'streamRequests');
  const isOfOne = ({ target }: (typeof called)[number]) => target.startsWith('/requests/1');
  return called.sort((a, b) => Number(isOfOne(b)) - Number(isOfOne(a)));
}

function entriesOf(value: unknown): [string, unknown][] {
  return isObject(value) ? Object.entries(value) : [];
}

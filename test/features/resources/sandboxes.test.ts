import { describe, expect, test } from 'vitest';
import { openMock } from '../../helpers/in-process.ts';
import type { Client } from '../../helpers/wire.ts';

/** The names of sandboxes that a query selects, in its order, and how many it says there are. */
async function list({ control }: Client, query = '') {
  const { json, headers } = await control(`GET sandboxes?${query}`);
  const names = Object(json).map((it: { name: string }) => it.name);
  return [...names, Number(headers['x-total-count'])];
}

describe('sandboxes in the control API', () => {
  test('share nothing', async () => {
    const { send, control } = await openMock();
    const [before] = [(await control('GET state')).text];
    for (const [call, body] of Object.entries({
      'PUT state': {},
      'PATCH assumptions': { 'invalid-input': '422' },
      'PUT clock': { now: '2031-01-01T00:00:00Z', frozen: true },
      'POST snapshots': { name: 'one' },
      'PUT scenario': { scenarios: ['outage'] },
    })) {
      const [method = '', path = ''] = call.split(' ');
      expect((await send(method, `/~a/__mock/${path}`, { body })).status).toBeLessThan(300);
    }
    expect((await send('GET', '/~a/v1/pets/1')).status).toBe(503);
    expect((await control('GET state')).text).toBe(before);
    expect((await control('GET status')).json).toMatchObject({
      scenarios: [],
      assumptions: [],
      clock: { real: true },
      latestExchange: 0,
    });
    expect((await control('GET snapshots')).json).toEqual([]);
  });

  test('are listed, created with a given or a random name, and anew once deleted', async () => {
    const client = await openMock();
    const { send, control } = client;
    expect(await control('POST sandboxes', { name: 'a' })).toMatchObject({
      status: 201,
      json: { name: 'a', service: '/~a/v1', control: '/~a/__mock', animals: 64, requests: 0 },
      headers: { location: '/~a/__mock' },
    });
    const { name } = Object((await control('POST sandboxes')).json);
    expect(await list(client)).toEqual(['default', 'staging', 'a', name, 4]);
    await send('PUT', '/~a/__mock/state', { body: {} });
    await control('DELETE sandboxes/a');
    expect(await list(client)).toEqual(['default', 'staging', name, 3]);
    expect((await send('GET', '/~a/v1/pets')).json).not.toEqual([]);
  });

  test('are searched, sorted, paged and deleted by what their list shows', async () => {
    const client = await openMock();
    const { send, control } = client;
    for (const name of ['ci-1', 'ci-20', 'mine']) await send('GET', `/~${name}/v1/pets`);
    await send('GET', '/~mine/v1/pets/1');
    const { json: mine } = await control('GET sandboxes?name=mine');
    expect(mine).toMatchObject([{ name: 'mine', requests: 2, findings: 1 }]);
    for (const [query, ...found] of [
      ['q=CI', 'ci-1', 'ci-20', 2],
      ['q=v1', 0],
      ['_sort=requests,name&_order=desc,asc&_limit=3', 'mine', 'ci-1', 'ci-20', 5],
      ['_sort=name&_page=2&_limit=2', 'default', 'mine', 5],
      ['requests=1&q=ci', 'ci-1', 'ci-20', 2],
      ['lastUsed=2020-01-01T00:00:00Z', 0],
    ]) {
      expect([query, await list(client, String(query))]).toEqual([query, found]);
    }
    const { json } = await control('GET sandboxes?_sort=lastUsed');
    const uses = Object(json).map((it: { lastUsed: string }) => it.lastUsed);
    expect(uses).toEqual(uses.toSorted());
    const remove = async (query: string) => (await control(`DELETE sandboxes?${query}`)).json;
    expect(await remove('name=mine&name=default&name=nobody')).toEqual({ deleted: ['mine'] });
    expect(await remove('q=CI-')).toEqual({ deleted: ['ci-1', 'ci-20'] });
    expect(await list(client)).toEqual(['default', 'staging', 2]);
  });

  test('are not created by calls whose input is refused, which need no room for one', async () => {
    const client = await openMock({ maxSandboxes: 0 });
    for (const [call, body] of [
      ['POST /~ghost/__mock/snapshots', '{bad'],
      ['POST /~ghost/__mock/snapshots', { name: 'a b' }],
      ['PUT /~ghost/__mock/clock', undefined],
      ['PATCH /~ghost/__mock/animals/%zz', { name: 'Rex' }],
    ] as const) {
      const [method = '', path = ''] = call.split(' ');
      const { status, json } = await client.send(method, path, { body });
      expect([call, status, Object(json).code]).toEqual([call, 400, 'invalid_input']);
    }
    expect(await list(client)).toEqual(['default', 'staging', 2]);
    const { status } = await client.send('POST', '/~ghost/__mock/snapshots', {
      body: { name: 'a' },
    });
    expect(status).toBe(503);
  });

  test('are not created by calls that no sandbox can answer, nor needed by the default one', async () => {
    const client = await openMock({ sandboxRequired: true });
    for (const [method, path, status, code] of [
      ['GET', '/v1/pets', 400, 'sandbox_required'],
      ['GET', '/~a/__mock/health', 200, undefined],
      ['GET', '/~a/__mock/status', 200, undefined], // to look at one creates none
      ['GET', '/~a/__mock/state', 200, undefined],
      ['GET', '/~a/__mock/nothing', 404, 'route_not_found'],
      ['POST', '/~a/__mock/state', 405, 'method_not_allowed'],
      ['GET', '/~a/__mock/sandboxes', 404, 'route_not_found'],
      ['GET', '/~a%20b/__mock/state', 400, 'sandbox_name_invalid'],
      ['GET', '/~/__mock/health', 400, 'sandbox_name_invalid'],
    ] as const) {
      const reply = await client.send(method, path);
      expect([path, reply.status, Object(reply.json).code]).toEqual([path, status, code]);
    }
    const like = { name: 'default', like: 'ghost' };
    expect(await client.control('POST sandboxes', like)).toMatchObject({ status: 409 });
    expect(await list(client)).toEqual(['default', 'staging', 2]);
    // Who looks at one sees its first call, whatever its key.
    expect(await client.send('GET', '/~a/v1/pets', { key: null })).toMatchObject({ status: 401 });
    const { json } = await client.send('GET', '/~a/__mock/requests');
    expect(json).toMatchObject({ total: 1 });
    expect(await list(client)).toEqual(['default', 'staging', 'a', 3]);
  });
});

describe('without a control API', () => {
  test.each(['', '/', '/state', '/openapi.json', '/service.openapi.json', '/nothing'])(
    '/__mock%s is answered like any unknown path',
    async (path) => {
      const { send } = await openMock({ noControl: true });
      for (const mount of ['/__mock', '/~a/__mock']) {
        const message = expect.stringContaining('the service has nothing at');
        const unknown = { status: 404, json: { code: 'route_not_found', message } };
        expect(await send('GET', mount + path)).toMatchObject(unknown);
      }
      expect(await send('GET', '/__mock/health')).toMatchObject({ status: 200 });
    },
  );
});

import { expect, test } from 'vitest';
import { type Client, describeServer } from '../helpers/wire.ts';

/** The names of sandboxes that a query selects, in its order, and how many it says there are. */
async function list({ control }: Client, query = '') {
  const { json, headers } = await control(`GET sandboxes?${query}`);
  const names = Object(json).map((it: { name: string }) => it.name);
  return [...names, Number(headers['x-total-count'])];
}

describeServer('sandboxes in the control API', (open) => {
  test('share nothing', async () => {
    const { send, control } = await open();
    const before = (await control('GET state')).text;
    const of = (name: string) => (method: string, path: string, body?: object) =>
      send(method, `/~${name}${path}`, { body });
    const [a, b] = [of('a'), of('b')];
    await a('PUT', '/__mock/state', {});
    await a('PATCH', '/__mock/assumptions', { 'invalid-input': '422' });
    await a('PUT', '/__mock/clock', { now: '2031-01-01T00:00:00Z', frozen: true });
    await a('POST', '/__mock/snapshots', { name: 'one' });
    await b('PUT', '/__mock/scenario', { scenarios: ['shipped-orders'] });
    expect((await a('GET', '/v1/pets')).json).toEqual([]);
    expect((await control('GET state')).text).toBe(before);
    expect((await control('GET clock')).json).toMatchObject({ real: true });
    expect((await control('GET snapshots')).json).toEqual([]);
    expect((await a('GET', '/__mock/scenario')).json).toEqual({ scenarios: [] });
    expect([await send('GET', '/v1/pets/x'), await a('GET', '/v1/pets/x')]).toMatchObject([
      { status: 400 },
      { status: 422 },
    ]);
    expect((await b('GET', '/__mock/requests')).json).toMatchObject({ total: 0 });
  });

  test('are listed, created with a given or a random name, and deleted', async () => {
    const client = await open();
    const { send, control } = client;
    const made = await control('POST sandboxes', { name: 'a' });
    expect(made).toMatchObject({
      status: 201,
      json: { name: 'a', service: '/~a/v1', control: '/~a/__mock', animals: 64, requests: 0 },
      headers: { location: '/~a/__mock' },
    });
    const { name, service } = Object((await control('POST sandboxes')).json);
    expect(await list(client)).toEqual(['default', 'staging', 'a', name, 4]);
    expect(await send('GET', `${service}/pets/1`)).toMatchObject({ status: 200 });
    await send('PUT', '/~a/__mock/state', { body: {} });
    expect(await control('DELETE sandboxes/a')).toMatchObject({ status: 204 });
    expect(await list(client)).toEqual(['default', 'staging', name, 3]);
    expect((await send('GET', '/~a/v1/pets')).json).not.toEqual([]);
  });

  test('are searched, sorted, paged and deleted by what their list shows', async () => {
    const client = await open();
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
      ['requests_gte=1&name_ne=mine', 'ci-1', 'ci-20', 2],
      ['lastUsed_lte=2020-01-01T00:00:00Z', 0],
    ]) {
      expect([query, await list(client, String(query))]).toEqual([query, found]);
    }
    const { json } = await control('GET sandboxes?_sort=lastUsed');
    const uses = Object(json).map((it: { lastUsed: string }) => it.lastUsed);
    expect(uses).toEqual(uses.toSorted());
    const remove = async (query: string) => (await control(`DELETE sandboxes?${query}`)).json;
    expect(await remove('name=mine&name=default&name=nobody')).toEqual({ deleted: ['mine'] });
    expect(await remove('name_like=CI-')).toEqual({ deleted: ['ci-1', 'ci-20'] });
    expect(await list(client)).toEqual(['default', 'staging', 2]);
  });

  test.each([
    ['GET', '/~a/__mock/sandboxes', 404, 'route_not_found'],
    ['POST', '/~a/__mock/sandboxes', 404, 'route_not_found'],
    ['GET', '/~a%20b/__mock/state', 400, 'sandbox_name_invalid'],
    ['GET', '/~/__mock/state', 400, 'sandbox_name_invalid'],
  ])('%s %s is answered with %i %s, and creates none', async (method, path, status, code) => {
    const client = await open();
    expect(await client.send(method, path)).toMatchObject({ status, json: { code } });
    expect(await list(client)).toEqual(['default', 'staging', 2]);
  });

  test('need no name for the default one, and are not created by health checks or unknown paths', async () => {
    const client = await open({ sandboxRequired: true });
    for (const [status, method, path] of [
      [400, 'GET', '/v1/pets'],
      [200, 'GET', '/~a/__mock/health'],
      [404, 'GET', '/~a/__mock/nothing'],
      [405, 'POST', '/~a/__mock/state'],
    ] as const) {
      expect([path, (await client.send(method, path)).status]).toEqual([path, status]);
    }
    expect(await list(client)).toEqual(['default', 'staging', 2]);
  });
});

describeServer('without a control API', (open) => {
  test.each(['', '/', '/state', '/openapi.json', '/service.openapi.json', '/nothing'])(
    '/__mock%s is answered like any unknown path',
    async (path) => {
      const { send } = await open({ noControl: true });
      for (const mount of ['/__mock', '/~a/__mock']) {
        const message = expect.stringContaining('the service has nothing at');
        const unknown = { status: 404, json: { code: 'route_not_found', message } };
        expect(await send('GET', mount + path)).toMatchObject(unknown);
      }
      expect(await send('GET', '/__mock/health')).toMatchObject({ status: 200 });
    },
  );
});

import { expect, test } from 'vitest';
import { describeServer } from '../helpers/wire.ts';

describeServer('sandboxes in the control API', (open) => {
  test('share nothing', async () => {
    const { send } = await open();
    const before = (await send('GET', '/__mock/state')).text;
    await send('PUT', '/~a/__mock/state', { body: {} });
    await send('PATCH', '/~a/__mock/assumptions', { body: { 'invalid-input': '422' } });
    await send('PUT', '/~a/__mock/clock', { body: { now: '2031-01-01T00:00:00Z', frozen: true } });
    await send('POST', '/~a/__mock/snapshots', { body: { name: 'one' } });
    await send('PUT', '/~b/__mock/scenario', { body: { scenarios: ['shipped-orders'] } });
    expect((await send('GET', '/~a/v1/pets')).json).toEqual([]);
    expect((await send('GET', '/__mock/state')).text).toBe(before);
    expect((await send('GET', '/__mock/clock')).json).toMatchObject({ real: true });
    expect((await send('GET', '/__mock/snapshots')).json).toEqual([]);
    expect((await send('GET', '/~a/__mock/scenario')).json).toEqual({ scenarios: [] });
    expect(await send('GET', '/v1/pets/x')).toMatchObject({ status: 400 });
    expect(await send('GET', '/~a/v1/pets/x')).toMatchObject({ status: 422 });
    expect((await send('GET', '/~b/__mock/requests')).json).toMatchObject({ total: 0 });
  });

  test('are listed, created with a given or a random name, and deleted', async () => {
    const { send } = await open();
    const names = async () =>
      Object((await send('GET', '/__mock/sandboxes')).json).map((it: { name: string }) => it.name);
    expect(await names()).toEqual(['default', 'staging']);
    const made = await send('POST', '/__mock/sandboxes', { body: { name: 'a' } });
    expect(made).toMatchObject({
      status: 201,
      json: { name: 'a', service: '/~a/v1', control: '/~a/__mock', animals: 64, requests: 0 },
    });
    expect(made.headers.location).toBe('/~a/__mock');
    const { json } = await send('POST', '/__mock/sandboxes');
    const { name, service } = Object(json);
    expect(await names()).toEqual(['default', 'staging', 'a', name]);
    expect(await send('GET', `${service}/pets/1`)).toMatchObject({ status: 200 });

    await send('PUT', '/~a/__mock/state', { body: {} });
    expect(await send('DELETE', '/__mock/sandboxes/a')).toMatchObject({ status: 204 });
    expect(await names()).toEqual(['default', 'staging', name]);
    expect((await send('GET', '/~a/v1/pets')).json).not.toEqual([]);
  });

  test('are searched, sorted, paged and deleted by what their list shows', async () => {
    const { send } = await open();
    for (const name of ['ci-1', 'ci-20', 'mine']) await send('GET', `/~${name}/v1/pets`);
    await send('GET', '/~mine/v1/pets/1');
    const list = async (query: string) => {
      const { json, headers } = await send('GET', `/__mock/sandboxes?${query}`);
      const names = Object(json).map((it: { name: string }) => it.name);
      return [...names, Number(headers['x-total-count'])];
    };
    const { json: mine } = await send('GET', '/__mock/sandboxes?name=mine');
    expect(mine).toMatchObject([{ name: 'mine', requests: 2, findings: 1 }]);
    expect(await list('q=CI')).toEqual(['ci-1', 'ci-20', 2]);
    expect(await list('q=v1')).toEqual([0]);
    expect(await list('_sort=requests,name&_order=desc,asc&_limit=3')).toEqual([
      'mine',
      'ci-1',
      'ci-20',
      5,
    ]);
    expect(await list('_sort=name&_page=2&_limit=2')).toEqual(['default', 'mine', 5]);
    expect(await list('requests_gte=1&name_ne=mine')).toEqual(['ci-1', 'ci-20', 2]);
    expect(await list('lastUsed_lte=2020-01-01T00:00:00Z')).toEqual([0]);
    const { json } = await send('GET', '/__mock/sandboxes?_sort=lastUsed');
    const uses = Object(json).map((it: { lastUsed: string }) => it.lastUsed);
    expect(uses).toEqual(uses.toSorted());
    const remove = (query: string) => send('DELETE', `/__mock/sandboxes?${query}`);
    expect((await remove('name=mine&name=default&name=nobody')).json).toEqual({
      deleted: ['mine'],
    });
    expect((await remove('name_like=CI-')).json).toEqual({ deleted: ['ci-1', 'ci-20'] });
    expect(await list('')).toEqual(['default', 'staging', 2]);
  });

  test.each([
    ['GET', '/~a/__mock/sandboxes', undefined, 404, 'route_not_found'],
    ['POST', '/~a/__mock/sandboxes', {}, 404, 'route_not_found'],
    ['GET', '/~a%20b/__mock/state', undefined, 400, 'sandbox_name_invalid'],
    ['GET', '/~/__mock/state', undefined, 400, 'sandbox_name_invalid'],
  ] as const)('%s %s %j is answered with %i %s', async (method, path, body, status, code) => {
    const { send } = await open();
    const reply = await send(method, path, body === undefined ? {} : { body });
    expect(reply).toMatchObject({ status, json: { code, status } });
    expect((await send('GET', '/__mock/sandboxes')).json).toHaveLength(2);
  });

  test('need no name for the default one, and are not created by health checks or unknown paths', async () => {
    const { send } = await open({ sandboxRequired: true });
    expect(await send('GET', '/v1/pets')).toMatchObject({ status: 400 });
    expect(await send('GET', '/~a/__mock/health')).toMatchObject({ status: 200 });
    expect(await send('GET', '/~a/__mock/nothing')).toMatchObject({ status: 404 });
    expect(await send('POST', '/~a/__mock/state')).toMatchObject({ status: 405 });
    expect((await send('GET', '/__mock/sandboxes')).json).toHaveLength(2);
  });
});

describeServer('without a control API', (open) => {
  test.each([
    '/__mock',
    '/__mock/',
    '/__mock/state',
    '/__mock/openapi.json',
    '/__mock/service.openapi.json',
    '/~a/__mock/state',
    '/__mock/nothing',
  ])('%s is answered like any unknown path', async (path) => {
    const { send } = await open({ noControl: true });
    const reply = await send('GET', path);
    const { json } = reply;
    expect(reply).toMatchObject({ status: 404, json: { code: 'route_not_found' } });
    expect(Object(json).message).toContain('the service has nothing at');
    expect(await send('GET', '/__mock/health')).toMatchObject({ status: 200 });
  });
});

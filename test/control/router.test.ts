import { describe, expect, test } from 'vitest';
import { ENDPOINTS } from '../../src/control/endpoints.ts';
import { describeBothWays } from '../helpers/wire.ts';

const PATHS = [...new Set(ENDPOINTS.map(({ path }) => path))];

describeBothWays('every path of the control API', (open) => {
  test.each(PATHS)('%s answers other methods with 405 and Allow', async (path) => {
    const { send } = await open();
    const target = `/__mock${path.replace('{id}', '1').replace('{name}', 'a')}`;
    const known = ENDPOINTS.filter((it) => it.path === path).map(({ method }) => method);
    const allow = known.flatMap((it) => (it === 'get' ? ['GET', 'HEAD'] : [it.toUpperCase()]));
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
      if (allow.includes(method)) continue;
      const reply = await send(method, target, { headers: { Origin: undefined } });
      expect(reply).toMatchObject({ status: 405, json: { code: 'method_not_allowed' } });
      expect(reply.headers.allow).toBe(allow.join(', '));
    }
  });

  test.each(['/__mock/', '/__mock/docs'])('%s, a page, does the same', async (path) => {
    const { send } = await open();
    const reply = await send('POST', path);
    expect(reply).toMatchObject({ status: 405, json: { code: 'method_not_allowed' } });
    expect(reply.headers.allow).toBe('GET, HEAD');
  });

  test.each(ENDPOINTS.filter(({ method, path }) => method === 'get' && !path.includes('{')))(
    'HEAD $path has the headers of GET and no body',
    async ({ path }) => {
      const { send } = await open({ clock: 1e12, frozen: true });
      const head = await send('HEAD', `/__mock${path}`);
      expect(head.text).toBe('');
      expect(head.headers['cache-control']).toBe('no-store');
      if (path.endsWith('/stream')) return;
      const { status, headers } = await send('GET', `/__mock${path}`);
      const { date: _, ...others } = headers;
      expect(head).toMatchObject({ status, headers: others });
    },
  );

  test.each(ENDPOINTS.filter(({ body }) => body !== undefined))(
    '$method $path accepts only JSON in UTF-8',
    async ({ method, path }) => {
      const { send } = await open();
      const before = (await send('GET', '/__mock/state')).text;
      const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
      for (const [status, sent] of [
        [415, { body: 'a=1', headers: form }],
        [415, { body: '{}', headers: { 'Content-Type': undefined } }],
        [415, { body: '{}', headers: { 'Content-Encoding': 'gzip' } }],
        [400, { body: '{"name":' }],
        [400, { body: Buffer.from([0x22, 0xff, 0x22]) }],
        [400, { body: '"\ud83d\ude00"' }],
        [400, { body: '['.repeat(200_000) }],
      ] as const) {
        const target = `/__mock${path.replace('{id}', '1')}`;
        const reply = await send(method.toUpperCase(), target, sent);
        expect(reply).toMatchObject({ status, json: { status, message: expect.any(String) } });
      }
      expect((await send('GET', '/__mock/state')).text).toBe(before);
    },
  );

  test('a form cannot call an endpoint, even one without a body', async () => {
    const { send } = await open();
    const headers = { 'Content-Type': 'text/plain' };
    expect(await send('POST', '/__mock/reset', { body: 'x', headers })).toMatchObject({
      status: 415,
    });
  });

  test('a body over the limit is refused', async () => {
    const { send } = await open();
    const body = { name: 'x'.repeat(1024 ** 2), categoryId: 1 };
    expect(await send('POST', '/__mock/animals', { body })).toMatchObject({
      status: 413,
      json: { code: 'body_too_large' },
    });
  });
});

describeBothWays('the control API', (open) => {
  describe.each(['/__mock', '/~a/__mock'])('%s', (mount) => {
    test.each([
      '/nothing',
      '/dashboard/nothing',
      '/dashboard/..%2findex.html',
      '/animals/1/2',
      '/%',
      '/State',
      '/%2e%2e',
    ])('answers %s with 404', async (path) => {
      const { send } = await open();
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const reply = await send(method, mount + path);
        expect(reply).toMatchObject({ status: 404, json: { code: 'route_not_found' } });
        expect(reply.headers['cache-control']).toBe('no-store');
        const message = `the control API has no ${mount}${path}; ${mount}/openapi.json lists its endpoints`;
        expect(reply.json).toMatchObject({ message });
      }
    });
  });

  test('never has CORS headers', async () => {
    const { send } = await open();
    const preflight = {
      Origin: 'http://evil.example',
      'Access-Control-Request-Method': 'PUT',
    };
    for (const [method, path] of [
      ['OPTIONS', '/__mock/state'],
      ['GET', '/__mock/state'],
      ['GET', '/__mock/nothing'],
      ['GET', '/__mock/health'],
      ['GET', '/~%E0%A4%A/__mock/state'],
    ] as const) {
      const { headers } = await send(method, path, { headers: preflight });
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  test.each(['GET', 'HEAD'])('guards everything but %s health', async (method) => {
    const { send } = await open();
    const headers = { Host: 'evil.example', Origin: 'null', 'Sec-Fetch-Site': 'cross-site' };
    const status = async (path: string) => (await send(method, path, { headers })).status;
    for (const path of ['/__mock/health', '/~a/__mock/health'])
      expect(await status(path)).toBe(200);
    for (const path of ['/state', '/nothing', '/health/state', '/healthy', '/Health']) {
      expect(await status(`/__mock${path}`)).toBe(403);
      expect(await status(`/~a/__mock${path}`)).toBe(403);
    }
  });
});

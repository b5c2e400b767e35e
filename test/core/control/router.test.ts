import { describe, expect, test } from 'vitest';
import { listEndpoints } from '../../../src/core/control/control-api.ts';
import { endpoint } from '../../../src/core/control/endpoint.ts';
import { ENDPOINTS } from '../../../src/core/control/endpoints.ts';
import { FEATURES } from '../../../src/features.ts';
import type { Feature } from '../../../src/server/feature.ts';
import { openMock } from '../../helpers/in-process.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];

/** The methods of each path of the control API, as `Allow` lists them. */
const PATHS = new Map<string, string>();
for (const { path, method } of ENDPOINTS) {
  const own = method === 'get' ? 'GET, HEAD' : method.toUpperCase();
  PATHS.set(path, [PATHS.get(path) ?? [], own].flat().join(', '));
}

test('an endpoint has a method that exists', () => {
  // @ts-expect-error The compiler refuses it too.
  const create = () => endpoint('getAll', 'GTE /all', { summary: '', replies: {} });
  expect(create).toThrow('GTE /all');
});

/** What no endpoint with a body accepts. */
const UNREADABLE = [
  [415, { body: 'a=1', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }],
  [415, { body: '{}', headers: { 'Content-Type': undefined } }],
  [415, { body: '{}', headers: { 'Content-Encoding': 'gzip' } }],
  [400, { body: '{"name":' }],
  [400, { body: Buffer.from([0x22, 0xff, 0x22]) }],
  [400, { body: '"\ud83d\ude00"' }],
  [400, { body: '['.repeat(200_000) }],
] as const;

describe('an endpoint that no feature of a build handles', () => {
  const named = (own: string) => FEATURES.filter(({ name }) => name === own);
  const left = (features: readonly Feature[]) => {
    const own = new Set(listEndpoints(features).map(({ id }) => id));
    return ENDPOINTS.filter(({ id }) => !own.has(id)).map(({ id }) => id);
  };

  test('is one of a feature of this build', () => {
    expect(left(FEATURES)).toEqual([]);
    expect(left(named('openapi'))).toEqual(expect.arrayContaining(['undo', 'listAnimals']));
    const others = FEATURES.filter(({ name }) => name !== 'openapi');
    expect(left(others)).toEqual(['getServiceDocument', 'getControlDocument']);
  });

  test('has the handlers that its feature names, and no others', async () => {
    for (const feature of FEATURES) {
      const own = left(FEATURES.filter((it) => it !== feature));
      expect(Object.keys((await feature.handlers?.load()) ?? {}).toSorted()).toEqual(
        own.toSorted(),
      );
    }
  });

  test('is not found, and in no document', async () => {
    const withoutTravel = await openMock({ features: named('openapi') });
    const undone = await withoutTravel.send('POST', '/__mock/undo');
    expect(undone).toMatchObject({ status: 404, json: { code: 'route_not_found' } });
    const document = await withoutTravel.control('GET openapi.json');
    expect(Object.keys(Object(document.json).paths)).not.toContain('/undo');
    const { send } = await openMock({ features: named('time-travel') });
    const message = 'the control API has no /__mock/openapi.json';
    expect(await send('GET', '/__mock/openapi.json')).toMatchObject({ json: { message } });
  });
});

describe('every path of the control API', () => {
  test('answers other methods with 405 and Allow', async () => {
    const { send } = await openMock();
    for (const [path, allow] of PATHS) {
      const target = `/__mock${path.replace('{id}', '1').replace('{name}', 'a')}`;
      for (const method of METHODS.filter((it) => !allow.split(', ').includes(it))) {
        const { status, json, headers } = await send(method, target);
        const { code } = Object(json);
        const refused = [path, 405, 'method_not_allowed', allow];
        expect([path, status, code, headers.allow]).toEqual(refused);
      }
    }
  });

  test('accepts only JSON in UTF-8', async () => {
    const { send, control } = await openMock();
    const before = (await control('GET state')).text;
    for (const { method, path } of ENDPOINTS.filter(({ body }) => body !== undefined)) {
      for (const [status, sent] of UNREADABLE) {
        const target = `/__mock${path.replace('{id}', '1')}`;
        const reply = await send(method.toUpperCase(), target, sent);
        expect(reply, target).toMatchObject({ status, json: { status } });
      }
    }
    expect((await control('GET state')).text).toBe(before);
  });

  test('refuses a form even where it takes no body, a large body, and a malformed path', async () => {
    const { send, control } = await openMock();
    const form = { body: 'x', headers: { 'Content-Type': 'text/plain' } };
    expect(await send('POST', '/__mock/reset', form)).toMatchObject({ status: 415 });
    const body = { name: 'x'.repeat(1024 ** 2), categoryId: 1 };
    const tooLarge = { status: 413, json: { code: 'body_too_large' } };
    expect(await control('POST animals', body)).toMatchObject(tooLarge);
    const error = { code: 'invalid_input', message: expect.stringContaining('percent-encoding') };
    expect(await send('GET', '/__mock/animals/%')).toMatchObject({ status: 400, json: error });
  });

  test.each(['/nothing', '/animals/1/2', '/%', '/State', '/%2e%2e'])(
    'answers %s with 404',
    async (path) => {
      const { send } = await openMock();
      for (const mount of ['/__mock', '/~a/__mock']) {
        const message = `the control API has no ${mount}${path}; ${mount}/openapi.json lists its endpoints`;
        for (const method of ['GET', 'POST', 'OPTIONS']) {
          expect(await send(method, mount + path)).toMatchObject({
            status: 404,
            json: { code: 'route_not_found', message },
            headers: { 'cache-control': 'no-store' },
          });
        }
      }
    },
  );

  test.each(['GET', 'HEAD'])('guards everything but %s health', async (method) => {
    const { send } = await openMock();
    const headers = { Host: 'evil.example', Origin: 'null', 'Sec-Fetch-Site': 'cross-site' };
    for (const mount of ['/__mock', '/~a/__mock']) {
      expect((await send(method, `${mount}/health`, { headers })).status).toBe(200);
      for (const path of ['/state', '/nothing', '/health/state', '/healthy', '/Health']) {
        expect((await send(method, mount + path, { headers })).status).toBe(403);
      }
    }
  });
});

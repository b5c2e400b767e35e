import request from 'supertest';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { GuardOptions } from '../../src/control/control-options.ts';
import { createGuard } from '../../src/control/guard.ts';
import { type ServerOptions, startServer } from '../../src/index.ts';

const LOOPBACK: GuardOptions = { token: undefined };
const OPEN: GuardOptions = { token: 'right-token' };

type Headers = Readonly<Record<string, string>>;

function statusOf(options: GuardOptions, headers: Headers): number | undefined {
  return createGuard(options)(headers)?.status;
}

/** The words of a text, for tables of one column. */
const words = (text: string): string[] => text.trim().split(/\s+/);

describe('on loopback', () => {
  test('calls to a loopback name or address are allowed', () => {
    const hosts = words(`
      localhost localhost:4010 LOCALHOST:4010 localhost. tenant.localhost:4010 127.0.0.1
      127.0.0.1:4010 127.255.3.4:80 [::1] [::1]:4010 [::ffff:127.0.0.1]:4010`);
    expect(hosts.filter((host) => statusOf(LOOPBACK, { host }) !== undefined)).toEqual([]);
    const options = { ...LOOPBACK, host: 'My-Machine.test' };
    expect(statusOf(options, { host: 'my-machine.test:4010' })).toBeUndefined();
  });

  test('calls to any other name, or to none, are refused', () => {
    const hosts = words(`
      evil.example evil.example:4010 notlocalhost 127.0.0.1.evil.example 128.0.0.1:4010 0.0.0.0:4010
      [::]:4010 [::2]:4010 [::ffff:10.0.0.1] localhost@evil.example .localhost :4010
      my-machine.test:4010`);
    for (const host of [...hosts, 'localhost, evil.example', '']) {
      expect([host, statusOf(LOOPBACK, { host })]).toEqual([host, 403]);
    }
    expect(statusOf(LOOPBACK, {})).toBe(403);
  });

  test.each([
    ['localhost:4010', 'http://localhost:4010', undefined],
    ['LOCALHOST:4010', 'http://localhost:4010', undefined],
    ['localhost:80', 'http://localhost', undefined],
    ['localhost', 'https://localhost', undefined],
    ['[::1]:4010', 'http://[::1]:4010', undefined],
    ['localhost:4010', 'http://evil.example', 403],
    ['localhost:4010', 'http://localhost', 403],
    ['localhost:4010', 'http://localhost:4011', 403],
    ['localhost:4010', 'http://127.0.0.1:4010', 403],
    ['localhost:4010', 'http://localhost:4010.evil.example', 403],
    ['localhost:4010', 'http://evil.example@localhost:4010', 403],
    ['localhost:4010', 'chrome-extension://localhost:4010', 403],
    ['localhost:4010', 'localhost:4010', 403],
    ['localhost:4010', 'null', 403],
    ['localhost:4010', '', 403],
  ])('a call to %s from a page of the origin %j gives %s', (host, origin, status) => {
    expect(statusOf(LOOPBACK, { host, origin })).toBe(status);
  });

  test.each([
    ['cross-site', 403],
    ['same-site', 403],
    ['same-origin, cross-site', 403],
    ['', 403],
    ['same-origin', undefined],
    ['none', undefined],
  ])('Sec-Fetch-Site: %j gives %s', (site, status) => {
    const headers = { host: 'localhost:4010', 'sec-fetch-site': site };
    expect(statusOf(LOOPBACK, headers)).toBe(status);
  });
});

describe('off loopback', () => {
  const host = 'petstore:4010';
  const authorization = 'Bearer right-token';
  const evil = 'http://evil.example';

  test.each<[string, Headers, number | undefined]>([
    ['the token in Authorization', { authorization }, undefined],
    ['a scheme in another case', { authorization: 'bearer right-token' }, undefined],
    ['the token in Mock-Control-Token', { 'mock-control-token': 'right-token' }, undefined],
    [
      'it beside a key of the service',
      { authorization: 'Bearer demo-key', 'mock-control-token': 'right-token' },
      undefined,
    ],
    ['the own origin', { authorization, origin: `http://${host}` }, undefined],
    ['no token', {}, 401],
    ['a wrong one', { authorization: 'Bearer wrong-token' }, 401],
    ['a shorter one', { authorization: 'Bearer right' }, 401],
    ['a longer one', { authorization: 'Bearer right-token-and-more' }, 401],
    ['an empty one', { 'mock-control-token': '' }, 401],
    ['another scheme', { authorization: 'Basic right-token' }, 401],
    ['no scheme', { authorization: 'right-token' }, 401],
    ['two at once', { 'mock-control-token': 'right-token, right-token' }, 401],
    ['a page of another site with the token', { authorization, origin: evil }, 403],
    ['a page without an origin', { authorization, origin: 'null' }, 403],
    ['a request from another site', { authorization, 'sec-fetch-site': 'cross-site' }, 403],
  ])('%s: %j gives %s', (_what, headers, status) => {
    expect(statusOf(OPEN, { host, ...headers })).toBe(status);
  });

  test('the token is enough without a Host', () => {
    expect(statusOf(OPEN, { authorization })).toBeUndefined();
  });
});

test.each([
  ['on loopback', {}, 403, 'Host: expected a loopback name such as localhost or 127.0.0.1'],
  ['off loopback', { host: '0.0.0.0', controlToken: 'right-token' }, 401, 'Mock-Control-Token'],
] as const)('a refusal %s is an Error, without CORS headers', async (_where, own, status, why) => {
  const options: ServerOptions = { port: 0, ...own };
  const { port, close } = await startServer(options);
  onTestFinished(close);
  const server = request(`http://127.0.0.1:${port}`);
  const reply = await server.get('/__mock/state').set('Host', 'evil.example');
  expect(reply.body).toMatchObject({ status, message: expect.stringContaining(why) });
  const challenge = status === 401 ? 'Bearer realm="petstore-mock control API"' : undefined;
  expect([reply.status, reply.headers['www-authenticate']]).toEqual([status, challenge]);
  const origin = { Origin: 'http://evil.example', 'Access-Control-Request-Method': 'PUT' };
  const form = { ...origin, 'Content-Type': 'text/plain' };
  const others = [
    await server.options('/__mock/state').set(origin),
    await server.post('/__mock/reset').set(form).send('{"x":1}'),
  ];
  for (const { status, headers, body } of others) {
    expect([status, body.code]).toEqual([403, 'forbidden']);
    expect(Object.keys(headers).filter((it) => it.startsWith('access-control-'))).toEqual([]);
  }
});

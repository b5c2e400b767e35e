import { describe, expect, test } from 'vitest';
import { createGuard, type GuardOptions } from '../../../src/server/http/guard.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { clientAt } from '../../helpers/wire.ts';

type Headers = Readonly<Record<string, string>>;

function statusOf(options: Partial<GuardOptions>, headers: Headers): number | undefined {
  return createGuard({ token: undefined, ...options })(headers)?.status;
}

/** The words of a text, for tables of one column. */
const words = (text: string): string[] => text.trim().split(/\s+/);

describe('on loopback', () => {
  test('calls to a loopback name or address are allowed, and to the name that the server was given', () => {
    const hosts = words(`
      localhost localhost:4010 LOCALHOST:4010 localhost. tenant.localhost:4010 127.0.0.1
      127.0.0.1:4010 127.255.3.4:80 [::1] [::1]:4010 [::ffff:127.0.0.1]:4010 my-machine.test:4010`);
    const refused = hosts.filter((host) => statusOf({ host: 'My-Machine.test' }, { host }));
    expect(refused).toEqual([]);
  });

  test('calls to any other name, or to none, are refused', () => {
    const hosts = words(`
      evil.example evil.example:4010 notlocalhost 127.0.0.1.evil.example 128.0.0.1:4010 0.0.0.0:4010
      [::]:4010 [::2]:4010 [::ffff:10.0.0.1] localhost@evil.example .localhost :4010
      my-machine.test:4010`);
    for (const host of [...hosts, 'localhost, evil.example', '']) {
      expect([host, statusOf({}, { host })]).toEqual([host, 403]);
    }
    expect(statusOf({}, {})).toBe(403);
  });

  test.each([
    ['localhost:4010', 'http://localhost:4010'],
    ['LOCALHOST:4010', 'http://localhost:4010'],
    ['localhost:80', 'http://localhost'],
    ['localhost', 'https://localhost'],
    ['[::1]:4010', 'http://[::1]:4010'],
  ])('a call to %s from a page of the origin %s is allowed', (host, origin) => {
    expect(statusOf({}, { host, origin })).toBeUndefined();
  });

  test('calls from pages of other origins are refused', () => {
    const host = 'localhost:4010';
    const origins = words(`
      http://evil.example http://localhost http://localhost:4011 http://127.0.0.1:4010
      http://localhost:4010.evil.example http://evil.example@localhost:4010
      chrome-extension://localhost:4010 localhost:4010 null`);
    for (const origin of [...origins, '']) {
      expect([origin, statusOf({}, { host, origin })]).toEqual([origin, 403]);
    }
    const sites = { 'cross-site': 403, 'same-site': 403, 'same-origin, cross-site': 403, '': 403 };
    for (const [site, status] of Object.entries({
      ...sites,
      'same-origin': undefined,
      none: undefined,
    })) {
      expect([site, statusOf({}, { host, 'sec-fetch-site': site })]).toEqual([site, status]);
    }
  });
});

test.each<[string, Headers, number | undefined]>([
  ['the token in Authorization', { authorization: 'Bearer right' }, undefined],
  ['a scheme in another case', { authorization: 'bearer right' }, undefined],
  [
    'the token beside a key',
    { authorization: 'Bearer key', 'mock-control-token': 'right' },
    undefined,
  ],
  ['no token', {}, 401],
  ['a wrong one', { authorization: 'Bearer wrong' }, 401],
  ['a shorter one', { authorization: 'Bearer r' }, 401],
  ['a longer one', { authorization: 'Bearer right-and-more' }, 401],
  ['an empty one', { 'mock-control-token': '' }, 401],
  ['another scheme', { authorization: 'Basic right' }, 401],
  ['no scheme', { authorization: 'right' }, 401],
  ['two at once', { 'mock-control-token': 'right, right' }, 401],
  ['another site with it', { 'mock-control-token': 'right', origin: 'http://evil.example' }, 403],
  ['no origin with it', { 'mock-control-token': 'right', origin: 'null' }, 403],
  ['cross-site with it', { 'mock-control-token': 'right', 'sec-fetch-site': 'cross-site' }, 403],
])('off loopback, %s: %j gives %s', (_what, headers, status) => {
  for (const host of [{ host: 'petstore:4010' }, {}]) {
    expect(statusOf({ token: 'right' }, { ...host, ...headers })).toBe(status);
  }
});

test.each([
  ['on loopback', {}, 403, 'Host: expected a loopback name such as localhost or 127.0.0.1'],
  ['off loopback', { host: '0.0.0.0', controlToken: 'right-token' }, 401, 'Mock-Control-Token'],
] as const)('a refusal %s is an Error, without CORS headers', async (_where, own, status, why) => {
  const { send } = clientAt((await serverFor(own)).port);
  const sent = { key: null, headers: { Host: 'evil.example' } };
  const reply = await send('GET', '/__mock/state', sent);
  expect(reply).toMatchObject({ status, json: { status, message: expect.stringContaining(why) } });
  const challenge = status === 401 ? 'Bearer realm="petstore-mock control API"' : undefined;
  expect(reply.headers['www-authenticate']).toBe(challenge);
  // A form needs no preflight.
  const headers = { Origin: 'http://evil.example', 'Content-Type': 'text/plain' };
  const form = await send('POST', '/__mock/reset', { body: '{"x":1}', headers });
  expect(form).toMatchObject({ status: 403, json: { code: 'forbidden' } });
  expect(Object.keys(form.headers).join()).not.toContain('access-control');
});

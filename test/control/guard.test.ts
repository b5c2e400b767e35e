import request from 'supertest';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createGuard } from '../../src/control/guard.ts';
import type { GuardOptions } from '../../src/control/parts.ts';
import { type ServerOptions, startServer } from '../../src/index.ts';

const LOOPBACK: GuardOptions = { loopback: true, token: undefined };
const OPEN: GuardOptions = { loopback: false, token: 'right-token' };

type Headers = Readonly<Record<string, string>>;

function statusOf(options: GuardOptions, headers: Headers) {
  return createGuard(options)(headers)?.status;
}

/** The origin of a server on loopback, or of one that other machines reach. */
async function serve(options: GuardOptions): Promise<string> {
  const { loopback, token: controlToken } = options;
  const open: ServerOptions = loopback ? {} : { host: '0.0.0.0', controlToken };
  const { port, close } = await startServer({ port: 0, ...open });
  onTestFinished(close);
  return `http://127.0.0.1:${port}`;
}

describe('on loopback', () => {
  test.each([
    'localhost',
    'localhost:4010',
    'LOCALHOST:4010',
    'localhost.',
    'tenant.localhost:4010',
    '127.0.0.1',
    '127.0.0.1:4010',
    '127.255.3.4:80',
    '[::1]',
    '[::1]:4010',
    '[::ffff:127.0.0.1]:4010',
  ])('allows a call to %s', (host) => {
    expect(statusOf(LOOPBACK, { host })).toBeUndefined();
  });

  test.each([
    'evil.example',
    'evil.example:4010',
    'notlocalhost',
    '127.0.0.1.evil.example',
    '128.0.0.1:4010',
    '0.0.0.0:4010',
    '[::]:4010',
    '[::2]:4010',
    '[::ffff:10.0.0.1]',
    'localhost@evil.example',
    'localhost/evil',
    'localhost, evil.example',
    '.localhost',
    ':4010',
    '',
  ])('refuses a call to %j', (host) => {
    expect(statusOf(LOOPBACK, { host })).toBe(403);
  });

  test('refuses a call without a Host', () => {
    expect(statusOf(LOOPBACK, {})).toBe(403);
  });

  test('allows a call to the host name that the server listens on', () => {
    const options = { ...LOOPBACK, host: 'My-Machine.test' };
    expect(statusOf(options, { host: 'my-machine.test:4010' })).toBeUndefined();
    expect(statusOf(LOOPBACK, { host: 'my-machine.test:4010' })).toBe(403);
  });

  test.each([
    ['localhost:4010', 'http://localhost:4010'],
    ['LOCALHOST:4010', 'http://localhost:4010'],
    ['localhost', 'http://localhost'],
    ['localhost:80', 'http://localhost'],
    ['localhost', 'https://localhost'],
    ['[::1]:4010', 'http://[::1]:4010'],
  ])('allows a page from %s with the origin %s', (host, origin) => {
    expect(statusOf(LOOPBACK, { host, origin })).toBeUndefined();
  });

  test.each([
    ['http://evil.example'],
    ['http://localhost'],
    ['http://localhost:4011'],
    ['http://127.0.0.1:4010'],
    ['http://localhost:4010.evil.example'],
    ['http://evil.example@localhost:4010'],
    ['chrome-extension://localhost:4010'],
    ['localhost:4010'],
    ['null'],
    [''],
  ])('refuses a page from %j', (origin) => {
    expect(statusOf(LOOPBACK, { host: 'localhost:4010', origin })).toBe(403);
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

  test.each([
    ['Authorization', { authorization: 'Bearer right-token' }],
    ['Authorization, its scheme in any case', { authorization: 'bearer right-token' }],
    ['Mock-Control-Token', { 'mock-control-token': 'right-token' }],
    [
      'Mock-Control-Token beside a key of the service',
      { authorization: 'Bearer demo-key', 'mock-control-token': 'right-token' },
    ],
  ])('accepts the token in %s, whatever the Host', (_where, headers: Headers) => {
    expect(statusOf(OPEN, { host, ...headers })).toBeUndefined();
    expect(statusOf(OPEN, headers)).toBeUndefined();
  });

  test.each([
    ['none', {}],
    ['a wrong one', { authorization: 'Bearer wrong-token' }],
    ['a shorter one', { authorization: 'Bearer right' }],
    ['a longer one', { authorization: 'Bearer right-token-and-more' }],
    ['an empty one', { 'mock-control-token': '' }],
    ['the right one in another scheme', { authorization: 'Basic right-token' }],
    ['the right one without a scheme', { authorization: 'right-token' }],
    ['two at once', { 'mock-control-token': 'right-token, right-token' }],
  ])('%s is refused', (_what, headers: Headers) => {
    expect(statusOf(OPEN, { host, ...headers })).toBe(401);
  });

  test('refuses every call if the server has no token', () => {
    const options = { loopback: false, token: undefined };
    expect(statusOf(options, { host, authorization: 'Bearer undefined' })).toBe(401);
    expect(statusOf(options, { host: 'localhost', authorization: 'Bearer ' })).toBe(401);
  });

  test('refuses a page of another site even with the right token', () => {
    const authorization = 'Bearer right-token';
    const origin = 'http://evil.example';
    expect(statusOf(OPEN, { host, authorization, origin })).toBe(403);
    expect(statusOf(OPEN, { host, authorization, origin: 'null' })).toBe(403);
    expect(statusOf(OPEN, { host, authorization, 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(statusOf(OPEN, { host, authorization, origin: `http://${host}` })).toBeUndefined();
  });
});

describe('on the wire', () => {
  const corsHeaders = (headers: object) =>
    Object.keys(headers).filter((name) => name.startsWith('access-control-'));

  test('DNS rebinding gets an Error', async () => {
    const reply = await request(await serve(LOOPBACK))
      .get('/__mock/state')
      .set('Host', 'evil.example');
    expect(reply.status).toBe(403);
    expect(reply.body).toEqual({
      code: 'forbidden',
      message:
        'Host: expected a loopback name such as localhost or 127.0.0.1, found "evil.example"',
      status: 403,
    });
    expect(reply.headers['www-authenticate']).toBeUndefined();
  });

  test('a form on another site gets an Error', async () => {
    const reply = await request(await serve(LOOPBACK))
      .post('/__mock/reset')
      .set({ Origin: 'http://evil.example', 'Content-Type': 'text/plain' })
      .send('{"x":1}');
    expect(reply.status).toBe(403);
    expect(reply.body).toMatchObject({ code: 'forbidden', status: 403 });
    expect(corsHeaders(reply.headers)).toEqual([]);
  });

  test('a preflight from another site is refused without CORS headers', async () => {
    for (const options of [LOOPBACK, OPEN]) {
      const reply = await request(await serve(options))
        .options('/__mock/state')
        .set({
          Origin: 'http://evil.example',
          'Access-Control-Request-Method': 'PUT',
          'Access-Control-Request-Headers': 'mock-control-token',
        });
      expect(reply.status).toBe(403);
      expect(corsHeaders(reply.headers)).toEqual([]);
    }
  });

  test('a missing token gets an Error that names the header and the scheme', async () => {
    const reply = await request(await serve(OPEN)).get('/__mock/state');
    expect(reply.status).toBe(401);
    expect(reply.headers['www-authenticate']).toBe('Bearer realm="petstore-mock control API"');
    expect(reply.body).toMatchObject({ code: 'unauthorized', status: 401 });
    expect(reply.body.message).toContain('Mock-Control-Token');
  });
});

import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { createListener, type ListenerOptions } from '../../src/http/listener.ts';
import { PendingResponses } from '../../src/http/pending-responses.ts';
import { createServiceHandler } from '../../src/http/service-handler.ts';
import { Sandboxes } from '../../src/sandbox/sandboxes.ts';
import { startOf } from '../../src/scenario/sandbox-start.ts';
import { type RunningServer, type ServerOptions, startServer } from '../../src/server.ts';
import { loadFixtureSync } from '../../src/store/fixture/load-fixture.ts';
import { EMPTY_STORE, type Store } from '../../src/store/store.ts';
import { closeRaw, openRaw, type RawReply, rawRequest } from '../helpers/raw.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  closeRaw();
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function start(options: ServerOptions = {}): Promise<RunningServer> {
  const server = await startServer({ ...options, port: 0 });
  closers.push(() => server.close());
  return server;
}

/** Starts a listener, and returns its port. */
async function listen(
  options: Pick<ListenerOptions, 'service'> & Partial<ListenerOptions>,
): Promise<number> {
  const { server, close } = createListener({
    loadApp: () => Promise.reject(new Error('there is no app')),
    sandbox: new Sandboxes(startOf({}, loadFixtureSync('default'), [])).default,
    plain: false,
    pending: new PendingResponses(),
    ...options,
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  closers.push(close);
  const address = server.address();
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}

/** Sends one request over a new connection. */
async function ask(port: number, request: string | Buffer, method = 'GET'): Promise<RawReply> {
  const connection = await openRaw(port);
  connection.send(request);
  const reply = await connection.reply(method);
  connection.socket.destroy();
  return reply;
}

async function askAlone(
  options: ServerOptions,
  method: string,
  target: string,
  headers?: Readonly<Record<string, string | undefined>>,
  body?: string,
): Promise<RawReply> {
  const { port } = await start(options);
  return ask(port, rawRequest(method, target, headers, body), method);
}

function post(body: string, headers: Readonly<Record<string, string | undefined>> = {}): string {
  const length = String(Buffer.byteLength(body));
  const all = { 'Content-Type': 'application/json', 'Content-Length': length, ...headers };
  return rawRequest('POST', '/v1/pets', all, body);
}

/** Says that a reply is an Error, and that its status is the one in it. */
function expectError(reply: RawReply, status: number, code: string): void {
  expect(reply.status).toBe(status);
  expect(reply.headers['content-type']).toMatch(/^application\/json/);
  expect(JSON.parse(reply.body)).toEqual({ code, status, message: expect.stringMatching(/./) });
}

/** What a server that is well answers. */
async function expectWell(port: number): Promise<void> {
  const { status } = await ask(port, rawRequest('GET', '/v1/pets/1'));
  expect(status).toBe(200);
}

const MIB = 1024 * 1024;
const REX = '{"name":"Rex","categoryId":1}';
const ORIGIN = { Origin: 'https://app.example' };

describe('HEAD', () => {
  test.each([
    ['/v1/pets', {}, 200],
    ['/v1/pets/1', {}, 200],
    ['/v1/pets', { Authorization: undefined }, 401],
    ['/v1/nothing', {}, 404],
  ])('HEAD %s returns the headers of GET and no body (%o: %i)', async (target, headers, status) => {
    const { port } = await start();
    const connection = await openRaw(port);
    connection.send(rawRequest('GET', target, headers));
    const get = await connection.reply();
    connection.send(rawRequest('HEAD', target, headers));
    const head = await connection.reply('HEAD');
    connection.send(rawRequest('GET', target, headers));

    expect((await connection.reply()).body).toBe(get.body);
    expect(head.status).toBe(status);
    const changing = { date: expect.any(String), 'mock-basis': expect.any(String) };
    expect(head.headers).toEqual({ ...get.headers, ...changing });
  });
});

describe('OPTIONS and CORS', () => {
  test.each([
    ['/v1/pets', 'GET, HEAD, POST, OPTIONS'],
    ['/v1/pets/1', 'GET, HEAD, OPTIONS'],
    ['/v1/inventory/1', 'PATCH, OPTIONS'],
    ['/v1/store/orders/1', 'DELETE, OPTIONS'],
  ])('OPTIONS %s lists the allowed methods without a key', async (target, allow) => {
    const reply = await askAlone({}, 'OPTIONS', target, { Authorization: undefined });
    expect(reply.status).toBe(204);
    expect(reply.headers.allow).toBe(allow);
    expect(reply.headers).not.toHaveProperty('content-length');
    expect(reply.headers).not.toHaveProperty('access-control-allow-methods');
  });

  const preflight = {
    ...ORIGIN,
    Authorization: undefined,
    'Access-Control-Request-Method': 'PATCH',
    'Access-Control-Request-Headers': 'authorization, content-type',
  };

  test('a preflight reply lists the allowed methods and headers', async () => {
    const reply = await askAlone({}, 'OPTIONS', '/v1/inventory/1', preflight);
    expect(reply.status).toBe(204);
    expect(reply.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'PATCH, OPTIONS',
      'access-control-allow-headers': 'authorization, content-type',
    });
  });

  test.each([200, 401])('a page of another origin may read a reply (%i)', async (status) => {
    const key = status === 200 ? 'Bearer demo-key' : undefined;
    const reply = await askAlone({}, 'GET', '/v1/pets', { ...ORIGIN, Authorization: key });
    expect(reply.status).toBe(status);
    expect(reply.headers['access-control-allow-origin']).toBe('*');
    expect(reply.headers['access-control-expose-headers']).toContain('Mock-Basis');
  });

  test('with cors=absent neither a preflight nor a reply has CORS headers', async () => {
    const { port } = await start({ assume: { cors: 'absent' } });
    const replies = [
      await ask(port, rawRequest('OPTIONS', '/v1/inventory/1', preflight)),
      await ask(port, rawRequest('GET', '/v1/pets', ORIGIN)),
    ];
    expect(replies.map(({ status }) => status)).toEqual([204, 200]);
    const names = replies.flatMap(({ headers }) => Object.keys(headers));
    expect(names.filter((name) => name.startsWith('access-control-'))).toEqual([]);
  });
});

describe('paths and methods', () => {
  test.each([
    '/v1',
    '/v1/',
    '/v1/nothing',
    '/v1/pets/1/2',
    '/v1/pets/',
    '/pets',
    '/~nobody/pets',
    '/v1/%E0%A4%A',
    '/foo%',
    '/__mock/nothing',
    '/__mock/%E0%A4%A',
    '*',
  ])('GET %s returns 404', async (target) => {
    expectError(await askAlone({}, 'GET', target), 404, 'route_not_found');
  });

  test.each([
    ['/pets', '/v1/pets'],
    ['/v1/pets/', '/v1/pets'],
    ['/v1/PETS/7', '/v1/pets/7'],
    ['/v1/orders', '/v1/store/orders'],
    ['/api/v1/pets/1', '/v1/pets/1'],
    ['/v1/pet/7', '/v1/pets/7'],
    ['/v1/invetory', '/v1/inventory'],
    ['/~one/orders', '/~one/v1/store/orders'],
    ['/v1/customers', undefined],
    ['/v1/1', undefined],
    [`/v1/${'pet'.repeat(2_000)}`, undefined],
  ])('the 404 for %s suggests %s', async (target, meant) => {
    const { body } = await askAlone({}, 'GET', target);
    const { message } = JSON.parse(body);
    const [, suggested] = /\(did you mean (.*)\?\)$/.exec(message) ?? [];
    expect(suggested).toBe(meant);
  });

  test.each([
    ['DELETE', '/v1/pets', 'GET, HEAD, POST, OPTIONS'],
    ['GET', '/v1/inventory/1', 'PATCH, OPTIONS'],
    ['HEAD', '/v1/inventory/1', 'PATCH, OPTIONS'],
    ['PROPFIND', '/v1/store/orders', 'GET, HEAD, OPTIONS'],
  ])('%s %s returns 405 with the allowed methods', async (method, target, allow) => {
    const reply = await askAlone({}, method, target);
    expect(reply.status).toBe(405);
    expect(reply.headers.allow).toBe(allow);
    if (method !== 'HEAD') expectError(reply, 405, 'method_not_allowed');
  });

  test.each([
    'http://localhost/v1/pets/1',
    'HTTP://example.com:80/v1/pets/1',
    '/v1/pets/%31',
    '/v1/pets/1?',
  ])('GET %s returns animal 1', async (target) => {
    const reply = await askAlone({}, 'GET', target);
    expect(reply.status).toBe(200);
    expect(JSON.parse(reply.body)).toMatchObject({ id: 1 });
  });

  test.each(['/v1/pets/%', '/v1/pets/%E0%A4%A', '/v1/pets/1%2F2', '/v1/pets/%00'])(
    '%s is a malformed id',
    async (target) => {
      expectError(await askAlone({}, 'GET', target), 400, 'invalid_input');
    },
  );

  test('CONNECT is not allowed, and the connection is closed', async () => {
    const { port } = await start();
    const connection = await openRaw(port);
    connection.send('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
    const reply = await connection.reply();
    expectError(reply, 405, 'method_not_allowed');
    expect(reply.headers).toHaveProperty('allow');
    expect(await connection.rest()).toBe('');
  });

  test('CONNECT behind a pending reply closes the connection', async () => {
    const { port } = await start({ animals: 100_000 });
    const connection = await openRaw(port);
    const connect = 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n';
    connection.send(rawRequest('GET', '/v1/inventory') + connect);
    await connection.rest();
    await expectWell(port);
  });
});

describe('bodies', () => {
  test('a Content-Length over the limit is refused before the body arrives', async () => {
    const reply = await askAlone({}, 'POST', '/v1/pets', {
      'Content-Type': 'application/json',
      'Content-Length': String(MIB + 1),
    });
    expectError(reply, 413, 'body_too_large');
  });

  test('a body of exactly the limit is accepted', async () => {
    const { port } = await start();
    const padded = REX.padEnd(MIB);
    expect((await ask(port, post(padded))).status).toBe(201);
  });

  test('a chunked body over the limit is refused and its rest is discarded', async () => {
    const { port } = await start();
    const connection = await openRaw(port);
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    const headers = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
    connection.send(rawRequest('POST', '/v1/pets', headers) + chunk.repeat(17));
    expectError(await connection.reply(), 413, 'body_too_large');

    connection.send(`${chunk.repeat(3)}0\r\n\r\n${rawRequest('GET', '/v1/pets/1')}`);
    expect((await connection.reply()).status).toBe(200);
  });

  test.each<[string, Readonly<Record<string, string | undefined>>]>([
    ['no Content-Type', { 'Content-Type': undefined }],
    ['text/plain', { 'Content-Type': 'text/plain' }],
    ['another charset', { 'Content-Type': 'application/json; charset=iso-8859-1' }],
    ['a Content-Encoding', { 'Content-Encoding': 'gzip' }],
  ])('a body with %s returns 415', async (_name, headers) => {
    const { port } = await start();
    expectError(await ask(port, post(REX, headers)), 415, 'unsupported_media_type');
  });

  test.each(['application/json; charset=UTF-8', 'application/json;charset="utf-8"'])(
    'a body of type %s is accepted',
    async (type) => {
      const { port } = await start();
      expect((await ask(port, post(REX, { 'Content-Type': type }))).status).toBe(201);
    },
  );

  test.each<[string, string]>([
    ['not JSON', '{"name":'],
    ['nested 100,000 deep', '['.repeat(100_000)],
    ['an array', `[${REX}]`],
    ['empty', ''],
  ])('a body that is %s returns 400', async (_name, body) => {
    const { port } = await start();
    expectError(await ask(port, post(body)), 400, 'invalid_input');
    await expectWell(port);
  });

  test('a body that is not UTF-8 returns 400', async () => {
    const { port } = await start();
    const body = Buffer.from('{"name":"R\xe9x","categoryId":1}', 'latin1');
    const head = post('', { 'Content-Length': String(body.length) });
    const reply = await ask(port, Buffer.concat([Buffer.from(head), body]));
    expectError(reply, 400, 'invalid_input');
    expect(JSON.parse(reply.body).message).toContain('UTF-8');
  });

  test('a body on an operation without one is ignored', async () => {
    const { port } = await start();
    const connection = await openRaw(port);
    const body = 'x'.repeat(100_000);
    connection.send(rawRequest('GET', '/v1/pets/1', { 'Content-Length': '100000' }, body));
    connection.send(rawRequest('GET', '/v1/pets/2'));
    const ids = (await connection.replies(2)).map((reply) => JSON.parse(reply.body).id);
    expect(ids).toEqual([1, 2]);
  });
});

describe('Expect: 100-continue', () => {
  const expecting = (length: number): string =>
    post('', { 'Content-Length': String(length), Expect: '100-continue' });

  test('100 Continue comes before the reply', async () => {
    const { port } = await start();
    const connection = await openRaw(port);
    connection.send(expecting(REX.length));
    expect(await connection.reply()).toMatchObject({ status: 100, body: '' });
    connection.send(REX);
    expect((await connection.reply()).status).toBe(201);
    connection.send(rawRequest('GET', '/v1/pets/1'));
    expect((await connection.reply()).status).toBe(200);
  });
});

describe('anything but HTTP', () => {
  test.each<[string, string]>([
    ['words', 'hello there\r\n\r\n'],
    ['a TLS handshake', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
    ['a header without a colon', 'GET /v1/pets HTTP/1.1\r\nHost localhost\r\n\r\n'],
    [
      'two Content-Length headers',
      'POST /v1/pets HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
    ],
    [
      'Content-Length and chunks',
      'POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
    ['no such method', 'FETCH /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n'],
    [
      'a broken chunk',
      'POST /v1/pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n',
    ],
    ['no Host', 'GET /v1/pets HTTP/1.1\r\nAuthorization: Bearer demo-key\r\n\r\n'],
  ])('%s returns an Error and closes the connection', async (_name, bytes) => {
    const { port } = await start();
    const connection = await openRaw(port);
    connection.send(Buffer.from(bytes, 'latin1'));
    const reply = await connection.reply();
    expectError(reply, 400, 'invalid_input');
    expect(reply.headers.connection).toBe('close');
    expect(await connection.rest()).toBe('');
    await expectWell(port);
  });

  test.each<[string, number, string, string]>([
    ['HTTP/2.0', 505, 'http_version_not_supported', 'GET /v1/pets/1 HTTP/2.0\r\nHost: a\r\n\r\n'],
    ['HTTP/0.9', 505, 'http_version_not_supported', 'GET /v1/pets/1 HTTP/0.9\r\nHost: a\r\n\r\n'],
    [
      'a body in another coding',
      501,
      'transfer_coding_not_implemented',
      `${rawRequest('POST', '/v1/pets', { 'Transfer-Encoding': 'gzip, chunked' })}0\r\n\r\n`,
    ],
  ])('%s returns %i and closes the connection', async (_name, status, code, bytes) => {
    const { port } = await start();
    const connection = await openRaw(port);
    connection.send(bytes);
    const reply = await connection.reply();
    expectError(reply, status, code);
    expect(reply.headers.connection).toBe('close');
    expect(await connection.rest()).toBe('');
  });

  test.each<[string, string]>([
    ['headers', rawRequest('GET', '/v1/pets', { 'X-Long': 'x'.repeat(20_000) })],
    ['a target', rawRequest('GET', `/v1/pets?${'x'.repeat(20_000)}`)],
  ])('%s over 16 KiB returns 431 and closes the connection', async (_name, bytes) => {
    const { port } = await start();
    const connection = await openRaw(port);
    connection.send(bytes);
    expectError(await connection.reply(), 431, 'request_header_fields_too_large');
    expect(await connection.rest()).toBe('');
  });

  test('an HTTP/1.0 reply has no chunks and closes the connection', async () => {
    const { port } = await start({ animals: 5_000 });
    const connection = await openRaw(port);
    connection.send('GET /v1/inventory HTTP/1.0\r\nAuthorization: Bearer demo-key\r\n\r\n');
    await connection.rest();
    const reply = await connection.reply();
    expect(reply.status).toBe(200);
    expect(reply.headers).not.toHaveProperty('transfer-encoding');
    expect(JSON.parse(reply.body)).toHaveLength(5_000);
  });
});

describe('another protocol', () => {
  test.each<[string, string, string]>([
    [
      'a TLS handshake',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
      'http:// instead of https://',
    ],
    ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'turn HTTP/2 off'],
  ])('%s is reported once, with the remedy', async (_name, bytes, cure) => {
    const notices: string[] = [];
    const { port } = await start({ onNotice: (message) => notices.push(message) });
    for (const _attempt of [1, 2]) {
      const connection = await openRaw(port);
      connection.send(Buffer.from(bytes, 'latin1'));
      await connection.rest();
    }
    expect(notices).toEqual([expect.stringContaining(cure)]);
  });
});

describe('a client that sends all of its last request before it reads', () => {
  test('gets the reply that refuses the body', async () => {
    const { port } = await start();
    const { socket, reply } = await openRaw(port);
    socket.pause();
    const size = 16 * MIB;
    const head = post('', { 'Content-Length': String(size), Connection: 'close' });
    const bytes = Buffer.concat([Buffer.from(head), Buffer.alloc(size, ' ')]);
    expect(await new Promise((resolve) => socket.write(bytes, resolve))).toBeFalsy();
    socket.resume();
    expectError(await reply(), 413, 'body_too_large');
  });
});

describe('slow clients', () => {
  const timeouts = { headers: 100, idle: 150 };

  test('a connection that has sent nothing is closed without a reply', async () => {
    const { port } = await start({ timeouts });
    const connection = await openRaw(port);
    expect(await connection.rest()).toBe('');
    expect(connection.socket.errored).toBe(null);
  });

  test.each<[string, string]>([
    ['stops in its headers', 'GET /v1/pets HTTP/1.1\r\nHost: loc'],
    ['stops in its body', post('{"na', { 'Content-Length': '29' })],
    [
      'stops between chunks',
      `${rawRequest('POST', '/v1/pets', { 'Transfer-Encoding': 'chunked' })}2\r\n{"\r\n`,
    ],
  ])('a client that %s gets 408 and its connection is closed', async (_name, bytes) => {
    const { port } = await start({ timeouts });
    const connection = await openRaw(port);
    connection.send(bytes);
    const reply = await connection.reply();
    expectError(reply, 408, 'request_timeout');
    expect(reply.headers.connection).toBe('close');
    expect(await connection.rest()).toBe('');
    await expectWell(port);
  });
});

describe('idle clients', () => {
  test('an idle connection is closed, one that waits for a reply is not', async () => {
    const { port } = await start({ timeouts: { idle: 15 }, scenarios: ['slow'] });
    const connection = await openRaw(port);
    // The scenario holds this back for far longer than a connection may be idle.
    connection.send(rawRequest('GET', '/v1/pets/3'));
    expect((await connection.reply()).status).toBe(200);
    expect(await connection.rest()).toBe('');
    await expectWell(port);
  });
});

describe('connections', () => {
  const idsOf = (replies: readonly RawReply[]): number[] =>
    replies.map(({ body }) => JSON.parse(body).id);
  const first50 = Array.from({ length: 50 }, (_, index) => index + 1);

  test('50 pipelined requests are answered in order', async () => {
    const { port } = await start();
    const connection = await openRaw(port);
    connection.send(first50.map((id) => rawRequest('GET', `/v1/pets/${id}`)).join(''));
    expect(idsOf(await connection.replies(50))).toEqual(first50);
  });

  test.each<[string, string, number]>([
    ['the client asked to be', rawRequest('GET', '/v1/pets/1', { Connection: 'close' }), 200],
    ['an HTTP/1.0 client asked to be', 'GET /v1/pets/1 HTTP/1.0\r\n\r\n', 401],
  ])('after a reply that %s the last, further requests are ignored', async (_how, last, status) => {
    const server = await start();
    const cancel = rawRequest('DELETE', '/v1/store/orders/1');
    for (const behind of [cancel, 'garbage\r\n\r\n', cancel + cancel]) {
      const connection = await openRaw(server.port);
      connection.send(last + behind);
      const reply = await connection.reply();
      expect(reply.status).toBe(status);
      expect(reply.headers.connection).toBe('close');
      expect(await connection.rest()).toBe('');
      expect(connection.socket.errored).toBe(null);
    }
    // Fails if the ignored request had cancelled the order.
    expect((await ask(server.port, cancel)).status).toBe(204);
  });

  test.each<[string, (port: number) => Promise<void>]>([
    [
      'its headers',
      async (port) => {
        const { socket, send } = await openRaw(port);
        send('GET /v1/pets HTT');
        socket.resetAndDestroy();
        await once(socket, 'close');
      },
    ],
    [
      'its body',
      async (port) => {
        const { socket, send, reply } = await openRaw(port);
        send(post('', { 'Content-Length': '29', Expect: '100-continue' }));
        await reply();
        send('{"name"');
        socket.resetAndDestroy();
        await once(socket, 'close');
      },
    ],
    [
      'a streamed reply',
      async (port) => {
        const { socket, send } = await openRaw(port);
        send(rawRequest('GET', '/v1/inventory'));
        await once(socket, 'data');
        socket.resetAndDestroy();
        await once(socket, 'close');
      },
    ],
  ])('the server survives a client that disconnects in the middle of %s', async (_name, leave) => {
    const { port } = await start({ animals: 100_000 });
    await Promise.all([leave(port), leave(port), leave(port)]);
    await expectWell(port);
    const [reply] = await Promise.all([
      ask(port, rawRequest('GET', '/v1/inventory')),
      expectWell(port),
    ]);
    expect(JSON.parse(reply.body)).toHaveLength(100_000);
  });
});

describe('Host', () => {
  test.each([
    ['two of them', 'Host: localhost\r\nhost: localhost\r\n'],
    ['one with a space', 'Host: local host\r\n'],
    ['one with a path', 'Host: localhost/v1\r\n'],
    ['one with a user', 'Host: me@localhost\r\n'],
  ])('%s is refused', async (_what, lines) => {
    const { port } = await start();
    const reply = await ask(port, `GET /v1/pets HTTP/1.1\r\n${lines}\r\n`);
    expectError(reply, 400, 'invalid_input');
  });

  test.each(['localhost', 'LOCALHOST:80', '127.0.0.1:', '[::1]:4010', 'a_b.example', ''])(
    '%j is accepted',
    async (host) => {
      const reply = await askAlone({}, 'GET', '/v1/pets', { Host: host });
      expect(reply.status).toBe(200);
    },
  );
});

describe('an internal error', () => {
  /** A store whose records cannot be read. */
  function brokenSandboxes(): Sandboxes {
    const fail = (): never => {
      throw new Error('the store is broken');
    };
    const broken: Store = {
      get animals() {
        return fail();
      },
      get inventory() {
        return fail();
      },
      orders: EMPTY_STORE.orders,
    };
    return new Sandboxes({ ...startOf({}, EMPTY_STORE, []), store: broken });
  }

  async function startBroken(loadApp?: () => Promise<RequestListener>): Promise<number> {
    const sandboxes = brokenSandboxes();
    const service = createServiceHandler({
      sandboxes,
      plain: false,
      pending: new PendingResponses(),
    });
    const app: RequestListener = (request, response) => service(request, response);
    return listen({ service, sandbox: sandboxes.default, loadApp: loadApp ?? (async () => app) });
  }

  test.each(['/v1/pets/1', '/v1/pets', '/v1/inventory', 'http://localhost/v1/inventory'])(
    '%s gets an Error, and the next request is answered',
    async (target) => {
      const port = await startBroken();
      const warned = once(process, 'warning');
      const connection = await openRaw(port);
      connection.send(rawRequest('GET', target));
      expectError(await connection.reply(), 500, 'internal_error');
      expect((await warned).map(String)).toEqual([expect.stringContaining('the store is broken')]);
      connection.send(rawRequest('GET', '/v1/store/orders'));
      expect(await connection.reply()).toMatchObject({ status: 200, body: '[]' });
    },
  );

  const upstream = 'http://127.0.0.1:1/v1';
  test.each<[string, number, ServerOptions, string]>([
    ['once its body has arrived', 201, {}, post(REX)],
    ['as it prefers', 404, {}, rawRequest('GET', '/v1/pets/1', { Prefer: 'code=404' })],
    ['after a delay', 200, { delay: 1 }, rawRequest('GET', '/v1/pets/1')],
    ['of an upstream', 502, { upstream }, rawRequest('GET', '/v1/pets/1')],
    [
      'of an upstream with a body',
      502,
      { upstream },
      rawRequest('POST', '/v1/pets', { 'Content-Length': String(REX.length) }, REX),
    ],
  ])(
    'in an observer is a warning, and a request that is answered %s has its reply',
    async (_, status, options, request) => {
      const observe = (): never => {
        throw new Error('the observer is broken');
      };
      const { port } = await start({ ...options, observe });
      const warned = once(process, 'warning');
      expect((await ask(port, request)).status).toBe(status);
      expect((await warned).map(String)).toEqual([expect.stringContaining('observer is broken')]);
    },
  );

  test('an app that does not load gets an Error, and is loaded again for the next request', async () => {
    let loads = 0;
    const port = await startBroken(async () => {
      loads += 1;
      if (loads === 1) throw new Error('there is no Express');
      return (_request, response) => response.end('loaded');
    });
    const warned = once(process, 'warning');
    expectError(await ask(port, rawRequest('GET', '/__mock/health')), 500, 'internal_error');
    await warned;
    expect((await ask(port, rawRequest('GET', '/v1/store/orders'))).status).toBe(200);
    expect((await ask(port, rawRequest('GET', '/__mock/health'))).body).toBe('loaded');
  });
});

import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startServer } from '../../src/server.ts';
import { serverFor } from '../helpers/deployment.ts';
import { closeRaw, openRaw, type RawReply, rawRequest } from '../helpers/raw.ts';

afterEach(closeRaw);

/** Sends one request over a new connection. */
async function ask(port: number, request: string | Buffer, method = 'GET'): Promise<RawReply> {
  const connection = await openRaw(port);
  connection.send(request);
  const reply = await connection.reply(method);
  connection.socket.destroy();
  return reply;
}

function post(body: string, headers: Readonly<Record<string, string | undefined>> = {}): string {
  const length = String(Buffer.byteLength(body));
  const all = { 'Content-Type': 'application/json', 'Content-Length': length, ...headers };
  return rawRequest('POST', '/v1/pets', all, body);
}

const MIB = 1024 * 1024;
const REX = '{"name":"Rex","categoryId":1}';
const CHUNKED = { 'Transfer-Encoding': 'chunked' };
const KEYLESS = { Authorization: undefined };
const CONNECT = 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n';
const LATIN1 = Buffer.from('{"name":"R\xe9x","categoryId":1}', 'latin1');

const get = (target: string, headers = {}): string => rawRequest('GET', target, headers);
const typed = (type: string | undefined): string => post(REX, { 'Content-Type': type });
const withHost = (lines: string): string =>
  `GET /v1/pets HTTP/1.1\r\nAuthorization: Bearer demo-key\r\n${lines}\r\n`;

/** Requests by the reply that they get. */
const REQUESTS: Readonly<Record<string, Readonly<Record<string, string | Buffer>>>> = {
  200: {
    'an absolute target': get('http://localhost/v1/pets/1'),
    'an absolute target with a port': get('HTTP://example.com:80/v1/pets/1'),
    'an encoded id': get('/v1/pets/%31'),
    'an empty query': get('/v1/pets/1?'),
    ...Object.fromEntries(
      ['localhost', 'LOCALHOST:80', '127.0.0.1:', '[::1]:4010', 'a_b.example', ''].map((host) => [
        `the Host ${JSON.stringify(host)}`,
        withHost(`Host: ${host}\r\n`),
      ]),
    ),
  },
  201: {
    'a body in chunks': `${rawRequest('POST', '/v1/pets', { ...CHUNKED, 'Content-Type': 'application/json' })}6\r\n{"name\r\n17\r\n${REX.slice(6)}\r\n0\r\n\r\n`,
    'a charset': typed('application/json; charset=UTF-8'),
    'a charset in quotes': typed('application/json;charset="utf-8"'),
  },
  '400 invalid_input': {
    'no JSON': post('{"name":'),
    'JSON that is nested 100,000 deep': post('['.repeat(100_000)),
    'an array': post(`[${REX}]`),
    'an empty body': post(''),
    'a body that is not UTF-8': Buffer.concat([
      Buffer.from(post('', { 'Content-Length': String(LATIN1.length) })),
      LATIN1,
    ]),
    'a broken encoding as an id': get('/v1/pets/%'),
    'half a character as an id': get('/v1/pets/%E0%A4%A'),
    'a slash in an id': get('/v1/pets/1%2F2'),
    'a zero byte as an id': get('/v1/pets/%00'),
  },
  '404 route_not_found': Object.fromEntries(
    [
      ...['/v1', '/v1/', '/v1/nothing', '/v1/pets/1/2', '/v1/pets/', '/pets', '/~nobody/pets'],
      ...['/v1/%E0%A4%A', '/foo%', '/__mock/nothing', '/__mock/%E0%A4%A', '*'],
    ].map((target) => [target, get(target)]),
  ),
  '405 method_not_allowed': {
    'DELETE of a list': rawRequest('DELETE', '/v1/pets'),
    'GET of what can only be changed': get('/v1/inventory/1'),
    'a rare method': rawRequest('PROPFIND', '/v1/store/orders'),
  },
  '413 body_too_large': {
    'a Content-Length over the limit': post('', { 'Content-Length': String(MIB + 1) }),
  },
  '415 unsupported_media_type': {
    'no Content-Type': typed(undefined),
    'another type': typed('text/plain'),
    'another charset': typed('application/json; charset=iso-8859-1'),
    'a Content-Encoding': post(REX, { 'Content-Encoding': 'gzip' }),
  },
};

/** The same, where the connection is closed behind the reply. */
const LAST_REQUESTS: typeof REQUESTS = {
  '400 invalid_input': {
    words: 'hello there\r\n\r\n',
    'a TLS handshake': Buffer.from('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'latin1'),
    'a header without a colon': withHost('Host localhost\r\n'),
    'two Content-Length headers': withHost('Content-Length: 1\r\nContent-Length: 2\r\n'),
    'Content-Length and chunks': post('', CHUNKED),
    'an unknown method': rawRequest('FETCH', '/v1/pets'),
    'a broken chunk': `${rawRequest('POST', '/v1/pets', CHUNKED)}xyz\r\n`,
    'no Host': withHost(''),
    'two Host headers': withHost('Host: localhost\r\nhost: localhost\r\n'),
    'a Host with a space': withHost('Host: local host\r\n'),
    'a Host with a path': withHost('Host: localhost/v1\r\n'),
    'a Host with a user': withHost('Host: me@localhost\r\n'),
    CONNECT,
  },
  '431 request_header_fields_too_large': {
    'headers over 16 KiB': get('/v1/pets', { 'X-Long': 'x'.repeat(20_000) }),
    'a target over 16 KiB': get(`/v1/pets?${'x'.repeat(20_000)}`),
  },
  '501 transfer_coding_not_implemented': {
    'another transfer coding': `${rawRequest('POST', '/v1/pets', { 'Transfer-Encoding': 'gzip, chunked' })}0\r\n\r\n`,
  },
  '505 http_version_not_supported': {
    'HTTP/2.0': 'GET /v1/pets/1 HTTP/2.0\r\nHost: a\r\n\r\n',
    'HTTP/0.9': 'GET /v1/pets/1 HTTP/0.9\r\nHost: a\r\n\r\n',
  },
};

const rowsOf = (table: typeof REQUESTS) =>
  Object.entries(table).flatMap(([reply, requests]) =>
    Object.entries(requests).map(([what, bytes]) => ({ what, bytes, reply })),
  );

/** Checks the status of a reply, and the code of its Error if it should be one. */
function expectReply(reply: RawReply, expected: string): void {
  const [status, code] = expected.split(' ');
  expect(reply.status).toBe(Number(status));
  if (code === undefined) return;
  expect(reply.headers['content-type']).toMatch(/^application\/json/);
  const error = { code, status: reply.status, message: expect.stringMatching(/./) };
  expect(JSON.parse(reply.body)).toEqual(error);
}

/** Sends what ends a connection, and checks its last reply. */
async function expectLast(port: number, bytes: string | Buffer, expected: string): Promise<void> {
  const connection = await openRaw(port);
  connection.send(bytes);
  const reply = await connection.reply();
  expectReply(reply, expected);
  expect(reply.headers.connection).toBe('close');
  expect(await connection.rest()).toBe('');
}

describe('one request', () => {
  let port = 0;
  let close = async (): Promise<void> => {};
  beforeAll(async () => {
    ({ port, close } = await startServer({ port: 0 }));
  });
  afterAll(() => close());

  test.each(rowsOf(REQUESTS))('with $what gets $reply', async ({ bytes, reply }) => {
    expectReply(await ask(port, bytes), reply);
  });

  test.each(rowsOf(LAST_REQUESTS))(
    'with $what gets $reply, and its connection is closed',
    async ({ bytes, reply }) => {
      await expectLast(port, bytes, reply);
      expectReply(await ask(port, get('/v1/pets/1')), '200');
    },
  );

  test.each([
    ['OPTIONS', '/v1/pets', 'GET, HEAD, POST, OPTIONS'],
    ['OPTIONS', '/v1/pets/1', 'GET, HEAD, OPTIONS'],
    ['OPTIONS', '/v1/store/orders/1', 'DELETE, OPTIONS'],
    ['HEAD', '/v1/inventory/1', 'PATCH, OPTIONS'],
    ['PUT', '/v1/store/orders', 'GET, HEAD, OPTIONS'],
  ])('%s %s names the allowed methods without a key', async (method, target, allow) => {
    const { status, headers } = await ask(port, rawRequest(method, target, KEYLESS), method);
    expect([status, headers.allow]).toEqual([method === 'OPTIONS' ? 204 : 405, allow]);
    expect(Object.keys(headers).filter((it) => /^access-control|^content-l/.test(it))).toEqual(
      method === 'OPTIONS' ? [] : ['content-length'],
    );
  });

  test.each([
    ['/v1/pets', {}, 200],
    ['/v1/pets/1', {}, 200],
    ['/v1/pets', KEYLESS, 401],
    ['/v1/nothing', {}, 404],
  ])('of HEAD %s gets the headers of GET and no body (%o: %i)', async (target, more, status) => {
    const connection = await openRaw(port);
    connection.send(get(target, more));
    const whole = await connection.reply();
    connection.send(rawRequest('HEAD', target, more));
    const head = await connection.reply('HEAD');
    connection.send(get(target, more));
    expect((await connection.reply()).body).toBe(whole.body);
    const changing = { date: expect.any(String), 'mock-basis': expect.any(String) };
    expect(head).toMatchObject({ status, headers: { ...whole.headers, ...changing } });
  });

  test('of a page of another origin gets an Error that it may read', async () => {
    const headers = { ...KEYLESS, Origin: 'https://app.example' };
    const reply = await ask(port, get('/v1/pets', headers));
    expectReply(reply, '401 unauthorized');
    expect(reply.headers['access-control-allow-origin']).toBe('*');
    expect(reply.headers['access-control-expose-headers']).toContain('Mock-Basis');
  });

  test.each([
    ['/pets', '/v1/pets'],
    ['/v1/orders', '/v1/store/orders'],
    ['/api/v1/pets/1', '/v1/pets/1'],
    ['/v1/invetory', '/v1/inventory'],
    ['/~one/orders', '/~one/v1/store/orders'],
    ['/v1/customers', undefined],
    [`/v1/${'pet'.repeat(2_000)}`, undefined],
  ])('for %s gets the suggestion %s', async (target, meant) => {
    const { message } = JSON.parse((await ask(port, get(target))).body);
    const [, suggested] = /\(did you mean (.*)\?\)$/.exec(message) ?? [];
    expect(suggested).toBe(meant);
  });

  test('with a chunked body over the limit gets 413, and the rest is discarded', async () => {
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    const headers = { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' };
    const head = rawRequest('POST', '/v1/pets', headers);
    const connection = await openRaw(port);
    connection.send(head + chunk.repeat(17));
    expectReply(await connection.reply(), '413 body_too_large');
    connection.send(`${chunk.repeat(3)}0\r\n\r\n${get('/v1/pets/1')}`);
    expect((await connection.reply()).status).toBe(200);
  });

  test('without use for its body gets its reply, and the next one too', async () => {
    const connection = await openRaw(port);
    connection.send(get('/v1/pets/1', { 'Content-Length': '100000' }) + 'x'.repeat(100_000));
    connection.send(get('/v1/pets/2'));
    const replies = await connection.replies(2);
    expect(replies.map(({ body }) => JSON.parse(body).id)).toEqual([1, 2]);
  });

  test('with Expect gets 100 Continue before its reply', async () => {
    const connection = await openRaw(port);
    connection.send(post('', { 'Content-Length': String(REX.length), Expect: '100-continue' }));
    expect(await connection.reply()).toMatchObject({ status: 100, body: '' });
    connection.send(REX);
    expect((await connection.reply()).status).toBe(201);
    connection.send(get('/v1/pets/1'));
    expect((await connection.reply()).status).toBe(200);
  });
});

test('requests to upgrade are answered in order, with all that follows in their packet', async () => {
  const { port } = await serverFor({ delay: 20 });
  const wish = { Connection: 'Upgrade', Upgrade: 'websocket' };
  const cat = post(REX, { Connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c' });
  const connection = await openRaw(port);
  connection.send(
    get('/v1/pets/1') + get('/v1/pets/2', wish) + get('/v1/pets/3', wish) + cat + get('/v1/pets/4'),
  );
  const replies = await connection.replies(5);
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 201, 200]);
  const [one, two, three, created, four] = replies.map(({ body }) => JSON.parse(body));
  expect([one.id, two.id, three.id, created.name, four.id]).toEqual([1, 2, 3, 'Rex', 4]);
});

test('CONNECT behind a pending reply closes the connection after it', async () => {
  const { port } = await serverFor({ delay: 20 });
  const connection = await openRaw(port);
  connection.send(get('/v1/inventory') + CONNECT);
  expect((await connection.reply()).status).toBe(200);
  expect(await connection.rest()).toBe('');
});

test('an HTTP/1.0 reply has no chunks and closes the connection', async () => {
  const { port } = await serverFor({ animals: 5_000 });
  const connection = await openRaw(port);
  connection.send('GET /v1/inventory HTTP/1.0\r\nAuthorization: Bearer demo-key\r\n\r\n');
  await connection.rest();
  const reply = await connection.reply();
  expect(reply.status).toBe(200);
  expect(reply.headers).not.toHaveProperty('transfer-encoding');
  expect(JSON.parse(reply.body)).toHaveLength(5_000);
});

test.each<[string, string, string]>([
  [
    'a TLS handshake',
    '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    'http:// instead of https://',
  ],
  ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'turn HTTP/2 off'],
])('%s is reported once, with the remedy', async (_name, bytes, cure) => {
  const notices: string[] = [];
  const { port } = await serverFor({ onNotice: (message) => notices.push(message) });
  for (const _attempt of [1, 2]) {
    const connection = await openRaw(port);
    connection.send(Buffer.from(bytes, 'latin1'));
    await connection.rest();
  }
  expect(notices).toEqual([expect.stringContaining(cure)]);
});

describe('a client', () => {
  test('that sends all of its last request before it reads gets the refusal', async () => {
    const { port } = await serverFor();
    const { socket, reply } = await openRaw(port);
    socket.pause();
    const size = 4 * MIB;
    const head = post('', { 'Content-Length': String(size), Connection: 'close' });
    const bytes = Buffer.concat([Buffer.from(head), Buffer.alloc(size, ' ')]);
    expect(await new Promise((resolve) => socket.write(bytes, resolve))).toBeFalsy();
    socket.resume();
    expectReply(await reply(), '413 body_too_large');
  });

  const timeouts = { headers: 100, idle: 150 };

  test.each<[string, string]>([
    ['has sent nothing', ''],
    // The scenario holds this back for far longer than a connection may be idle.
    ['has its reply', get('/v1/pets/3')],
  ])('that %s is disconnected after a while', async (_what, bytes) => {
    const { port } = await serverFor({ timeouts, scenarios: ['slow'] });
    const connection = await openRaw(port);
    connection.send(bytes);
    if (bytes !== '') expect((await connection.reply()).status).toBe(200);
    expect(await connection.rest()).toBe('');
    expect(connection.socket.errored).toBe(null);
  });

  test('that does not read its reply is disconnected after a while', async () => {
    const { port } = await serverFor({ animals: 300_000, timeouts });
    const { socket, send, rest } = await openRaw(port);
    const begun = once(socket, 'data');
    send(get('/v1/inventory'));
    await begun;
    socket.pause();
    await setTimeout(1_000);
    socket.resume();
    expect((await rest()).endsWith(']')).toBe(false);
  });

  test.each<[string, string]>([
    ['its headers', 'GET /v1/pets HTTP/1.1\r\nHost: loc'],
    ['its body', post('{"na', { 'Content-Length': '29' })],
    ['its chunks', `${rawRequest('POST', '/v1/pets', CHUNKED)}2\r\n{"\r\n`],
  ])('that stops in %s gets 408 and is disconnected', async (_name, bytes) => {
    const { port } = await serverFor({ timeouts });
    await expectLast(port, bytes, '408 request_timeout');
  });

  test('that sends garbage behind 50 pipelined requests gets the replies to these, in order', async () => {
    const { port } = await serverFor({ delay: 20 });
    const ids = Array.from({ length: 50 }, (_, index) => index + 1);
    const connection = await openRaw(port);
    connection.send(`${ids.map((id) => get(`/v1/pets/${id}`)).join('')}garbage\r\n\r\n`);
    const replies = await connection.replies(50);
    expect(replies.map(({ body }) => JSON.parse(body).id)).toEqual(ids);
    expect(await connection.rest()).toBe('');
  });

  test.each<[string, string, number]>([
    ['announces', get('/v1/pets/1', { Connection: 'close' }), 200],
    ['of HTTP/1.0 sends', 'GET /v1/pets/1 HTTP/1.0\r\n\r\n', 401],
  ])('that %s its last request can send no other', async (_how, last, status) => {
    const { port } = await serverFor();
    const cancel = rawRequest('DELETE', '/v1/store/orders/1');
    for (const behind of [cancel, 'garbage\r\n\r\n']) {
      const connection = await openRaw(port);
      connection.send(last + behind);
      expect(await connection.reply()).toMatchObject({ status, headers: { connection: 'close' } });
      expect(await connection.rest()).toBe('');
    }
    // Fails if the ignored request had cancelled the order.
    expect((await ask(port, cancel)).status).toBe(204);
  });

  test.each<[string, string, boolean]>([
    ['its headers', 'GET /v1/pets HTT', false],
    ['its body', post('', { 'Content-Length': '29', Expect: '100-continue' }), true],
    ['a long reply', get('/v1/inventory'), true],
  ])('may disconnect in the middle of %s', async (_name, bytes, isAnswered) => {
    const { port } = await serverFor({ animals: 100_000 });
    for (const _attempt of [1, 2, 3]) {
      const { socket, send } = await openRaw(port);
      const answered = once(socket, 'data');
      send(bytes);
      if (isAnswered) await answered;
      else answered.catch(() => {});
      socket.resetAndDestroy();
      await once(socket, 'close');
    }
    const reply = await ask(port, get('/v1/inventory'));
    expect(JSON.parse(reply.body)).toHaveLength(100_000);
  });
});

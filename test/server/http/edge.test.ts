import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer } from '../../../src/index.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { askRaw, openRaw, type RawReply, rawRequest } from '../../helpers/raw.ts';
import { asker } from '../../helpers/wire.ts';

const MIB = 1024 * 1024;
const REX = '{"name":"Rex","categoryId":1}';
const CHUNKED = { 'Transfer-Encoding': 'chunked' };
const JSON_CHUNKS = { ...CHUNKED, 'Content-Type': 'application/json' };
const KEYLESS = { Authorization: undefined };
const CONNECT = 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n';
const LATIN1 = Buffer.from('{"name":"R\xe9x","categoryId":1}', 'latin1');
const HANDSHAKE = '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03';

const get = (target: string, headers = {}): string => rawRequest('GET', target, headers);
const withHost = (lines: string): string =>
  `GET /v1/pets HTTP/1.1\r\nAuthorization: Bearer demo-key\r\n${lines}\r\n`;
const targets = (...all: readonly string[]) => all.map((target) => get(target));

function post(body: string, headers: Readonly<Record<string, string | undefined>> = {}): string {
  const length = String(Buffer.byteLength(body));
  const all = { 'Content-Type': 'application/json', 'Content-Length': length, ...headers };
  return rawRequest('POST', '/v1/pets', all, body);
}

type Table = Readonly<Record<string, readonly (string | Buffer)[]>>;

/** Requests by the reply that they get. */
const REQUESTS: Table = {
  200: [
    ...targets('http://localhost/v1/pets/1', 'HTTP://example.com:80/v1/pets/1'),
    ...targets('/v1/pets/%31', '/v1/pets/1?'),
    ...['localhost', 'LOCALHOST:80', '127.0.0.1:', '[::1]:4010', 'a_b.example', ''].map((host) =>
      withHost(`Host: ${host}\r\n`),
    ),
  ],
  201: [
    `${rawRequest('POST', '/v1/pets', JSON_CHUNKS)}6\r\n{"name\r\n17\r\n${REX.slice(6)}\r\n0\r\n\r\n`,
    ...['"utf-8"', 'utf8', 'US-ASCII'].map((name) =>
      post(REX, { 'Content-Type': `application/json;charset=${name}` }),
    ),
  ],
  '400 invalid_input': [
    ...[post('{"name":'), post('['.repeat(100_000)), post(`[${REX}]`), post('')],
    Buffer.concat([Buffer.from(post('', { 'Content-Length': `${LATIN1.length}` })), LATIN1]),
    ...targets('/v1/pets/%', '/v1/pets/%E0%A4%A', '/v1/pets/1%2F2', '/v1/pets/%00'),
  ],
  '401 unauthorized': [withHost('Host: localhost\r\nAuthorization: Bearer demo-key\r\n')],
  '404 route_not_found': [
    ...targets('/v1', '/v1/', '/v1/nothing', '/v1/pets/1/2', '/v1/pets/', '/pets', '/~nobody/pets'),
    ...targets('/v1/%E0%A4%A', '/foo%', '/__mock/nothing', '/__mock/%E0%A4%A', '*'),
  ],
  '405 method_not_allowed': [
    rawRequest('DELETE', '/v1/pets'),
    get('/v1/inventory/1'),
    rawRequest('PROPFIND', '/v1/store/orders'),
  ],
  '413 body_too_large': [post('', { 'Content-Length': String(MIB + 1) })],
  '415 unsupported_media_type': [
    ...[undefined, 'text/plain', 'application/json; charset=iso-8859-1'].map((type) =>
      post(REX, { 'Content-Type': type }),
    ),
    post(REX, { 'Content-Encoding': 'gzip' }),
  ],
};

/** The same, where the connection is closed behind the reply. */
const LAST_REQUESTS: Table = {
  '400 invalid_input': [
    ...['hello there\r\n\r\n', Buffer.from(HANDSHAKE, 'latin1'), CONNECT],
    ...['Host localhost\r\n', 'Content-Length: 1\r\nContent-Length: 2\r\n', ''].map(withHost),
    ...[post('', CHUNKED), rawRequest('FETCH', '/v1/pets')],
    `${rawRequest('POST', '/v1/pets', CHUNKED)}xyz\r\n`,
    ...['localhost\r\nhost: localhost', 'local host', 'localhost/v1', 'me@localhost'].map((host) =>
      withHost(`Host: ${host}\r\n`),
    ),
  ],
  '431 request_header_fields_too_large': [
    get('/v1/pets', { 'X-Long': 'x'.repeat(20_000) }),
    get(`/v1/pets?${'x'.repeat(20_000)}`),
  ],
};

const rows = (table: Table) =>
  Object.entries(table).flatMap(([reply, requests]) =>
    requests.map((bytes) => ({ reply, bytes, start: bytes.toString().slice(0, 90) })),
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

  test.each(rows(REQUESTS))('gets $reply: $start', async ({ bytes, reply }) => {
    expectReply(await askRaw(port, bytes), reply);
  });

  test.each(rows(LAST_REQUESTS))('gets $reply and is the last: $start', async (row) => {
    await expectLast(port, row.bytes, row.reply);
    expectReply(await askRaw(port, get('/v1/pets/1')), '200');
  });

  test.each([
    ['OPTIONS', '/v1/pets', 'GET, HEAD, POST, OPTIONS'],
    ['OPTIONS', '/v1/store/orders/1', 'DELETE, OPTIONS'],
    ['HEAD', '/v1/inventory/1', 'PATCH, OPTIONS'],
    ['PUT', '/v1/store/orders', 'GET, HEAD, OPTIONS'],
  ])('%s %s names the allowed methods without a key', async (method, target, allow) => {
    const { status, headers } = await askRaw(port, rawRequest(method, target, KEYLESS), method);
    expect([status, headers.allow]).toEqual([method === 'OPTIONS' ? 204 : 405, allow]);
    const framing = Object.keys(headers).filter((name) => /^access-control|^content-l/.test(name));
    expect(framing).toEqual(method === 'OPTIONS' ? [] : ['content-length']);
  });

  test.each([
    ['/v1/pets', {}, 200],
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
    const reply = await askRaw(port, get('/v1/pets', headers));
    expectReply(reply, '401 unauthorized');
    expect(reply.headers).toMatchObject({
      'access-control-allow-origin': 'https://app.example',
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': expect.stringContaining('Mock-Basis'),
      vary: 'Origin',
    });
  });

  test.each([
    ['/pets', '/v1/pets'],
    ['/v1/orders', '/v1/store/orders'],
    ['/api/v1/pets/1', '/v1/pets/1'],
    ['/v1/invetory', '/v1/inventory'],
    ['/~one/orders', '/~one/v1/store/orders'],
    ['/pets/3', '/v1/pets/3'],
    ['/v1/pet/3', '/v1/pets/3'],
    ['/V1/Store/Order/7/', '/v1/store/orders/7'],
    ['/~one/orders/-1', '/~one/v1/store/orders/-1'],
    ['/v1', '/v1/pets'],
    ['/v1/customers', undefined],
    ['/foo/bar', undefined],
    ['/a/b', undefined],
    ['/a/1', undefined],
    ['/1', undefined],
    ['/login/bob', undefined],
    ['/v1/users/bob', undefined],
    ['/v1/users/1', undefined],
    ['/v1/cats/1', undefined],
    ['/pets/rex', undefined],
    ['/pet/9223372036854775808', undefined],
    ['/__MOCK/state', undefined],
    [`/v1/${'pet'.repeat(2_000)}`, undefined],
  ])('for %s gets the suggestion %s', async (target, meant) => {
    const { message } = JSON.parse((await askRaw(port, get(target))).body);
    const [, suggested] = /\(did you mean (.*)\?\)$/.exec(message) ?? [];
    expect(suggested).toBe(meant);
  });

  test('with a chunked body over the limit gets 413, and the rest is discarded', async () => {
    const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`;
    const connection = await openRaw(port);
    connection.send(rawRequest('POST', '/v1/pets', JSON_CHUNKS) + chunk.repeat(17));
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

  test('with an empty chunked body has none', async () => {
    const connection = await openRaw(port);
    const cancel = rawRequest('DELETE', '/~chunks/v1/store/orders/1', CHUNKED);
    for (const body of ['0\r\n\r\n', '2\r\n{}\r\n0\r\n\r\n']) {
      connection.send(cancel + body);
      await connection.reply('DELETE');
    }
    const { json } = await asker(port, '/~chunks/__mock')('GET', '/requests');
    const found = Object(json).exchanges.map((it: { findings: { code: string }[] }) =>
      it.findings.some(({ code }) => code === 'unexpected-body'),
    );
    expect(found).toEqual([false, true]);
  });

  test.each(['/v1/nothing', '/v1/pets'])(
    'that asks whether a page may DELETE %s allows it, for the page to read why not',
    async (target) => {
      const headers = { ...KEYLESS, Origin: 'http://a', 'Access-Control-Request-Method': 'DELETE' };
      const preflight = await askRaw(port, rawRequest('OPTIONS', target, headers));
      expect(preflight).toMatchObject({
        status: 204,
        headers: {
          'access-control-allow-methods': 'DELETE',
          'access-control-allow-origin': 'http://a',
        },
      });
    },
  );

  // As clients that speak HTTP/2 too, such as that of Java, send their first request.
  test('that asks for another protocol gets its reply, and leaves the connection to the next', async () => {
    const connection = await openRaw(port);
    connection.send(post(REX, { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c' }));
    expect((await connection.reply()).status).toBe(201);
    connection.send(get('/v1/pets/1'));
    expect((await connection.reply()).status).toBe(200);
  });

  test('with Expect gets 100 Continue before its reply', async () => {
    const connection = await openRaw(port);
    connection.send(post('', { 'Content-Length': String(REX.length), Expect: '100-continue' }));
    expect(await connection.reply()).toMatchObject({ status: 100, body: '' });
    connection.send(REX);
    expect((await connection.reply()).status).toBe(201);
  });

  test.each([
    ['PUT', '/~gone/__mock/animals/1', 200],
    ['POST', '/~gone/v1/pets', 201],
  ] as const)(
    '%s %s starts a sandbox anew that is deleted before its body ends',
    async (method, path, status) => {
      const body = '{"name":"Late","categoryId":1}';
      const type = { 'Content-Type': 'application/json', 'Content-Length': String(body.length) };
      const connection = await openRaw(port);
      const control = asker(port, '/__mock');
      await control('POST', '/sandboxes', { body: { name: 'gone' } });
      connection.send(rawRequest(method, path, { ...type, Expect: '100-continue' }));
      // The head has arrived.
      expect((await connection.reply()).status).toBe(100);
      connection.send(body.slice(0, 9));
      expect((await control('DELETE', '/sandboxes/gone')).status).toBe(204);
      connection.send(body.slice(9));
      expect((await connection.reply()).status).toBe(status);
      const { json } = await asker(port, '/~gone/__mock')('GET', '/animals?name=Late');
      expect(json).toMatchObject([{ name: 'Late' }]);
      expect((await control('DELETE', '/sandboxes/gone')).status).toBe(204);
    },
  );
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
  expect(reply.headers).not.toHaveProperty('transfer-encoding');
  expect(JSON.parse(reply.body)).toHaveLength(5_000);
});

test.each([
  [HANDSHAKE, 'http:// instead of https://'],
  ['hello there\r\n\r\n', 'refused before it was a request: 400, '],
])('%j is reported once: %s', async (bytes, notice) => {
  const notices: string[] = [];
  const { port } = await serverFor({ onNotice: (message) => notices.push(message) });
  for (const _attempt of [1, 2]) await askRaw(port, Buffer.from(bytes, 'latin1'));
  expect(notices).toEqual([expect.stringContaining(notice)]);
});

const LONG = get('/v1/pets', { 'X-Long': 'x'.repeat(20_000) });
const BROKEN = `${rawRequest('POST', '/v1/pets', { ...JSON_CHUNKS, Origin: 'http://a' })}xyz\r\n`;

test.each([
  ['a long head', LONG, 431, 'the head is larger than 16384 bytes', '*'],
  ['two hosts', withHost('Host: a\r\nhost: b\r\n'), 400, 'Host: expected one name', undefined],
  ['a broken body', BROKEN, 400, 'Invalid character in chunk size', 'http://a'],
])('the journal has a request with %s', async (_what, bytes, status, why, origin) => {
  const { port } = await serverFor();
  const { headers } = await askRaw(port, bytes);
  expect(headers['access-control-allow-origin']).toBe(origin);
  const { json } = await asker(port, '/__mock')('GET', '/requests');
  const shown = { target: '/v1/pets', status, why: [expect.stringContaining(why)] };
  expect(json).toMatchObject({ exchanges: [shown] });
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

  const timeouts = { headers: 100, idle: 150, stop: 1_000_000 };

  // The rule delays for longer than a connection may be idle.
  test.each(['', get('/v1/pets/3')])('that rests after %j is disconnected', async (bytes) => {
    const { port } = await serverFor({ timeouts, delay: 300 });
    const connection = await openRaw(port);
    connection.send(bytes);
    if (bytes !== '') expect((await connection.reply()).status).toBe(200);
    expect(await connection.rest()).toBe('');
    expect(connection.socket.errored).toBe(null);
  });

  test('that does not read its reply is disconnected after a while', async () => {
    const server = await serverFor({ animals: 300_000, timeouts });
    const { socket, send, rest } = await openRaw(server.port);
    const begun = once(socket, 'data');
    send(get('/v1/inventory'));
    await begun;
    socket.pause();
    await server.close(); // waits until the client is disconnected
    socket.resume();
    expect((await rest()).endsWith(']')).toBe(false);
  });

  test.each([
    'GET /v1/pets HTTP/1.1\r\nHost: loc',
    post('{"na', { 'Content-Length': '29' }),
    `${rawRequest('POST', '/v1/pets', CHUNKED)}2\r\n{"\r\n`,
  ])('that stops after %j gets 408 and is disconnected', async (bytes) => {
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

  const closing = { on: 'getPet', reply: { status: 200, headers: { Connection: 'close' } } };
  const faults = ['reset', 'close', 'hang', 'html', 'truncate', 'bad-chunk'];

  test.each<[string, { on: string; fault?: string; reply?: object }?]>([
    [get('/v1/pets/1', { Connection: 'close' })],
    ['GET /v1/pets/1 HTTP/1.0\r\n\r\n'],
    [withHost('Host: a\r\nHost: b\r\n')],
    [get('/v1/pets/1'), closing],
    ...faults.map(
      (fault) => [get('/v1/pets/1'), { on: 'getPet', fault }] satisfies [string, object],
    ),
  ])('can send nothing behind its last request: %j, %o', async (last, rule) => {
    const server = await serverFor();
    const ask = asker(server.port, '/__mock');
    if (rule !== undefined)
      await ask('PUT', '/scenario', { body: { scenario: { rules: [rule] } } });
    const cancel = rawRequest('DELETE', '/v1/store/orders/1');
    for (const behind of [cancel, 'garbage\r\n\r\n']) {
      const connection = await openRaw(server.port);
      connection.send(get('/v1/pets/1', { 'Mock-Sandbox': 'other' }) + last + behind);
      expect((await connection.reply()).status).toBe(200);
      if (rule?.fault === 'hang')
        await expect.poll(async () => (await ask('GET', '/requests')).json).toBeTruthy();
      else expect((await connection.rest()).match(/^HTTP/gm)?.length ?? 0).toBeLessThan(2);
      connection.socket.destroy();
    }
    // Fails if the ignored request had cancelled the order.
    expect((await askRaw(server.port, cancel)).status).toBe(204);
  });

  test('that does not read its replies costs one of them', async () => {
    const { port } = await serverFor({ animals: 20_000 });
    const count = async () =>
      Object((await asker(port, '/__mock')('POST', '/requests/count')).json).count;
    const { socket, send, replies } = await openRaw(port);
    socket.pause();
    send(get('/v1/inventory').repeat(1_000));
    await expect.poll(count).toBeGreaterThan(0);
    for (let turn = 0; turn < 20; turn += 1) await askRaw(port, get('/v1/pets/1'));
    expect((await count()) - 20).toBeLessThan(20);
    socket.resume();
    await replies(30);
    const gone = once(socket, 'close');
    socket.destroy();
    await gone;
    for (let turn = 0; turn < 20; turn += 1) await askRaw(port, get('/v1/pets/1'));
    expect(await count()).toBeLessThan(200);
  });

  test.each([
    ['its headers', 'GET /v1/pets HTT', false],
    ['its body', post('', { 'Content-Length': '29', Expect: '100-continue' }), true],
    ['a long reply', get('/v1/inventory'), true],
  ])('may disconnect in the middle of %s', async (_name, bytes, isAnswered) => {
    const { port } = await serverFor({ animals: 20_000 });
    const { socket, send } = await openRaw(port);
    const answered = once(socket, 'data');
    send(bytes);
    if (isAnswered) await answered;
    else answered.catch(() => {});
    socket.resetAndDestroy();
    await once(socket, 'close');
    expect(JSON.parse((await askRaw(port, get('/v1/inventory'))).body)).toHaveLength(20_000);
  });
});

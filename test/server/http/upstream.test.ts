import { once } from 'node:events';
import { request } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { inFrontOf, OK, rawDeployment, serverFor } from '../../helpers/deployment.ts';
import { askRaw, rawRequest } from '../../helpers/raw.ts';
import { asker } from '../../helpers/wire.ts';

const SWITCH = 'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
/** The start of a reply that breaks off after two bytes of nine. */
const CUT = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[1';

describe('a request', () => {
  test('arrives as the client wrote it, without what belongs to its connection or to the mock', async () => {
    const { deployment, server } = await inFrontOf(OK);
    const sent = [
      'PATCH /~team/v1/inventory/%31?a=%2F&b HTTP/1.1',
      'Host: 127.0.0.1',
      ...['X-Twice: a', 'x-twice: b', 'AUTHORIZATION: Bearer real-key'],
      ...['Connection: X-Hop, keep-alive', 'X-Hop: 1', 'Keep-Alive: 5', 'TE: trailers'],
      ...['Upgrade: h2c', 'Proxy-Authorization: Basic x', 'Mock-Sandbox: team'],
      ...['Content-Type: application/json', 'Transfer-Encoding: chunked', ''],
      'e\r\n{"quantity":1}\r\n0\r\n\r\n',
    ];
    expect((await askRaw(server.port, sent.join('\r\n'))).status).toBe(200);
    expect(deployment.received().split('\r\n')).toEqual([
      'PATCH /base/v1/inventory/%31?a=%2F&b HTTP/1.1',
      `Host: ${new URL(deployment.url).host}`,
      ...['X-Twice: a', 'x-twice: b', 'AUTHORIZATION: Bearer real-key'],
      'Content-Type: application/json',
      expect.stringMatching(/^Via: 1\.1 petstore-mock-[0-9a-f]{8} \(team\)$/),
      ...['Content-Length: 14', 'Connection: keep-alive', '', '{"quantity":1}'],
    ]);
  });

  test.each([
    ['real-key', {}],
    ['other-key', { upstreamKey: 'other-key' }],
  ])(
    'carries %s: the client’s without its sandbox name, or that of the server under %j',
    async (key, options) => {
      const { deployment, ask } = await inFrontOf(OK, options);
      await ask('GET', '/inventory', { key: 'real-key~team' });
      expect(deployment.received()).toContain(`Authorization: Bearer ${key}\r\n`);
    },
  );

  test('keeps a key with a tilde where the path names the sandbox', async () => {
    const { deployment, server } = await inFrontOf(OK);
    await asker(server.port, '/~default/v1')('GET', '/inventory', { key: 'team~1' });
    expect(deployment.received()).toContain('Authorization: Bearer team~1\r\n');
  });

  test.each([
    ['GET', '/v1/../../admin', 404, {}],
    ['GET', '/v1/%2e%2E/admin', 404, {}],
    ['GET', '/v1/..%2fadmin', 404, {}],
    ['GET', '/v1/pets/..\\admin', 404, {}],
    ['PATCH', '/v1/inventory/1', 413, { 'Content-Length': String(2 ** 26 + 1) }],
  ])('%s %s stays with the mock, which answers %i', async (method, path, status, headers) => {
    const { deployment, server } = await inFrontOf(OK);
    expect((await askRaw(server.port, rawRequest(method, path, headers))).status).toBe(status);
    expect(deployment.received()).toBe('');
  });

  test('that comes back to its sandbox gets 502', async () => {
    const { ask, deployment } = await inFrontOf(OK);
    await ask('GET', '/inventory');
    const [, via = ''] = /\r\nVia: (.*)\r\n/.exec(deployment.received()) ?? [];
    const message = expect.stringContaining('back to this sandbox');
    const returned = await ask('GET', '/inventory', { headers: { via } });
    expect(returned).toMatchObject({ status: 502, json: { message } });
  });

  test.each(['POST', 'DELETE'])('with %s and no body announces none', async (method) => {
    const { deployment, server } = await inFrontOf(OK);
    await askRaw(server.port, rawRequest(method, '/v1/inventory'));
    expect(deployment.received()).not.toContain('Transfer-Encoding');
  });
});

test('at most 100 connections go to a deployment, and other requests wait', async () => {
  let isSilent = true;
  const { deployment, ask } = await inFrontOf((socket) => {
    if (!isSilent) socket.write(OK);
  });
  const asked = Array.from({ length: 110 }, () => ask('GET', '/inventory'));
  await expect.poll(() => deployment.sockets.length).toBe(100);
  isSilent = false;
  for (const socket of deployment.sockets) socket.write(OK);
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200]));
  expect(deployment.sockets).toHaveLength(100);
});

describe('a reply', () => {
  test('loses only a reason phrase that Node cannot write', async () => {
    const { listRaw } = await inFrontOf('HTTP/1.1 200 \x01\x7f\r\nContent-Length: 0\r\n\r\n');
    expect(await (await listRaw()).rest()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test('with 304 keeps its Content-Length', async () => {
    const { listRaw } = await inFrontOf('HTTP/1.1 304 X\r\nContent-Length: 9\r\n\r\n');
    expect(await (await listRaw()).rest()).toMatch(/\r\nContent-Length: 9\r\n.*\r\n\r\n$/s);
  });

  test('is not replayed, since the deployment would not see the request, and has no alternatives', async () => {
    const { ask, control } = await inFrontOf(OK);
    await ask('DELETE', '/store/orders/1');
    const replayed = await control('POST', '/requests/1/replay');
    expect(replayed).toMatchObject({ status: 409, json: { code: 'not_replayable' } });
    expect(await control('GET', '/requests/1/alternatives')).toMatchObject({ json: [] });
  });

  test('comes back byte for byte, with the basis and without what belongs to a connection', async () => {
    const cookie = `Set-Cookie: c=\xe9${'x'.repeat(60_000)}`;
    const head = ['X-Twice: a', 'x-TWICE: b', cookie, 'Content-Type: text/odd'];
    const hop = ['Connection: X-Hop', 'X-Hop: 1', 'Keep-Alive: timeout=9', 'Trailer: X-Sum'];
    const body = '3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n';
    const lines = ['HTTP/1.1 299 Odd Reason', ...head, ...hop, 'Transfer-Encoding: chunked', ''];
    const { listRaw } = await inFrontOf([...lines, body].join('\r\n'));
    expect((await (await listRaw()).rest()).split('\r\n')).toEqual([
      ...['HTTP/1.1 299 Odd Reason', 'Mock-Basis: upstream', ...head],
      ...['Content-Length: 3', 'Connection: close', '', 'abc'],
    ]);
  });

  test('is sent once the deployment has ended it', async () => {
    const { listRaw, deployment, exchange } = await inFrontOf(CUT);
    const client = await listRaw('');
    await expect.poll(() => deployment.received()).toContain('\r\n\r\n');
    expect(await exchange()).toMatchObject({ code: 'not_found' });
    deployment.sockets[0]?.write(',2,3,4]');
    expect((await client.reply()).body).toBe('[1,2,3,4]');
    expect(await exchange()).toMatchObject({ status: 200, basis: 'upstream' });
  });

  test.each([
    ['nobody listens', undefined, 502, /ECONNREFUSED/],
    ['it closes the connection', (socket) => socket.end(), 502, /socket hang up/],
    ['it sends nonsense', 'nonsense\r\n\r\n', 502, /Parse Error/],
    ['it switches protocols', SWITCH, 502, /its status is 101/],
    ['its status is no status', 'HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n', 502, /status is 0/],
    ['it never answers', () => {}, 504, /sent nothing for 50 ms/],
  ] satisfies [string, Parameters<typeof inFrontOf>[0] | undefined, number, RegExp][])(
    'is an Error if %s',
    async (_, answer, status, message) => {
      // A busy machine may take seconds for what does not wait.
      const upstreamTimeout = status === 504 ? 50 : 60_000;
      const nobody = answer === undefined && { upstream: 'http://127.0.0.1:1/v1' };
      const { ask, exchange } = await inFrontOf(answer ?? OK, { upstreamTimeout, ...nobody });
      const reply = await ask('GET', '/pets');
      expect(reply.headers['mock-basis']).toBe('assumed');
      expect(reply).toMatchObject({
        status,
        json: { message: expect.stringMatching(message), status },
      });
      expect(await exchange()).toMatchObject({ status, basis: 'assumed' });
    },
  );
});

describe('a body', () => {
  const MEGABYTES = 16;
  const CHUNK = Buffer.alloc(1024 * 1024, 'x');

  test('of many megabytes is whole in both directions, and too long for the journal', async () => {
    const { server, deployment, exchange } = await inFrontOf((socket) => {
      let received = 0;
      socket.on('data', ({ length }) => {
        received += length;
        if (received < 3 * CHUNK.length) return; // the first bytes came before
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${MEGABYTES * CHUNK.length}\r\n\r\n`);
        for (let left = MEGABYTES; left > 0; left -= 1) socket.write(CHUNK);
      });
    });
    const headers = { Authorization: 'Bearer a', 'Content-Type': 'application/json' };
    const sent = request({ port: server.port, method: 'POST', path: '/v1/pets', headers });
    for (let count = 0; count < 4; count += 1) sent.write(CHUNK);
    sent.end();
    const [reply] = await once(sent, 'response');
    let size = 0;
    for await (const chunk of reply) size += chunk.length;
    expect(size).toBe(MEGABYTES * CHUNK.length);
    expect(deployment.received().replaceAll(/[^x]/g, '')).toHaveLength(4 * CHUNK.length);
    expect(await exchange()).toMatchObject({
      operation: 'createPet',
      request: { size: 4 * CHUNK.length, cut: true },
      reply: { size: MEGABYTES * CHUNK.length, cut: true },
    });
  });

  test('that breaks off is an Error', async () => {
    const { ask, exchange } = await inFrontOf((socket) => socket.end(CUT));
    const message = expect.stringMatching(/it broke the body off after 2 bytes/);
    expect(await ask('GET', '/pets')).toMatchObject({ status: 502, json: { message } });
    expect(await exchange()).toMatchObject({ status: 502, why: [message] });
  });

  test('in gzip is compared and shown as text', async () => {
    const bytes = gzipSync('[{"id":"1","name":"Rex","categoryId":1}]');
    const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n`;
    const { server, exchange } = await inFrontOf((socket) => {
      socket.write(`${head}Content-Length: ${bytes.length}\r\n\r\n`);
      socket.write(bytes);
    });
    const headers = { Authorization: 'Bearer a' };
    const reply = await fetch(`${server.url}/pets`, { headers });
    expect(await reply.json()).toHaveLength(1);
    expect(await exchange()).toMatchObject({
      reply: { body: [{ id: '1' }] },
      findings: [{ code: 'drift', message: expect.stringMatching(/^\$\[\]\.id: /) }],
    });
  });
});

test.each([
  ['before the reply', ''],
  ['in the middle of the body', CUT],
])('a client that leaves %s ends the request to the deployment', async (_, answer) => {
  const { deployment, listRaw, exchange } = await inFrontOf(answer);
  const client = await listRaw('');
  await expect.poll(() => deployment.received()).toContain('\r\n\r\n');
  client.socket.resetAndDestroy();
  await expect.poll(() => deployment.sockets.every((socket) => socket.destroyed)).toBe(true);
  expect(await exchange()).toMatchObject({
    why: [expect.stringMatching(/the client disconnected before it had the reply/)],
  });
});

test('a kept connection that the deployment has closed is replaced, unless the call could have changed something', async () => {
  let connections = 0;
  const { ask } = await inFrontOf((socket) => {
    connections += 1;
    socket.write(OK);
    socket.removeAllListeners('data').once('data', () => socket.resetAndDestroy());
  });
  expect((await ask('GET', '/pets')).status).toBe(200);
  expect((await ask('GET', '/pets')).status).toBe(200);
  expect(connections).toBe(2);
  expect((await ask('DELETE', '/store/orders/1')).status).toBe(502);
});

test('HTTP_PROXY carries requests to a deployment on another machine', async () => {
  const proxy = await rawDeployment(OK);
  const { port } = await serverFor({
    upstream: 'http://staging.example/v1',
    proxyVariables: { HTTP_PROXY: proxy.url },
  });
  expect((await asker(port)('GET', '/pets?limit=1')).text).toBe('[]');
  const [line, host] = proxy.received().split('\r\n');
  expect(line).toBe('GET http://staging.example/v1/pets?limit=1 HTTP/1.1');
  expect(host).toBe('Host: staging.example');
});

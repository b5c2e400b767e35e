import http from 'node:http';
import https from 'node:https';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { parseBaseUrl } from '../../../src/core/contract/base-url.ts';
import { findHeader } from '../../../src/core/raw-http.ts';
import {
  DeploymentClient,
  type DeploymentOptions,
  Pace,
} from '../../../src/features/deployment/deployment-client.ts';
import { findProxy } from '../../../src/features/deployment/transport.ts';
import { loadCertificate } from '../../../src/server/http/tls.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { listen } from '../../helpers/host.ts';

/** A clock that jumps instead of waiting. */
function jumping() {
  let now = 0;
  return { now: () => now, wait: async (milliseconds: number) => (now += milliseconds) };
}

async function listenOn(server: Server): Promise<number> {
  onTestFinished(() => void server.close());
  return listen(server);
}

const answering = async (handler: http.RequestListener) =>
  `http://127.0.0.1:${await listenOn(http.createServer(handler))}/v1`;

function createClient(url: string, options: Omit<DeploymentOptions, 'url'> = {}): DeploymentClient {
  const client = new DeploymentClient({ url: parseBaseUrl(url)!, time: jumping(), ...options });
  onTestFinished(() => client.close());
  return client;
}

const listPets = (url: string, options?: Omit<DeploymentOptions, 'url'>) =>
  createClient(url, options).send({ method: 'GET', path: '/pets' });

test('a request carries the key and its own headers, and the reply arrives byte for byte', async () => {
  const url = await answering((request, response) => {
    response.writeHead(201, ['X-Twice', 'a', 'X-Twice', 'b']);
    response.end(`${request.method} ${request.url} ${request.headers.authorization}`);
  });
  const client = createClient(url, { key: 'secret' });
  const reply = await client.send({ method: 'POST', path: '/pets?a=%2F', body: '{}' });
  expect(reply.status).toBe(201);
  expect(reply.headers.slice(0, 4)).toEqual(['X-Twice', 'a', 'X-Twice', 'b']);
  expect(reply.body.toString()).toBe('POST /v1/pets?a=%2F Bearer secret');
  const without = await client.send({ method: 'GET', path: '/pets', key: null });
  expect(without.body.toString()).toBe('GET /v1/pets undefined');
});

test('no more requests start in a second than the rate allows', async () => {
  const time = jumping();
  const pace = new Pace(4, time);
  const starts: number[] = [];
  for (let turn = 0; turn < 9; turn += 1) {
    await pace.turn();
    starts.push(time.now());
  }
  expect(starts).toEqual([0, 250, 500, 750, 1000, 1250, 1500, 1750, 2000]);
});

test('waiting for a quota ends: one that lasts longer than a minute is a reply at once', async () => {
  const time = jumping();
  let asked = 0;
  const url = await answering((request, response) => {
    asked += 1;
    response.writeHead(429, ['Retry-After', request.url === '/v1/pets' ? '86400' : '5']).end();
  });
  const client = createClient(url, { time });
  expect((await client.send({ method: 'GET', path: '/orders' })).status).toBe(429);
  expect([asked, time.now()]).toEqual([4, 15_000]);
  expect((await client.send({ method: 'GET', path: '/pets' })).status).toBe(429);
  expect((await client.send({ method: 'GET', path: '/orders' })).status).toBe(429);
  expect(asked).toBe(6);
});

test.each([
  ['GET', [503, 500, 200], 200, [0, 1, 3]],
  ['GET', [503, 503, 503, 200], 503, [0, 1, 3]],
  ['GET', ['reset', 200], 200, [0, 1]],
  ['GET', [429, 200], 200, [0, 9]],
  ['GET', [501, 200], 501, [0]],
  ['GET', [302, 200], 302, [0]],
  ['POST', [503, 200], 503, [0]],
] as const)('%s that meets %j ends with %i; requests after %j seconds', async (...row) => {
  const [method, met, last, seconds] = row;
  const time = jumping();
  const times: number[] = [];
  const url = await answering((_request, response) => {
    const status = met[times.length];
    times.push(time.now() / 1000);
    const headers = { 'Retry-After': '9', Location: 'http://elsewhere.example/v1/pets' };
    if (typeof status === 'number') response.writeHead(status, headers).end();
    else response.destroy();
  });
  expect((await createClient(url, { time }).send({ method, path: '/pets' })).status).toBe(last);
  expect(times).toEqual(seconds);
});

const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x02, 0xff]);

test.each([
  ['gzip', gzipSync('[1]'), '[1]'],
  ['other', Buffer.from('as it is'), 'as it is'],
  ['zstd', ZSTD, 'expected no Content-Encoding, found zstd'],
])(
  'a body in the coding %s, which the client did not accept, is read or refused',
  async (...row) => {
    const [coding, bytes, text] = row;
    const url = await answering((_request, response) => {
      response.writeHead(200, ['Content-Encoding', coding]).end(bytes);
    });
    const read = listPets(url).then(({ body }) => body.toString(), String);
    expect(await read).toContain(text);
  },
);

test.each([
  ['/fast', 60_000, 'its body is longer than 64 MiB'],
  ['/slow', 600, 'its reply was not complete after 3600 ms (6 times --timeout)'],
  ['/half', 60_000, 'it broke the body off after 4 bytes: aborted (ECONNRESET)'],
  ['/late', 200, 'it sent nothing for 200 ms'],
])('a reply without an end is an error without the key: %s', async (path, timeout, why) => {
  const url = await answering((request, response) => {
    if (request.url === '/v1/late') return;
    if (request.url === '/v1/half') {
      response.writeHead(200, { 'Content-Length': '10' }).write('half');
      setImmediate(() => response.destroy());
      return;
    }
    const chunk = Buffer.alloc(request.url === '/v1/fast' ? 1024 * 1024 : 1);
    const more = () => {
      if (response.destroyed) return;
      if (request.url === '/v1/slow') setTimeout(more, 20);
      else response.once('drain', more);
      response.write(chunk);
    };
    more();
  });
  const sent = createClient(url, { key: 'secret', timeout }).send({ method: 'GET', path });
  await expect(sent).rejects.toThrow(`GET ${url}${path}: ${why}`);
});

test('HTTP_PROXY carries requests to every host but this machine and those in NO_PROXY', () => {
  const variables = { HTTP_PROXY: 'proxy.example:3128', NO_PROXY: '.internal, exact.example' };
  const proxied = (url: string) => findProxy(new URL(url), variables)?.href;
  expect(proxied('http://staging.example/v1')).toBe('http://proxy.example:3128/');
  expect(proxied('http://inexact.example/v1')).toBe('http://proxy.example:3128/');
  for (const direct of ['http://a.internal/', 'http://exact.example:8080/', 'http://127.0.0.1/']) {
    expect(proxied(direct)).toBeUndefined();
  }
  expect(proxied('https://staging.example/v1')).toBeUndefined();
});

test('a certificate is verified, also through a proxy, and --cacert adds one to trust', async () => {
  const server = await serverFor({ tls: true });
  const { port } = server;
  const asked: (string | undefined)[] = [];
  const proxy = http.createServer().on('connect', ({ url, headers }, client: Socket) => {
    asked.push(url, headers['proxy-authorization']);
    const tunnel = connect(port, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    client.on('error', () => {}).pipe(tunnel);
    tunnel.on('error', () => {}).pipe(client);
    onTestFinished(() => void tunnel.destroy());
  });
  const proxyPort = await listenOn(proxy);
  const variables = { HTTPS_PROXY: `http://user:pass@127.0.0.1:${proxyPort}` };
  const pets = (url: string, options: Omit<DeploymentOptions, 'url'>) =>
    listPets(url, { key: 'demo-key', ...options }).then(({ status }) => status, String);
  const here = `https://localhost:${port}/v1`;
  expect(await pets(here, {})).toContain('--cacert');
  expect(await pets(here, { ca: server.certificate })).toBe(200);
  const elsewhere = await pets('https://staging.example/v1', { ca: server.certificate, variables });
  expect(elsewhere).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
  expect(asked).toEqual(['staging.example:443', 'Basic dXNlcjpwYXNz']);
});

test('a proxy with an https URL is spoken to over TLS, for http: targets too', async () => {
  const certificate = await loadCertificate({ tls: true }, '127.0.0.1');
  const proxy = https.createServer({ ...certificate }, ({ url, headers }, response) => {
    response.end(`${url} by ${headers['proxy-authorization']}`);
  });
  const port = await listenOn(proxy);
  const variables = { http_proxy: `https://user:pass@127.0.0.1:${port}` };
  const asked = (ca: string | undefined) =>
    listPets('http://staging.example/v1', { variables, ca }).then(
      ({ body }) => body.toString(),
      String,
    );
  expect(await asked(certificate?.cert)).toBe(
    'http://staging.example/v1/pets by Basic dXNlcjpwYXNz',
  );
  expect(await asked(undefined)).toContain('--cacert');
});

test('a proxy that refuses a tunnel keeps no connection', async () => {
  let open = 0;
  const proxy = createServer((socket) => {
    open += 1;
    socket
      .on('error', () => {})
      .on('close', () => {
        open -= 1;
      });
    socket.once('data', () => socket.write('HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n'));
  });
  const variables = { https_proxy: `http://127.0.0.1:${await listenOn(proxy)}` };
  const sent = listPets('https://staging.example/v1', { variables });
  await expect(sent).rejects.toThrow('answered 407 to CONNECT');
  await expect.poll(() => open).toBe(0);
});

test('a proxy of another kind gets nothing, no password either', async () => {
  let connections = 0;
  const proxy = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  const port = await listenOn(proxy);
  const proxyUrl = `socks5://user:pass@127.0.0.1:${port}`;
  const variables = { http_proxy: proxyUrl, https_proxy: proxyUrl };
  for (const scheme of ['http', 'https']) {
    const sent = listPets(`${scheme}://staging.example/v1`, { variables });
    await expect(sent).rejects.toThrow(/socks5/);
  }
  expect(connections).toBe(0);
});

test('a key that the deployment repeats is hidden in what is read', async () => {
  const key = 'a-"secret"-key';
  const url = await answering((request, response) => {
    const [, sent] = request.headers.authorization?.split(' ') ?? [];
    response.setHeader('X-Key', String(sent)).end(JSON.stringify({ message: `no key ${sent}` }));
  });
  const reply = await listPets(url, { key });
  expect(findHeader(reply.headers, 'x-key')).toBe('KEY');
  expect(reply.body.toString()).toBe('{"message":"no key KEY"}');
});

import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  type Certificate,
  CertificateError,
  type CertificateOptions,
  loadCertificate,
} from '../../src/http/tls/certificate.ts';
import type { RunningServer, ServerOptions } from '../../src/server.ts';
import { serverFor } from '../helpers/deployment.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { TOKEN_HOST } from '../helpers/host.ts';
import { findProgram, runProgram } from '../helpers/program.ts';
import { closeRaw, openRaw, rawRequest } from '../helpers/raw.ts';

const folder = temporaryFolder();
let own: Certificate;
const clients: TLSSocket[] = [];

beforeAll(async () => {
  own = await drawn('127.0.0.1');
  writeFileSync(fileOf('cert.pem'), own.cert);
  writeFileSync(fileOf('key.pem'), own.key);
  symlinkSync('key.pem', fileOf('link-to-key.pem'));
  writeFileSync(fileOf('other.pem'), (await drawn('127.0.0.1')).key);
});

afterEach(() => {
  closeRaw();
  for (const client of clients.splice(0)) client.destroy();
});

function fileOf(name: string): string {
  return join(folder, name);
}

async function drawn(host: string): Promise<Certificate> {
  const certificate = await loadCertificate({ tls: true }, host);
  if (certificate === undefined) throw new Error('There is no certificate.');
  return certificate;
}

/** Starts a server with the certificate in files, which spares each test the making of one. */
function start(options: ServerOptions = {}): Promise<RunningServer> {
  const files = { tlsCert: fileOf('cert.pem'), tlsKey: fileOf('key.pem') };
  return serverFor({ tls: true, ...files, ...options });
}

/** Opens a TLS connection that trusts the server, and sends something on it. */
async function open({ port }: RunningServer, sent = '', more: object = {}): Promise<TLSSocket> {
  const client = connect({ port, host: '127.0.0.1', ca: own.cert, ...more });
  clients.push(client);
  client.on('error', () => {});
  await once(client, 'secureConnect');
  client.write(sent);
  return client;
}

/** All that a client receives until the connection is over, and whether that was by a reset. */
async function received(client: TLSSocket): Promise<{ text: string; reset: boolean }> {
  let text = '';
  let reset = false;
  client.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  client.on('error', (error: NodeJS.ErrnoException) => {
    reset = error.code === 'ECONNRESET';
  });
  await new Promise((resolve) => client.once('close', resolve));
  return { text, reset };
}

const LAST = { Connection: 'close' };

describe('the certificate', () => {
  test('uses P-256, is no CA, and is valid for a year', () => {
    const certificate = new X509Certificate(own.cert);
    expect(certificate.ca).toBe(false);
    expect(certificate.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    expect(certificate.publicKey.equals(createPublicKey(createPrivateKey(own.key)))).toBe(true);
    const days = (Date.parse(certificate.validTo) - Date.now()) / (24 * 60 * 60 * 1000);
    expect(Math.round(days)).toBeOneOf([365, 366]);
    expect(Date.parse(certificate.validFrom)).toBeLessThan(Date.now());
  });

  test.each([
    ['127.0.0.1', ['localhost', '127.0.0.1', '::1']],
    ['pets.test', ['pets.test', 'localhost']],
    ['192.0.2.7', ['192.0.2.7']],
    ['0.0.0.0', [hostname()]],
    ['fe80::1%eth0', ['fe80::1']],
  ])('of a server that listens on %s is for %j', async (host, names) => {
    const certificate = new X509Certificate((await drawn(host)).cert);
    const known = (it: string) =>
      isIP(it) === 0 ? certificate.checkHost(it) : certificate.checkIP(it);
    expect(names.map(known)).toEqual(names);
    expect(known('example.com')).toBeUndefined();
  });

  test('is written to a file, and served without a token, but never its key', async () => {
    const both = fileOf('both.pem');
    writeFileSync(both, own.key + own.cert);
    const { url, certificate } = await start({
      host: TOKEN_HOST,
      tlsCert: both,
      tlsKey: both,
      tlsWrite: fileOf('written.pem'),
    });
    expect(certificate).toBe(own.cert);
    expect(readFileSync(fileOf('written.pem'), 'utf8')).toBe(own.cert);
    const target = new URL('/__mock/certificate.pem', url);
    const [reply] = await once(get(target, { ca: own.cert, agent: false }), 'response');
    expect(reply.headers['content-type']).toBe('application/x-pem-file');
    expect(await text(reply)).toBe(own.cert);
  });

  test('does not exist over plain HTTP', async () => {
    const server = await serverFor();
    const reply = await fetch(new URL('/__mock/certificate.pem', server.url));
    expect(reply.status).toBe(404);
    expect(await reply.json()).toMatchObject({
      message: 'this server speaks plain HTTP: start it with --tls',
    });
  });

  test.each<[string, CertificateOptions]>([
    ['--tls-cert requires --tls', { tls: false, tlsCert: 'cert.pem' }],
    ['--tls-key requires --tls-cert', { tlsKey: 'key.pem' }],
    [
      'key.pem: expected a certificate in PEM, found none',
      { tlsCert: 'key.pem', tlsKey: 'key.pem' },
    ],
    [
      '--tls-write would overwrite --tls-key',
      { tlsCert: 'cert.pem', tlsKey: 'key.pem', tlsWrite: 'link-to-key.pem' },
    ],
    [
      'other.pem: expected a certificate and its private key without a passphrase, in PEM, found ERR_',
      { tlsCert: 'cert.pem', tlsKey: 'other.pem' },
    ],
    [
      'nowhere/ca.pem: expected a file that can be written, found ENOENT',
      { tlsWrite: 'nowhere/ca.pem' },
    ],
  ])('cannot be used: %s', async (message, { tls = true, ...files }) => {
    const paths = Object.entries(files).map(([flag, name]) => [flag, fileOf(`${name}`)]);
    const loading = loadCertificate({ tls, ...Object.fromEntries(paths) }, '127.0.0.1');
    const failure = await loading.catch((error) => error);
    expect(failure).toBeInstanceOf(CertificateError);
    expect(failure.message).toContain(message);
  });
});

describe('the port', () => {
  test('answers plain HTTP with 400, and says so in one line of the log', async () => {
    const message = 'this port speaks HTTPS: use a base URL with https:// instead of http://';
    const notices: string[] = [];
    const server = await start({ onNotice: (notice) => notices.push(notice) });
    const requests = ['GET', 'DELETE', 'PATCH'].map((method) => rawRequest(method, '/v1/pets/1'));
    for (const sent of [...requests, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'SSH-2.0-client\r\n']) {
      const client = await openRaw(server.port);
      client.send(sent);
      const { status, body, headers } = await client.reply();
      expect([status, headers.connection]).toEqual([400, 'close']);
      expect(JSON.parse(body)).toEqual({ code: 'invalid_input', status: 400, message });
      expect(await client.rest()).toBe('');
    }
    expect(notices).toEqual([message]);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('speaks %s', async (version) => {
    const server = await start();
    const client = await open(server, rawRequest('GET', '/v1/pets/1', LAST), {
      minVersion: version,
      maxVersion: version,
    });
    expect(client.getProtocol()).toBe(version);
    expect((await received(client)).text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*"id":1,/);
  });

  test('logs what a client that does not trust the certificate needs', async ({ skip }) => {
    const curl = findProgram('curl');
    if (curl === undefined) return skip('This machine has no curl.');
    const notices: string[] = [];
    const server = await start({ onNotice: (notice) => notices.push(notice) });
    // OpenSSL tells the server; Node's own client only leaves.
    await runProgram(curl, ['--silent', server.url]);
    await expect
      .poll(() => notices.join())
      .toMatch(/^a client does not trust the certificate: get it with --tls-write FILE or from/);
  });

  test('closes connections that send nothing or do not finish the handshake', async () => {
    const { port } = await start({ timeouts: { headers: 20 } });
    const silent = await openRaw(port);
    const begun = await openRaw(port);
    begun.send(Buffer.from([0x16, 0x03, 0x01]));
    expect(await Promise.all([silent.rest(), begun.rest()])).toEqual(['', '']);
  });

  test('stops once every reply is sent, whatever other connections wait for', async () => {
    const server = await start({ delay: 100, timeouts: { stop: 1_000_000 } });
    const silent = await openRaw(server.port);
    const idle = await open(server);
    const client = await open(server, rawRequest('GET', '/v1/pets/1'));
    const [reply] = await Promise.all([received(client), server.close(), received(idle)]);
    await silent.rest();
    expect(reply.text).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*"id":1,/);
  });
});

test.each([
  ['reset', true, /^$/],
  ['close', false, /^$/],
  ['truncate', false, /Content-Length: (\d+)\r\n.*\r\n\r\n\{"id":1,/s],
])('the fault %s is the same over TLS', async (fault, reset, wire) => {
  const file = fileOf('scenario.json');
  writeFileSync(file, JSON.stringify({ rules: [{ on: 'getPet', apply: true, fault }] }));
  const client = await open(await start({ scenarios: [file] }), rawRequest('GET', '/v1/pets/1'));
  expect(await received(client)).toEqual({ text: expect.stringMatching(wire), reset });
});

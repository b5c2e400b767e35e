import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ServerOptions } from '../../../src/index.ts';
import {
  type Certificate,
  CertificateError,
  loadCertificate,
} from '../../../src/server/http/tls.ts';
import type { RunningServer } from '../../../src/server/server.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { TOKEN_HOST } from '../../helpers/host.ts';
import { findProgram, runProgram } from '../../helpers/program.ts';
import { askRaw, openRaw, rawRequest } from '../../helpers/raw.ts';
import { asker } from '../../helpers/wire.ts';

const folder = temporaryFolder();
const fileAt = (name: string): string => join(folder, name);
let own: Certificate;

beforeAll(async () => {
  own = await generate('127.0.0.1');
  writeFileSync(fileAt('cert.pem'), own.cert);
  writeFileSync(fileAt('key.pem'), own.key);
  writeFileSync(fileAt('both.pem'), own.key + own.cert);
  symlinkSync('key.pem', fileAt('link-to-key.pem'));
  writeFileSync(fileAt('other.pem'), (await generate('127.0.0.1')).key);
});

async function generate(host: string): Promise<Certificate> {
  const certificate = await loadCertificate({ tls: true }, host);
  if (certificate === undefined) throw new Error('There is no certificate.');
  return certificate;
}

/** Starts a server with the certificate in files, which spares each test the making of one. */
function start(options: ServerOptions = {}): Promise<RunningServer> {
  const files = { tlsCert: fileAt('cert.pem'), tlsKey: fileAt('key.pem') };
  return serverFor({ tls: true, ...files, ...options });
}

/** Opens a TLS connection that trusts the server, and sends something on it. */
async function open({ port }: RunningServer, sent = '', more: object = {}): Promise<TLSSocket> {
  const client = connect({ port, host: '127.0.0.1', ca: own.cert, ...more });
  onTestFinished(() => void client.destroy());
  client.on('error', () => {});
  await once(client, 'secureConnect');
  client.write(sent);
  return client;
}

/** All that a client receives until the connection is over, and whether that was by a reset. */
async function received(client: TLSSocket): Promise<{ text: string; reset: boolean }> {
  let text = '';
  client.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await new Promise((resolve) => client.once('close', resolve));
  return { text, reset: Object(client.errored).code === 'ECONNRESET' };
}

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
    const certificate = new X509Certificate((await generate(host)).cert);
    const known = (name: string) =>
      isIP(name) === 0 ? certificate.checkHost(name) : certificate.checkIP(name);
    expect(names.map(known)).toEqual(names);
    expect(known('example.com')).toBeUndefined();
  });

  test('is written to a file, and served without a token, but never its key', async () => {
    const files = { tlsCert: fileAt('both.pem'), tlsKey: fileAt('both.pem') };
    const tlsWrite = fileAt('new/written.pem');
    const { url, certificate } = await start({ host: TOKEN_HOST, ...files, tlsWrite });
    expect([certificate, readFileSync(tlsWrite, 'utf8')]).toEqual([own.cert, own.cert]);
    const target = new URL('/__mock/certificate.pem', url);
    const [reply] = await once(get(target, { ca: own.cert, agent: false }), 'response');
    expect(reply.headers['content-type']).toBe('application/x-pem-file');
    expect(await text(reply)).toBe(own.cert);
  });

  test('does not exist over plain HTTP', async () => {
    const reply = await asker((await serverFor()).port, '/__mock')('GET', '/certificate.pem');
    const message = 'this server speaks plain HTTP: start it with --tls';
    expect(reply).toMatchObject({ status: 404, json: { message } });
  });

  test('of an upstream is trusted with cacert only', async () => {
    const { url } = await start();
    for (const cacert of [undefined, fileAt('cert.pem')]) {
      const { port } = await serverFor({ upstream: url, ...(cacert && { cacert }) });
      const { status, text } = await asker(port)('GET', '/pets');
      expect([status, /not trusted/.test(text)]).toEqual(cacert ? [200, false] : [502, true]);
    }
  });

  test.each<[string, ServerOptions]>([
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
      'key.pem/ca.pem: expected a file that can be written, found EEXIST',
      { tlsWrite: 'key.pem/ca.pem' },
    ],
  ])('cannot be used: %s', async (message, { tls = true, ...files }) => {
    const paths = Object.entries(files).map(([flag, name]) => [flag, fileAt(`${name}`)]);
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
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
    for (const sent of [rawRequest('PATCH', '/v1/pets/1'), preface, 'SSH-2.0-client\r\n']) {
      const { status, body, headers } = await askRaw(server.port, sent);
      expect([status, headers.connection]).toEqual([400, 'close']);
      expect(JSON.parse(body)).toEqual({ code: 'invalid_input', status: 400, message });
    }
    expect(notices).toEqual([message]);
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('speaks %s', async (version) => {
    const only = { minVersion: version, maxVersion: version };
    const sent = rawRequest('GET', '/v1/pets/1', { Connection: 'close' });
    const client = await open(await start(), sent, only);
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
  const file = fileAt('scenario.json');
  writeFileSync(file, JSON.stringify({ rules: [{ on: 'getPet', apply: true, fault }] }));
  const client = await open(await start({ scenarios: [file] }), rawRequest('GET', '/v1/pets/1'));
  expect(await received(client)).toEqual({ text: expect.stringMatching(wire), reset });
});

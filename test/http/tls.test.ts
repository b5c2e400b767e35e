import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { parseJson } from '../../src/contract/json.ts';
import {
  type Certificate,
  CertificateError,
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
  test('is for this machine and the host, uses P-256, and is valid for a year', () => {
    const { cert, key } = own;
    const certificate = new X509Certificate(cert);
    for (const name of ['localhost']) expect(certificate.checkHost(name)).toBe(name);
    for (const address of ['127.0.0.1', '::1']) {
      expect(certificate.checkIP(address)).toBe(address);
    }
    expect(certificate.checkHost('example.com')).toBeUndefined();
    expect(certificate.ca).toBe(false);
    expect(certificate.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    expect(certificate.publicKey.equals(createPublicKey(createPrivateKey(key)))).toBe(true);
    const day = 24 * 60 * 60 * 1000;
    const left = Date.parse(certificate.validTo) - Date.now();
    expect(left).toBeGreaterThan(364 * day);
    expect(left).toBeLessThanOrEqual(366 * day);
    expect(Date.parse(certificate.validFrom)).toBeLessThan(Date.now());
  });

  test('also names the host, and the machine if the server listens on every address', async () => {
    const names = async (host: string) => new X509Certificate((await drawn(host)).cert);
    expect((await names('pets.test')).checkHost('pets.test')).toBe('pets.test');
    expect((await names('192.0.2.7')).checkIP('192.0.2.7')).toBe('192.0.2.7');
    expect((await names('0.0.0.0')).checkHost(hostname())).toBe(hostname());
    expect((await names('fe80::1%eth0')).checkIP('fe80::1')).toBe('fe80::1');
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
    const { output } = await runProgram('cat', [fileOf('written.pem')]);
    expect(output).toBe(own.cert);
    const served = await fetched(new URL('/__mock/certificate.pem', url));
    expect(served).toEqual({ status: 200, type: 'application/x-pem-file', text: own.cert });
  });

  test('does not exist over plain HTTP', async () => {
    const server = await serverFor();
    const reply = await fetch(new URL('/__mock/certificate.pem', server.url));
    expect(reply.status).toBe(404);
    expect(await reply.json()).toMatchObject({
      message: 'this server speaks plain HTTP: start it with --tls',
    });
  });

  test.each([
    ['--tls-cert requires --tls', () => ({ tlsCert: 'a.pem' })],
    [
      'HTTPS: expected both --tls-cert and --tls-key, or neither, found one',
      () => ({ tls: true, tlsKey: 'a.pem' }),
    ],
    [
      'key.pem: expected a certificate in PEM, found none',
      () => ({ tls: true, tlsCert: fileOf('key.pem'), tlsKey: fileOf('key.pem') }),
    ],
    [
      'key.pem: expected a file for the certificate alone, found the file of --tls-key',
      () => ({
        tls: true,
        tlsCert: fileOf('cert.pem'),
        tlsKey: fileOf('key.pem'),
        tlsWrite: fileOf('key.pem'),
      }),
    ],
    [
      'other.pem: expected a certificate and its private key without a passphrase, in PEM, found ERR_',
      () => ({ tls: true, tlsCert: fileOf('cert.pem'), tlsKey: fileOf('other.pem') }),
    ],
    [
      'nowhere/ca.pem: expected a file that can be written, found ENOENT',
      () => ({ tls: true, tlsWrite: fileOf('nowhere/ca.pem') }),
    ],
  ])('cannot be used: %s', async (message, options) => {
    const failure = await loadCertificate(options(), '127.0.0.1').catch((error) => error);
    expect(failure).toBeInstanceOf(CertificateError);
    expect(failure.message).toContain(message);
  });
});

/** A reply to GET, from a server whose certificate is trusted. */
async function fetched(url: URL): Promise<{ status: number; type: string; text: string }> {
  const [reply] = await once(get(url, { ca: own.cert, agent: false }), 'response');
  let text = '';
  for await (const chunk of reply) text += chunk;
  return { status: reply.statusCode, type: reply.headers['content-type'], text };
}

describe('the port', () => {
  test('answers plain HTTP with 400, and says so in one line of the log', async () => {
    const message = 'this port speaks HTTPS: use a base URL with https:// instead of http://';
    const notices: string[] = [];
    const server = await start({ onNotice: (notice) => notices.push(notice) });
    for (const method of ['GET', 'DELETE', 'PATCH']) {
      const client = await openRaw(server.port);
      client.send(rawRequest(method, '/v1/pets/1'));
      const { status, body, headers } = await client.reply();
      expect({ status, connection: headers.connection }).toEqual({
        status: 400,
        connection: 'close',
      });
      expect(parseJson(body)).toEqual({ code: 'invalid_input', status: 400, message });
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
    let told: (notice: string) => void = () => {};
    const notice = new Promise((resolve) => {
      told = resolve;
    });
    const server = await start({ onNotice: told });
    // OpenSSL tells the server; Node's own client only leaves.
    await runProgram(curl, ['--silent', server.url]);
    expect(await notice).toBe(
      'a client does not trust the certificate: get it with --tls-write FILE or from /__mock/certificate.pem',
    );
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

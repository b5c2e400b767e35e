import { mkdir } from 'node:fs/promises';
import type { ServerOptions } from 'node:http';
import type { Server } from 'node:https';
import { isIP, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { errorCode } from '../../core/thrown.ts';
import { fingerprint, readText, SETTINGS_LIMIT, writeText } from '../files.ts';
import type { BaseOptions } from '../options.ts';

/** A certificate and its key in PEM; the certificate may have its chain after it. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Thrown for a certificate or a key that cannot be used. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

/**
 * Reads or generates the server's certificate, and writes it to the file in `tlsWrite`.
 *
 * @param host the name or address that the server listens on
 * @returns undefined without `tls`
 * @throws CertificateError with the file and the reason
 */
export async function loadCertificate(
  { tls = false, tlsCert, tlsKey, tlsWrite }: BaseOptions,
  host: string,
): Promise<Certificate | undefined> {
  const files = { '--tls-cert': tlsCert, '--tls-key': tlsKey, '--tls-write': tlsWrite };
  const [flag] = Object.entries(files).find(([, file]) => file !== undefined) ?? [];
  if (!tls) {
    if (flag !== undefined) throw new CertificateError(`${flag} requires --tls`);
    return undefined;
  }
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    const [given, lacking] = tlsKey ? ['--tls-key', '--tls-cert'] : ['--tls-cert', '--tls-key'];
    throw new CertificateError(`${given} requires ${lacking}`);
  }
  const certificate =
    tlsCert !== undefined && tlsKey !== undefined
      ? await readPair(tlsCert, tlsKey)
      : await (await import('./generate-certificate.ts')).generateCertificate(listNames(host));
  if (tlsWrite && tlsKey && fingerprint(tlsWrite) === fingerprint(tlsKey)) {
    throw new CertificateError(`--tls-write would overwrite --tls-key, ${tlsKey}`);
  }
  try {
    if (tlsWrite !== undefined) {
      await mkdir(dirname(tlsWrite), { recursive: true });
      await writeText(tlsWrite, certificate.cert);
    }
  } catch (error) {
    throwUnusable(`${tlsWrite}`, 'a file that can be written', String(errorCode(error) ?? error));
  }
  return certificate;
}

/** The addresses that mean all interfaces, also in IPv6 notation. */
export const EVERY_ADDRESS = /^(?:0\.0\.0\.0|::|::ffff:(?:0\.0\.0\.0|0:0))$/;

/** Names by which clients on this machine or in other containers may reach the server. */
function listNames(host: string): { type: 'dns' | 'ip'; value: string }[] {
  const names = ['localhost', '127.0.0.1', '::1', host.replace(/%.*$/, '')];
  if (EVERY_ADDRESS.test(host)) names.push(process.getBuiltinModule('node:os').hostname());
  return [...new Set(names)].map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }));
}

async function readPair(certFile: string, keyFile: string): Promise<Certificate> {
  // The file may also contain the private key, which must not be handed out.
  const cert = `${await readCertificates(certFile)}\n`;
  const key = await read(keyFile);
  try {
    process.getBuiltinModule('node:tls').createSecureContext({ cert, key });
  } catch (error) {
    const pair = 'a certificate and its private key without a passphrase, in PEM';
    throwUnusable(`${certFile} and ${keyFile}`, pair, errorCode(error) ?? String(error));
  }
  return { cert, key };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** @throws CertificateError with the file and the reason */
export async function readCertificates(file: string): Promise<string> {
  const certificates = (await read(file)).match(CERTIFICATE) ?? [];
  if (certificates.length === 0) throwUnusable(file, 'a certificate in PEM', 'none');
  return certificates.join('\n');
}

async function read(file: string): Promise<string> {
  const reading = await readText(file, SETTINGS_LIMIT);
  return reading.ok ? reading.text : throwUnusable(file, 'a file in PEM', reading.found);
}

function throwUnusable(file: string, expected: string, found: string): never {
  throw new CertificateError(`${file}: expected ${expected}, found ${found}`);
}

/** The first byte of a TLS connection (RFC 8446, section 5.1). */
const HANDSHAKE = 0x16;

/** The TCP socket below each TLS socket. */
const carriers = new WeakMap<Socket, Socket>();

export const unwrapTls = (socket: Socket): Socket => carriers.get(socket) ?? socket;

/** @param onPlain called if a client does not use TLS */
export function createTlsServer(
  options: ServerOptions,
  { cert, key }: Certificate,
  onPlain: (socket: Socket) => void,
): Server {
  const { createServer } = process.getBuiltinModule('node:https');
  const { createSecureContext, TLSSocket } = process.getBuiltinModule('node:tls');
  const secureContext = createSecureContext({ cert, key, minVersion: 'TLSv1.2' });
  const server = createServer(options).removeAllListeners('connection');
  return server.on('connection', (socket: Socket) => {
    const destroy = (): void => void socket.destroy();
    socket.setTimeout(server.headersTimeout, destroy).once('readable', () => {
      const first: Buffer | null = socket.read(1);
      if (first === null) return destroy();
      socket.off('timeout', destroy).setTimeout(0).unshift(first);
      if (first[0] !== HANDSHAKE) return onPlain(socket);
      const secured = new TLSSocket(socket, { isServer: true, secureContext });
      carriers.set(secured, socket);
      server.emit('secureConnection', secured);
    });
  });
}

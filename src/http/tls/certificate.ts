import { writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { codeOf } from '../../node-errors.ts';
import { readText, SETTINGS_LIMIT } from '../../read-text.ts';
import { stateOf } from '../../store/file/files.ts';

/** Where the certificate of a server comes from. */
export interface CertificateOptions {
  /** Whether the server speaks HTTPS. */
  readonly tls?: boolean | undefined;
  /**
   * A file with the certificate in PEM; by default one is generated for the names of this server.
   */
  readonly tlsCert?: string | undefined;
  /** A file with the private key of `tlsCert` in PEM. */
  readonly tlsKey?: string | undefined;
  /** A file to write the certificate to, for clients to trust. */
  readonly tlsWrite?: string | undefined;
}

/** A certificate, with its chain if there is one, and its private key, both in PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Why a certificate cannot be used. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError';
}

/**
 * Reads or generates the certificate of a server, and writes it where `tlsWrite` says.
 *
 * @param host the name or address that the server listens on
 * @returns undefined without `tls`
 * @throws CertificateError with the file and the reason
 */
export async function loadCertificate(
  { tls = false, tlsCert, tlsKey, tlsWrite }: CertificateOptions,
  host: string,
): Promise<Certificate | undefined> {
  const files = { '--tls-cert': tlsCert, '--tls-key': tlsKey, '--tls-write': tlsWrite };
  const [flag] = Object.entries(files).find(([, file]) => file !== undefined) ?? [];
  if (!tls) {
    if (flag !== undefined) throw new CertificateError(`${flag} requires --tls`);
    return undefined;
  }
  const certificate = await certificateFor(tlsCert, tlsKey, host);
  if (tlsWrite !== undefined) {
    if (tlsKey !== undefined && stateOf(tlsWrite) === stateOf(tlsKey)) {
      throw new CertificateError(`--tls-write would overwrite --tls-key, ${tlsKey}`);
    }
    writeCertificate(tlsWrite, certificate.cert);
  }
  return certificate;
}

async function certificateFor(
  certFile: string | undefined,
  keyFile: string | undefined,
  host: string,
): Promise<Certificate> {
  if (certFile !== undefined && keyFile !== undefined) return readPair(certFile, keyFile);
  if (certFile !== keyFile) {
    const [given, lacking] = keyFile ? ['--tls-key', '--tls-cert'] : ['--tls-cert', '--tls-key'];
    throw new CertificateError(`${given} requires ${lacking}`);
  }
  const { drawCertificate } = await import('./draw-certificate.ts');
  return drawCertificate(namesOf(host));
}

const EVERY_ADDRESS = ['0.0.0.0', '::'];

/** The names that clients on this machine, or in other containers, may call the server by. */
function namesOf(host: string): { type: 'dns' | 'ip'; value: string }[] {
  const names = ['localhost', '127.0.0.1', '::1', host.replace(/%.*$/, '')];
  if (EVERY_ADDRESS.includes(host)) names.push(process.getBuiltinModule('node:os').hostname());
  return [...new Set(names)].map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }));
}

async function readPair(certFile: string, keyFile: string): Promise<Certificate> {
  // The file may also contain the private key, which must stay secret.
  const cert = `${await readCertificates(certFile)}\n`;
  const key = await read(keyFile);
  try {
    process.getBuiltinModule('node:tls').createSecureContext({ cert, key });
  } catch (error) {
    const pair = 'a certificate and its private key without a passphrase, in PEM';
    unusable(`${certFile} and ${keyFile}`, pair, codeOf(error) ?? String(error));
  }
  return { cert, key };
}

/**
 * Reads certificates that are to be trusted.
 *
 * @throws CertificateError with the file and the reason
 */
export async function readCertificates(file: string): Promise<string> {
  const certificates = (await read(file)).match(CERTIFICATE) ?? [];
  if (certificates.length === 0) unusable(file, 'a certificate in PEM', 'none');
  return certificates.join('\n');
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

async function read(file: string): Promise<string> {
  const reading = await readText(file, SETTINGS_LIMIT);
  return reading.ok ? reading.text : unusable(file, 'a file in PEM', reading.found);
}

function writeCertificate(file: string, cert: string): void {
  try {
    writeFileSync(file, cert);
  } catch (error) {
    unusable(file, 'a file that can be written', String(codeOf(error) ?? error));
  }
}

function unusable(file: string, expected: string, found: string): never {
  throw new CertificateError(`${file}: expected ${expected}, found ${found}`);
}

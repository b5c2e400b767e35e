import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatControlUrl, parseAddress } from '../core/contract/target.ts';

export const MOCK_VARIABLES = {
  url: 'PETSTORE_MOCK_URL',
  key: 'PETSTORE_MOCK_KEY',
  controlUrl: 'PETSTORE_MOCK_CONTROL_URL',
  controlToken: 'PETSTORE_MOCK_CONTROL_TOKEN',
  ca: 'PETSTORE_MOCK_CA',
} as const;

/** The variable with a file of certificates that a Node process trusts from its start. */
const NODE_CA = 'NODE_EXTRA_CA_CERTS';

/** What a program needs to call a running server. */
export interface ServerAccess {
  /** The base URL of the service. */
  readonly url: string;
  /** The token of the control API; undefined if none is required. */
  readonly controlToken: string | undefined;
  /** The server's certificate in PEM; undefined without TLS. */
  readonly certificate: string | undefined;
}

/**
 * @param inherited the variables of the environment. Certificates that they trust stay trusted.
 * @returns the variables to set; a variable without a value must be unset
 */
export function mockVariables(
  { url, controlToken, certificate }: ServerAccess,
  key: string,
  inherited: Readonly<Record<string, string | undefined>>,
  noControl = false,
): Record<string, string | undefined> {
  const ca = certificate && writeCertificate(certificate, inherited[NODE_CA]);
  return {
    [MOCK_VARIABLES.url]: url,
    [MOCK_VARIABLES.key]: key,
    [MOCK_VARIABLES.controlUrl]: noControl ? undefined : formatControlUrl(parseAddress(url)),
    [MOCK_VARIABLES.controlToken]: noControl ? undefined : controlToken,
    [MOCK_VARIABLES.ca]: ca,
    ...(ca && { [NODE_CA]: ca }),
  };
}

const files = new Map<string, string>();

function writeCertificate(certificate: string, others: string | undefined): string {
  const known = files.get(certificate);
  if (known !== undefined) return known;
  const folder = makeTemporaryFolder();
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'ca.pem');
  // If this file is missing, Node itself only prints a warning.
  const trusted = others && existsSync(others) ? readFileSync(others, 'utf8') : '';
  writeFileSync(file, certificate + trusted);
  files.set(certificate, file);
  return file;
}

function makeTemporaryFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'petstore-mock-'));
  } catch (cause) {
    const problem = `no temporary folder for the certificate in ${tmpdir()}`;
    throw new Error(`${problem}: set TMPDIR to a folder that can be written`, { cause });
  }
}

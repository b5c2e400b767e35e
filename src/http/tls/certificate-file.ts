import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The variable with a file of certificates that a Node process trusts from its start. */
const EXTRA = 'NODE_EXTRA_CA_CERTS';

const files = new Map<string, string>();

/** A temporary file with a certificate, and with those that `others` names. */
function certificateFile(certificate: string, others: string | undefined): string {
  const known = files.get(certificate);
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), 'petstore-mock-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'ca.pem');
  writeFileSync(file, `${certificate}${textOf(others)}`);
  files.set(certificate, file);
  return file;
}

/**
 * The variables by which programs, and Node itself, find a certificate to trust.
 *
 * @param inherited the variables that the programs would get otherwise; what those trust stays
 * trusted
 */
export function certificateVariables(
  certificate: string | undefined,
  inherited: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  if (certificate === undefined) return {};
  const file = certificateFile(certificate, inherited[EXTRA]);
  return { PETSTORE_MOCK_CA: file, [EXTRA]: file };
}

function textOf(file: string | undefined): string {
  try {
    return file ? readFileSync(file, 'utf8') : '';
  } catch {
    return ''; // Node itself only warns about it
  }
}

import { parseAddress } from '../http/target.ts';
import { certificateVariables } from '../http/tls/certificate-file.ts';
import type { RunningServer } from '../server.ts';
import { type KeyLists, keyring } from '../service/keyring.ts';

/** The environment variables that tell a program about the server it runs beside. */
export const MOCK_VARIABLES = {
  url: 'PETSTORE_MOCK_URL',
  key: 'PETSTORE_MOCK_KEY',
  controlUrl: 'PETSTORE_MOCK_CONTROL_URL',
  controlToken: 'PETSTORE_MOCK_CONTROL_TOKEN',
  ca: 'PETSTORE_MOCK_CA',
} as const;

/** What a program needs to reach a server. */
export type ServerAccess = Pick<RunningServer, 'url' | 'controlToken' | 'certificate'>;

/**
 * The variables for a server. Those without a value must be unset.
 *
 * @param inherited the variables that a program would get otherwise
 */
export function mockVariables(
  { url, controlToken, certificate }: ServerAccess,
  key: string,
  inherited: Readonly<Record<string, string | undefined>>,
  noControl = false,
): Record<string, string | undefined> {
  return {
    [MOCK_VARIABLES.url]: url,
    [MOCK_VARIABLES.key]: key,
    [MOCK_VARIABLES.controlUrl]: noControl ? undefined : `${parseAddress(url).root}/__mock`,
    [MOCK_VARIABLES.controlToken]: noControl ? undefined : controlToken,
    [MOCK_VARIABLES.ca]: undefined,
    ...certificateVariables(certificate, inherited),
  };
}

/** A key that a server accepts; undefined if there is none. */
export function workingKey(lists: KeyLists): string | undefined {
  const { valid, readOnly, invalid, any } = keyring(lists);
  const candidates = [...valid, ...readOnly, ...(any ? ['any-key'] : [])];
  return invalid === 'all' ? undefined : candidates.find((key) => !invalid.has(key));
}

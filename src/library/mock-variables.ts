import { type KeyLists, keyring } from '../service/keyring.ts';

/** The environment variables that tell a program about the server it runs beside. */
export const MOCK_VARIABLES = {
  url: 'PETSTORE_MOCK_URL',
  key: 'PETSTORE_MOCK_KEY',
  controlUrl: 'PETSTORE_MOCK_CONTROL_URL',
  controlToken: 'PETSTORE_MOCK_CONTROL_TOKEN',
} as const;

/** The variables for a server. Those without a value must be unset. */
export function mockVariables(
  { url, controlToken }: { readonly url: string; readonly controlToken: string | undefined },
  key: string,
  noControl = false,
): Record<string, string | undefined> {
  return {
    [MOCK_VARIABLES.url]: url,
    [MOCK_VARIABLES.key]: key,
    [MOCK_VARIABLES.controlUrl]: noControl ? undefined : new URL('/__mock', url).href,
    [MOCK_VARIABLES.controlToken]: noControl ? undefined : controlToken,
  };
}

/** A key that a server accepts; undefined if there is none. */
export function workingKey(lists: KeyLists): string | undefined {
  const { valid, readOnly, invalid, any } = keyring(lists);
  const candidates = [...valid, ...readOnly, ...(any ? ['any-key'] : [])];
  return invalid === 'all' ? undefined : candidates.find((key) => !invalid.has(key));
}

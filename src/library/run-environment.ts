import type { ConnectOptions } from './connect.ts';

/** The variables that name a test run's server; `petstore-mock exec` sets the same ones. */
const NAMES = {
  url: 'PETSTORE_MOCK_URL',
  key: 'PETSTORE_MOCK_KEY',
  controlUrl: 'PETSTORE_MOCK_CONTROL_URL',
  token: 'PETSTORE_MOCK_CONTROL_TOKEN',
} as const;

type Told = Readonly<Record<keyof typeof NAMES, string | undefined>>;

/** The server of this test run, if there is one. */
export function serverOfRun(): ConnectOptions | undefined {
  const { url, key, token } = NAMES;
  const address = read(url);
  return address === undefined ? undefined : { url: address, key: read(key), token: read(token) };
}

/**
 * Names a server to this process and those that it starts from now on.
 *
 * @returns a function that undoes it
 */
export function tellRun(told: Told): () => void {
  const before = { url: read(NAMES.url), key: read(NAMES.key) };
  const all = { ...before, controlUrl: read(NAMES.controlUrl), token: read(NAMES.token) };
  writeAll(told);
  return () => writeAll(all);
}

function read(name: string): string | undefined {
  // biome-ignore lint/style/noProcessEnv: how the processes of a test runner find the server
  return process.env[name] || undefined;
}

function writeAll(values: Told): void {
  for (const name of ['url', 'key', 'controlUrl', 'token'] as const) {
    const value = values[name];
    // biome-ignore lint/style/noProcessEnv: the same
    if (value === undefined) delete process.env[NAMES[name]];
    // biome-ignore lint/style/noProcessEnv: the same
    else process.env[NAMES[name]] = value;
  }
}

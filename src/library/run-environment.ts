import type { ConnectOptions } from './connect.ts';

/** How the processes of a test run are told of its server; `petstore-mock exec` sets the same. */
const NAMES = {
  url: 'PETSTORE_MOCK_URL',
  key: 'PETSTORE_MOCK_KEY',
  controlUrl: 'PETSTORE_MOCK_CONTROL_URL',
  token: 'PETSTORE_MOCK_CONTROL_TOKEN',
} as const;

type Told = Readonly<Record<keyof typeof NAMES, string | undefined>>;

/** The server of this run, where one was told of. */
export function serverOfRun(): ConnectOptions | undefined {
  const { url, key, token } = NAMES;
  const address = read(url);
  return address === undefined ? undefined : { url: address, key: read(key), token: read(token) };
}

/**
 * Tells this process, and those that it starts from now on, of a server.
 *
 * @returns takes that back
 */
export function tellRun(told: Told): () => void {
  const before = { url: read(NAMES.url), key: read(NAMES.key) };
  const all = { ...before, controlUrl: read(NAMES.controlUrl), token: read(NAMES.token) };
  writeAll(told);
  return () => writeAll(all);
}

function read(name: string): string | undefined {
  // biome-ignore lint/style/noProcessEnv: where a test runner's processes find a server that runs
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

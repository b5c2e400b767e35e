import { createClient } from '../client/connect-client.ts';
import { DEFAULTS } from '../core/limits.ts';
import { describe } from '../core/words.ts';
import { Failure, misuse, readCertificate } from '../terminal/command.ts';
import type { Flags } from './flags.ts';

/** Callable addresses for those that mean every interface. */
const CALLABLE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Where `health`, `ctl` and `gate` look for a server. */
export function findServerUrl(flags: Flags): string {
  const { url, host = DEFAULTS.host, port = DEFAULTS.port, tls = false } = flags;
  if (url !== undefined) return url;
  if (port === 0) {
    throw misuse('--port', 'the port of the server', '0, which means any free port');
  }
  const callable = CALLABLE[host] ?? host;
  const name = callable.includes(':') ? `[${callable}]` : callable;
  const origin = `${tls ? 'https' : 'http'}://${name}:${port}`;
  if (URL.canParse(origin)) return origin;
  throw misuse('--host', 'a host name', describe(host));
}

/** Opens the control API of the sandbox that the flags name, or else the address of the server. */
export async function openControl(flags: Flags, name: string) {
  const { token } = flags;
  const url = findServerUrl(flags);
  const ca = await readCertificate('ca', flags.ca);
  const { client, sandbox: named } = createClient({ url, token, ca }, name);
  const { sandbox = named } = flags;
  return { client: client.sandbox(sandbox), sandbox };
}

export function explainError(error: Error): Failure {
  return new Failure(error.message, { cause: error });
}

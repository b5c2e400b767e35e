import { ControlClient, ControlError } from '../../client/control-client.ts';
import { createNodeFetch } from '../../client/node-fetch.ts';
import { formatControlUrl, parseAddress } from '../../core/contract/target.ts';
import { DEFAULT_SANDBOX, DEFAULTS } from '../../core/limits.ts';
import { errorCode, NOT_TLS } from '../../core/thrown.ts';
import { Failure } from '../../terminal/command.ts';
import type { ProgramCommand } from '../flags.ts';
import { findServerUrl } from '../open-control.ts';

export const health: ProgramCommand = async ({ flags }) => {
  const { timeout = DEFAULTS.healthTimeout, tls = false } = flags;
  const { root } = parseAddress(findServerUrl(flags));
  const url = formatControlUrl({ root, sandbox: DEFAULT_SANDBOX });
  // The request carries no secret.
  const fetch = createNodeFetch(tls ? { rejectUnauthorized: false } : {});
  const signal = AbortSignal.timeout(timeout);
  await new ControlClient({ url, fetch }).ping(signal).catch((cause) => {
    const limit = signal.aborted ? timeout : undefined;
    throw new Failure(explain(cause, `${url}/health`, limit, tls), { cause });
  });
  return { text: `${new URL(url).origin} is up\n`, exitCode: 0 };
};

function explain(cause: Error, url: string, timeout: number | undefined, tls: boolean): string {
  if (timeout !== undefined) return `no answer from ${url} within ${timeout} ms`;
  if (!(cause instanceof ControlError)) {
    const code = errorCode(cause.cause) ?? errorCode(Object(cause.cause).cause) ?? 'no code';
    return `no answer from ${url} (${code})${NOT_TLS.test(code) ? '; does it speak plain HTTP?' : ''}`;
  }
  const { status } = cause;
  if (status === 200) return `${url} is answered by something other than petstore-mock`;
  const hint = status === 400 && !tls ? '; if it speaks HTTPS, add --tls' : '';
  return `${url} answered ${status}${hint}`;
}

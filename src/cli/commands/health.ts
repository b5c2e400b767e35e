import { createNodeFetch } from '../../client/connect-client.ts';
import { ControlClient } from '../../client/control-client.ts';
import { formatControlUrl, parseAddress } from '../../core/contract/target.ts';
import { DEFAULT_SANDBOX, DEFAULTS } from '../../core/limits.ts';
import { Failure, readCertificate } from '../../terminal/command.ts';
import type { ProgramCommand } from '../flags.ts';
import { findServerUrl } from '../open-control.ts';

export const health: ProgramCommand = async ({ flags }) => {
  const { timeout = DEFAULTS.healthTimeout, tls = false } = flags;
  const { root } = parseAddress(findServerUrl(flags));
  const url = formatControlUrl({ root, sandbox: DEFAULT_SANDBOX });
  const ca = await readCertificate('ca', flags.ca);
  // The request carries no secret.
  const fetch = createNodeFetch(tls ? { rejectUnauthorized: false } : { ca });
  const signal = AbortSignal.timeout(timeout);
  await new ControlClient({ url, fetch }).ping(signal).catch((cause) => {
    const late = `no answer from ${url} within ${timeout} ms`;
    throw new Failure(signal.aborted ? late : cause.message, { cause });
  });
  return { text: `${new URL(url).origin} is up\n`, exitCode: 0 };
};

import type { ControlClient } from '../../client/control-client.ts';
import { DEFAULT_SANDBOX } from '../../core/limits.ts';
import { asError } from '../../core/thrown.ts';
import type { ProgramCommand } from '../flags.ts';
import { explainError, openControl } from '../open-control.ts';
import { concludeRun } from '../run-evidence.ts';

/** Judges what a server has shown that somebody else started, as `exec` judges its own. */
export const gate: ProgramCommand = async ({ flags, terminal }) => {
  const { client, sandbox } = await openControl(flags, 'gate');
  // An address without a name stands for the server.
  const all = flags.sandbox === undefined && sandbox === DEFAULT_SANDBOX;
  const query = { all };
  const { har } = flags;
  const read = async () => {
    const [coverage, findings, exchanges] = await Promise.all([
      client.call('GET /coverage', { query }),
      client.call('GET /findings', { query }),
      har && client.send('GET /requests.har', { query }).then((reply) => reply.text()),
    ]);
    const replies = [...coverage.documented, ...coverage.assumed];
    const isReported = findings.total > 0 || replies.some(({ count }) => count > 0);
    // A forced reply is in no report, and a deleted sandbox in no list, which can be long.
    const wasCalled = isReported || (await isListed(client, all ? undefined : sandbox));
    return { coverage, findings, exchanges, wasCalled };
  };
  const { coverage, findings, exchanges, wasCalled } = await read().catch((error) => {
    throw explainError(asError(error));
  });
  const exitCode = await concludeRun(terminal, flags, {
    title: client.url,
    evidence: { coverage, findings },
    wasCalled,
    isGated: true,
    files: har && exchanges ? [[har, exchanges]] : [],
  });
  return { exitCode };
};

/** Whether a sandbox, or any, has requests. */
async function isListed(client: ControlClient, sandbox: string | undefined): Promise<boolean> {
  const all = await client.sandbox(DEFAULT_SANDBOX).call('GET /sandboxes');
  return all.some(({ name, requests }) => requests > 0 && (sandbox ?? name) === name);
}

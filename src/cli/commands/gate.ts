import { DEFAULT_SANDBOX } from '../../core/limits.ts';
import { asError } from '../../core/thrown.ts';
import type { ProgramCommand } from '../flags.ts';
import { explainError, openControl } from '../open-control.ts';
import { concludeRun } from '../run-evidence.ts';

/** Judges what a server has shown that somebody else started, as `exec` judges its own. */
export const gate: ProgramCommand = async ({ flags, terminal }) => {
  const client = await openControl(flags, 'gate');
  const query = { all: flags.sandbox === undefined };
  const { har } = flags;
  const [coverage, findings, sandboxes, exchanges] = await Promise.all([
    client.call('GET /coverage', { query }),
    client.call('GET /findings', { query }),
    client.sandbox(DEFAULT_SANDBOX).call('GET /sandboxes'),
    har && client.send('GET /requests.har', { query }).then((reply) => reply.text()),
  ]).catch((error) => {
    throw explainError(asError(error));
  });
  const replies = [...coverage.documented, ...coverage.assumed];
  // A forced reply is in no report, and a deleted sandbox in no list.
  const isListed = sandboxes.some(
    ({ name, requests }) => requests > 0 && (flags.sandbox ?? name) === name,
  );
  const wasCalled = isListed || findings.total > 0 || replies.some(({ count }) => count > 0);
  const exitCode = await concludeRun(terminal, flags, {
    title: client.url,
    evidence: { coverage, findings },
    wasCalled,
    isGated: true,
    files: har && exchanges ? [[har, exchanges]] : [],
  });
  return { exitCode };
};

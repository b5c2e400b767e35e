import { asError } from '../../server/node-errors.ts';
import { EXIT_GATE_FAILED } from '../../terminal/command.ts';
import type { ProgramCommand } from '../command.ts';
import { explainError, openControl } from '../open-control.ts';
import {
  concludeRun,
  describeRun,
  gateFailures,
  printFacts,
  writeReports,
} from '../run-evidence.ts';

const NO_CALLS =
  'no client has called the server: does it take its base URL from there? --allow-no-calls lets it pass';

/** Judges what a server has shown that somebody else started, as `exec` judges its own. */
export const gate: ProgramCommand = async ({ flags, terminal }) => {
  const client = await openControl(flags, 'gate');
  const query = { all: flags.sandbox === undefined };
  const [coverage, findings] = await Promise.all([
    client.call('GET /coverage', { query }),
    client.call('GET /findings', { query }),
  ]).catch((error) => {
    throw explainError(asError(error));
  });
  const report = { coverage, findings };
  const facts = describeRun(report);
  printFacts(terminal, facts);
  const problems = await writeReports(flags, report);
  const replies = [...coverage.documented, ...coverage.assumed];
  const wasCalled = findings.total > 0 || replies.some(({ count }) => count > 0);
  if (!wasCalled && !flags.allowNoCalls) problems.push(NO_CALLS);
  const reasons = gateFailures(flags, report);
  await concludeRun(terminal, { title: client.url, facts, problems, reasons });
  return { exitCode: reasons.length > 0 ? EXIT_GATE_FAILED : Math.sign(problems.length) };
};

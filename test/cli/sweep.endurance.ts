import { join } from 'node:path';
import { expect, test } from 'vitest';
import { packageRoot } from '../../src/server/files.ts';
import { runCommand } from '../helpers/command.ts';
import { readSwept } from '../helpers/swept.ts';

const ROUNDED = {
  code: 'rounded-id',
  count: 1,
  example: expect.stringMatching(/^GET \/v1\/pets\/\d+: \d+ is unknown/),
};

test.each<[client: string, least: number, code: number, failures: string[], findings: object[]]>([
  ['correct', 20, 0, [], []],
  ['error-on-409', 5, 3, ['conflict-body=empty', 'conflict-body=problem'], []],
  ['rounds-ids', 5, 3, ['assigned-ids=int64'], [ROUNDED]],
])('a sweep finds what the client %s takes for granted, and nothing else', async (...row) => {
  const [client, least, code, failures, findings] = row;
  const file = join(packageRoot, 'test/fixtures-clients', `${client}.mjs`);
  const finished = await runCommand(['sweep', '--json', '--', process.execPath, file]);
  const { runs } = readSwept(finished);
  const failed = runs.filter(({ verdict }) => verdict === 'failed');
  expect(failed.map(({ assumption, option }) => `${assumption}=${option}`)).toEqual(failures);
  expect(runs.flatMap((run) => run.findings)).toEqual(findings);
  expect(finished.code).toBe(code);
  expect(runs.length).toBeGreaterThan(least);
});

function sweepFaults(client: string, ...flags: readonly string[]) {
  const file = join(packageRoot, 'test/fixtures-clients', `${client}.mjs`);
  return runCommand(['sweep', '--faults', ...flags, '--', process.execPath, file]);
}

test('a client that ignores a reset is found out', async () => {
  const { code, stdout } = await sweepFaults('ignores-reset', 'reset');
  expect(code).toBe(3);
  expect(stdout).toMatch(
    /^ {2}listPets +reset +unnoticed: the command passed, and called nothing/m,
  );
});

test('a client that survives every fault passes', async () => {
  const { code, stdout } = await sweepFaults('careful');
  expect(stdout).toMatch(/\ntried 14 faults in 4 operations: 14 passed, 0 failed\n$/);
  expect(code).toBe(0);
});

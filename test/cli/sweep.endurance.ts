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

/** Runs a client under a command that is to find it out. */
function judge(client: string, ...words: readonly string[]) {
  const file = join(packageRoot, 'test/fixtures-clients', `${client}.mjs`);
  return runCommand([...words, '--', process.execPath, file]);
}

test.each([
  [
    'ignores-reset',
    'reset',
    /^ {2}listPets +reset +unnoticed: the command passed, and called noth/m,
  ],
  [
    'blind-retry',
    'lost-reply',
    /^ {2}createPet +lost-reply +failed: found blind-retry: POST \/v1/m,
  ],
])('the client %s is found out by the fault %s', async (client, fault, row) => {
  const { code, stdout } = await judge(client, 'sweep', '--faults', fault);
  expect(stdout).toMatch(row);
  expect(code).toBe(3);
});

test('a client that refuses unknown fields breaks before the service has them', async () => {
  const { code, stderr } = await judge('strict-fields', 'exec', '--scenario', 'new-fields');
  expect(code).toBe(1);
  expect(stderr).toMatch(/AssertionError.*: unknown field /);
});

test('a careful client passes every fault, every option and what may come', async () => {
  const faults = await judge('careful', 'sweep', '--faults');
  expect(faults.stdout).toMatch(/\ntried 14 faults in 4 operations: 14 passed, 0 failed\n$/);
  for (const words of [
    ['sweep'],
    ...['new-fields', 'new-error'].map((it) => ['exec', '--scenario', it]),
  ])
    expect(await judge('careful', ...words)).toMatchObject({ code: 0 });
});

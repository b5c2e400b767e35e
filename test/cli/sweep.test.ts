import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { CallTracker } from '../../src/cli/call-tracker.ts';
import { OutputTail } from '../../src/cli/sweep-runs.ts';
import {
  ASSUMPTION_IDS,
  assumptionShape,
  type Choices,
  chooseOptions,
} from '../../src/core/contract/assumption-table.ts';
import type { ServerOptions } from '../../src/index.ts';
import { type CallMock, clientCommand } from '../helpers/client-command.ts';
import { spawnCommand } from '../helpers/command.ts';
import { serverFor } from '../helpers/deployment.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { openMock } from '../helpers/in-process.ts';
import { runInProcess } from '../helpers/invocation.ts';
import { waitForEnd } from '../helpers/program.ts';
import { readSwept } from '../helpers/swept.ts';
import { type Client, clientAt } from '../helpers/wire.ts';

const folder = temporaryFolder();

/** Runs a script of the shell under `sweep`; it starts faster than Node. */
function sweepShell(flags: readonly string[], script: string) {
  return runInProcess(['sweep', ...flags, '--', 'sh', '-c', script]);
}

/** A script that lists orders and fails if one shows its status. */
const LISTS_ORDERS = `
  url="$PETSTORE_MOCK_URL/store/orders"
  case "$(curl --silent --noproxy '*' -H "Authorization: Bearer $PETSTORE_MOCK_KEY" "$url")" in
    *'"status"'*) echo 'Error: there is a status' >&2; exit 1;;
  esac
`;

/** Decides most assumptions that this script touches, to save runs. */
const DECIDED = {
  'cancelled-orders': 'removed',
  'order-shipping': 'manual',
  'absent-optionals': 'omitted',
  'date-format': 'offset',
  'json-charset': 'utf-8',
} as const;

/** A scenario that decides assumptions. */
function deciding(assume: Partial<Choices>): string {
  const file = join(folder, `${Object.keys(assume).length}-decided.json`);
  writeFileSync(file, JSON.stringify({ assume }));
  return file;
}

describe('a sweep', () => {
  test('runs every option but the chosen one of each touched assumption', async () => {
    const scenario = deciding({ 'json-charset': 'utf-8' });
    const flags = ['--assume', 'date-format=offset', '--scenario', scenario];
    const swept = readSwept(await sweepShell(['--json', ...flags], LISTS_ORDERS));
    const ran = swept.runs.map(({ assumption, option }) => `${assumption}=${option}`);
    expect(ran).toEqual([
      'order-status-field=shown',
      'cancelled-orders=removed',
      'order-shipping=at-ship-date',
      'absent-optionals=null',
      'date-format=utc-seconds',
      'date-format=utc-millis',
      'cors=absent',
    ]);
    const others = ASSUMPTION_IDS.filter((id) => !ran.some((name) => name.startsWith(`${id}=`)));
    expect(swept.decidedByScenario).toEqual(['json-charset']);
    expect(swept.untouched).toEqual(others.filter((id) => id !== 'json-charset'));
  });

  test('prints a table, and passes if every failure is allowed', async () => {
    const flags = ['--scenario', deciding(DECIDED)];
    const { code, stdout, stderr } = await sweepShell(flags, LISTS_ORDERS);
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
    expect(stdout).toMatch(/^ {2}order-status-field +shown +failed: the command exited with/m);
    expect(stdout).toMatch(/^ {2}cors +absent +passed$/m);
    expect(stdout).toMatch(/^order-status-field=shown\n(?: {2}.*\n)*.*Error: there is a status/m);
    expect(stdout).toMatch(
      /^Not run because the command did not touch it .*\n {2}invalid-input, /m,
    );
    expect(stdout).toMatch(/\ntried 2 alternatives to 2 assumptions: 1 passed, 1 failed\n$/);
    const allow = ['--allow', 'conflict-body=empty, order-status-field=shown'];
    const allowed = await sweepShell(
      ['--json', '--scenario', deciding(DECIDED), ...allow],
      LISTS_ORDERS,
    );
    expect(allowed.code).toBe(0);
    const failed = readSwept(allowed).runs.filter(({ verdict }) => verdict !== 'passed');
    expect(failed).toMatchObject([{ option: 'shown', verdict: 'allowed' }]);
  });
});

test('a run that fails is repeated once, and is flaky if it then passes', async () => {
  const { 'conflict-body': _open, ...decided } = chooseOptions();
  // The first run is the baseline. The second fails, and the last repeats it.
  const script = `
    cd ${folder}
    echo >> repeated
    [ $(wc -l < repeated) != 2 ] || { echo by chance; exit 1; }
  `;
  const flags = ['--all', '--jobs', '1', '--allow-no-calls', '--scenario', deciding(decided)];
  const { code, stdout } = await sweepShell(flags, script);
  expect(readFileSync(join(folder, 'repeated'), 'utf8')).toBe('\n'.repeat(4));
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /conflict-body +empty +flaky: the command exited with status 1, and passed/,
  );
  expect(stdout).toMatch(/\n {2}by chance\n/);
  expect(stdout).toMatch(/: 1 passed, 0 failed, 1 flaky\n$/);
});

test.concurrent.each([
  ['is not repeated, since it waited for a reply', 'hang', 2],
  ['is repeated after another fault', '503', 3],
])('a run that the timeout ends %s', async (_what, fault, runs) => {
  const file = join(folder, `timed-out-${fault}`);
  const script = `
    echo >> ${file}
    curl --silent --fail --noproxy '*' "$BASE/pets" -H "Authorization: Bearer $PETSTORE_MOCK_KEY" ||
      exec sleep 1000
  `;
  const flags = ['--env', 'BASE=url', '--timeout', '3000', '--faults', fault];
  const { code, stdout } = await sweepShell(flags, script);
  expect(stdout).toMatch(/^ {2}listPets +\w+ +failed: the command timed out after 3 s$/m);
  expect(readFileSync(file, 'utf8')).toBe('\n'.repeat(runs));
  expect(code).toBe(3);
});

describe('a sweep of faults', () => {
  /** Switches scenarios in two sandboxes, calls them in turn, and resets one. The exit code counts what failed. */
  const call: CallMock = async ({ url, key, control }) => {
    const headers = { Authorization: `Bearer ${key}` };
    const ask = (name: string, sent: Record<string, string> = headers) =>
      fetch(url.replace('/v1', `/~${name}/v1/inventory`), { headers: sent });
    const arrange = (name: string, what: string, method: string, body: string | null = null) =>
      fetch(`${control.replace('/__mock', `/~${name}/__mock`)}/${what}`, {
        method,
        body,
        headers: { 'Content-Type': 'application/json' },
      });
    const failsFor = (name: string) =>
      ask(name).then(
        ({ status }) => Number(status === 503),
        () => 1,
      );
    await ask('a', {});
    for (const name of ['a', 'b'])
      await arrange(name, 'scenario', 'PUT', '{"scenarios":["no-orders"]}');
    let failed = 0;
    for (const name of ['a', 'b', 'a', 'b']) failed += await failsFor(name);
    await arrange('a', 'reset', 'POST');
    return 10 * (failed + (await failsFor('a')));
  };

  test('lets one call fail in each run, the first that succeeded before', async () => {
    const flags = ['--faults', '503,reset', '--json', '--allow', 'listInventory=reset'];
    const command = await clientCommand(call);
    const { code, stdout } = await runInProcess(['sweep', ...flags, '--', ...command]);
    expect(JSON.parse(stdout).runs).toMatchObject([
      { operation: 'listInventory', fault: '503', verdict: 'failed', ending: { exitCode: 10 } },
      { operation: 'listInventory', fault: 'reset', verdict: 'allowed', ending: { exitCode: 10 } },
    ]);
    expect(code).toBe(3);
  });

  test('says which fault nobody noticed, which never came, and what --max-runs leaves out', async () => {
    const [marker, page, summary] = ['ran-once', 'faults.html', 'faults.md'].map((it) =>
      join(folder, it),
    );
    const script = `
      if [ ! -e ${marker} ] || [ "$0" = always ]; then
        curl --silent --noproxy '*' "$BASE/inventory" || :
      fi
      : > ${marker}`;
    const runWith = (file: string, argument: string, ...flags: readonly string[]) =>
      runInProcess(['sweep', '--env', 'BASE=url', ...flags, '--', 'sh', '-c', script, argument], {
        GITHUB_STEP_SUMMARY: file,
      });
    const run = runWith.bind(undefined, `${summary}`);
    const unnoticed = await run('always', '--max-runs', '1', '--coverage', `${page}`, '--faults');
    expect(unnoticed).toMatchObject({ code: 3, stderr: '' });
    expect(unnoticed.stdout).toMatch(
      /^ {2}listInventory +503 +unnoticed: the command passed, and/m,
    );
    expect(unnoticed.stdout).toMatch(/Not run because --max-runs .*\n {2}listInventory=reset, /);
    expect(unnoticed.stdout).toMatch(
      /tried 1 fault in 1 operation: 0 passed, 0 failed, 1 unnoticed, 2 not run\n$/,
    );
    expect(readFileSync(`${page}`, 'utf8')).toContain('"verdict":"unnoticed"');
    expect(readFileSync(`${summary}`, 'utf8')).toContain(
      '| listInventory | 503 | unnoticed | the command',
    );
    const allowed = await runWith(folder, 'always', '--allow=listInventory=503', '--faults=503');
    expect(allowed).toMatchObject({ code: 0, stderr: expect.stringMatching(/^.*STEP_SUMMARY: /) });
    rmSync(`${marker}`);
    const { code, stdout } = await run('once', '--faults', 'hang');
    expect(stdout).toMatch(
      /^ {2}listInventory +hang +not-injected: the call that was to fail did not/m,
    );
    expect(code).toBe(3);
  });
});

describe.concurrent('the sweep stops', () => {
  test('if the command makes no call', async () => {
    const { code, stdout, stderr } = await sweepShell([], ':');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^petstore-mock: no client has called the mock: .*PETSTORE_MOCK_URL/);
  });

  test('if the command already fails', async () => {
    const { code, stdout, stderr } = await sweepShell([], 'echo first; exit 6');
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toBe(
      'petstore-mock: sweep stopped because the command fails under the chosen options: it exited with status 6\n  first\n',
    );
  });

  test.each([
    [['--allow', 'conflict-body=emty'], 'did you mean empty?'],
    [['--scenario', 'no-such'], 'no-such'],
    [['--faults', '503,resett'], 'did you mean reset?'],
    [['--allow', 'listPets=resett'], 'listPets'],
  ])('with %j', async (asked, message) => {
    const ran = join(folder, 'ran');
    const finished = await runInProcess(['sweep', ...asked, '--', 'touch', ran]);
    expect(finished.code).toBe(2);
    expect(finished.stderr).toContain(message);
    expect(existsSync(ran)).toBe(false);
  });
});

test('an interruption ends every run and still prints the report', async () => {
  // The baseline passes. Every other run writes its pid and stays.
  const marker = join(folder, 'baseline-done');
  const started = join(folder, 'started');
  const script = `
    if [ -e ${marker} ]; then echo $$ >> ${started}; exec sleep 1000; fi
    : > ${marker}
  `;
  const args = [
    'sweep',
    '--all',
    '--json',
    '--jobs',
    '2',
    '--allow-no-calls',
    '--',
    'sh',
    '-c',
    script,
  ];
  const { child, printed, exited } = spawnCommand(args);
  const pids = () => (existsSync(started) ? readFileSync(started, 'utf8').trim().split('\n') : []);
  await expect.poll(() => pids().length, { interval: 20 }).toBe(2);
  child.kill('SIGINT');
  expect((await exited).code).toBe(130);
  const { runs, notRun } = readSwept(printed);
  expect(runs).toEqual([]);
  expect(notRun.length).toBeGreaterThan(2);
  for (const pid of pids()) await waitForEnd(Number(pid));
});

/** The replies of a new mock to lines with method, path and body. */
async function answersTo(
  requests: readonly string[],
  assume: Partial<Choices>,
  open: (options: ServerOptions) => Promise<Client> = openMock,
): Promise<unknown[]> {
  // After the ship date of some orders, and after the sunset.
  const clock = Date.parse('2032-01-01T00:00:00Z');
  const client = await open({ assume, clock, frozen: true, plain: true });
  const answers: unknown[] = [];
  for (const request of requests) {
    const [method = '', path = '', body] = request.split(' ');
    const { status, headers, text } = await client.send(method, `/v1${path}`, { body });
    answers.push(status, headers, text);
  }
  return answers;
}

describe('the assumptions that a run touches', () => {
  test.each([
    'GET /pets?status=weird; GET /pets?limit=0; GET /pets?colour=red; GET /pets/999; PUT /pets',
    'POST /pets {"name":"","categoryId":1,"extra":1}; GET /inventory; PATCH /inventory/65 {"quantity":2}; GET /pets/1',
    'DELETE /store/orders/1; DELETE /store/orders/3; GET /inventory; GET /store/orders',
  ])('include each one with an option that changes a reply to %s', async (lines) => {
    const requests = lines.split('; ');
    const touched = new CallTracker();
    await answersTo(requests, {}, async (options) => {
      const server = await serverFor(options);
      server.sandboxes.events.add(({ exchange }) => touched.add(exchange));
      return clientAt(server.port);
    });
    const before = await answersTo(requests, {});
    const decisive: string[] = [];
    for (const id of ASSUMPTION_IDS) {
      for (const { name } of assumptionShape(id).options.slice(1)) {
        const answers = await answersTo(requests, { [id]: name });
        if (JSON.stringify(answers) !== JSON.stringify(before)) decisive.push(id);
      }
    }
    expect(decisive.length).toBeGreaterThan(0);
    expect(touched.assumptions).toEqual(expect.arrayContaining(decisive));
  });
});

test('the last lines of long output are kept without control characters', () => {
  const tail = new OutputTail();
  for (let count = 0; count < 100_000; count += 1) tail.add(`line ${count}\n`);
  tail.add('\u001B[31mr\u202Ee\u2066d\u001B[39m\u0007\r\n\n');
  expect(tail.lines(2)).toEqual(['line 99999', 'red']);
});

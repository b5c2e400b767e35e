import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { planSweep } from '../../src/cli/sweep/plan.ts';
import { Tail } from '../../src/cli/sweep/tail.ts';
import { Touched } from '../../src/cli/sweep/touched.ts';
import {
  ASSUMPTION_IDS,
  type AssumptionId,
  assumptionShape,
  chooseOptions,
} from '../../src/contract/assumptions.ts';
import { packageRoot } from '../../src/package.ts';
import { startServer } from '../../src/server.ts';
import { type Finished, runCommand, spawnCommand } from '../helpers/command.ts';

let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sweep-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

const CLIENTS = join(packageRoot, 'test/fixtures-clients');

interface Swept {
  readonly runs: readonly {
    readonly assumption: string;
    readonly option: string;
    readonly verdict: string;
    readonly ending: object;
    readonly lastLines: readonly string[];
  }[];
  readonly untouched: readonly string[];
  readonly decidedByScenario: readonly string[];
  readonly notRun: readonly object[];
}

async function sweepClient(name: string, ...flags: readonly string[]) {
  const command = [process.execPath, join(CLIENTS, `${name}.mjs`)];
  const finished = await runCommand(['sweep', '--json', ...flags, '--', ...command]);
  return { ...finished, swept: readSwept(finished) };
}

function readSwept({ stdout }: Finished): Swept {
  return JSON.parse(stdout);
}

/** Runs a script of Node under `sweep`. */
function sweep(flags: readonly string[], script: string): Promise<Finished> {
  return runCommand(['sweep', ...flags, '--', process.execPath, '-e', script]);
}

function failuresOf({ runs }: Swept): string[] {
  const failed = runs.filter(({ verdict }) => verdict === 'failed');
  return failed.map(({ assumption, option }) => `${assumption}=${option}`);
}

/** A script that lists orders, and fails where one shows its status. */
const HIDDEN = `
  const headers = { Authorization: 'Bearer ' + process.env.PETSTORE_MOCK_KEY };
  const response = await fetch(process.env.PETSTORE_MOCK_URL + '/store/orders', { headers });
  if ((await response.text()).includes('"status"')) throw new Error('there is a status');
`;
const LISTS_ORDERS = `(async () => {${HIDDEN}})()`;

describe('a sweep', () => {
  test('finds nothing in a client that relies on what is documented', async () => {
    const { code, swept } = await sweepClient('correct');
    expect(failuresOf(swept)).toEqual([]);
    expect(code).toBe(0);
    expect(swept.runs.length).toBeGreaterThan(20);
  });

  test('finds that a client wants an Error with every 409, and nothing else', async () => {
    const { code, swept } = await sweepClient('error-on-409');
    expect(failuresOf(swept)).toEqual(['conflict-body=empty', 'conflict-body=problem']);
    expect(code).toBe(3);
    const [empty] = swept.runs.filter(({ verdict }) => verdict === 'failed');
    expect(empty?.ending).toEqual({ kind: 'exited', code: 1, exitCode: 1 });
    expect(empty?.lastLines.join('\n')).toContain('SyntaxError: Unexpected end of JSON input');
  });

  test('finds that a client rounds ids, and nothing else', async () => {
    const { code, swept } = await sweepClient('rounds-ids');
    expect(failuresOf(swept)).toEqual(['assigned-ids=int64']);
    expect(code).toBe(3);
  });

  test('runs every option of what was touched but the chosen one', async () => {
    const scenario = join(folder, 'decides.json');
    writeFileSync(scenario, '{ "assume": { "json-charset": "utf-8" } }');
    const flags = ['--assume', 'date-format=offset', '--scenario', scenario];
    const swept = readSwept(await sweep(['--json', ...flags], LISTS_ORDERS));
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

  test('exits with 0 where all that failed is allowed', async () => {
    const allow = ['--allow', 'conflict-body=empty, order-status-field=shown'];
    const finished = await sweep(['--json', ...allow], LISTS_ORDERS);
    expect(finished.code).toBe(0);
    const failed = readSwept(finished).runs.filter(({ verdict }) => verdict !== 'passed');
    expect(failed).toMatchObject([{ option: 'shown', verdict: 'allowed' }]);
  });

  test('prints a table, and writes JUnit and a page', async () => {
    const [junit, html] = [join(folder, 'sweep.xml'), join(folder, 'sweep.html')];
    const { code, stdout, stderr } = await sweep(['--junit', junit, '--html', html], LISTS_ORDERS);
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' });
    expect(stdout).toMatch(/^ {2}order-status-field +shown +failed: the command ended with/m);
    expect(stdout).toMatch(/^ {2}date-format +offset +passed$/m);
    expect(stdout).toMatch(/^order-status-field=shown\n(?: {2}.*\n)*.*Error: there is a status/m);
    expect(stdout).toMatch(/^Not run, since the command did not touch it .*\n {2}invalid-input, /m);
    expect(stdout).toMatch(/\n\d+ other options of \d+ assumptions: \d+ passed, 1 failed\n$/);
    const xml = readFileSync(junit, 'utf8');
    expect(xml.match(/<failure /g)).toHaveLength(1);
    expect(xml).toContain('classname="order-status-field" name="shown"');
    expect(xml).toContain('classname="invalid-input" name="every other option"><skipped');
    const page = readFileSync(html, 'utf8');
    expect(page).toContain('Does an order carry its status?');
    expect(page).not.toMatch(/(?:src|href)=/);
  });

  test('with --all runs every assumption', async () => {
    const { code, stdout } = await sweep(['--all', '--json', '--jobs', '8'], '');
    expect(code).toBe(0);
    const { runs, untouched } = readSwept({ stdout, stderr: '', code, signal: null });
    const others = ASSUMPTION_IDS.flatMap((id) => assumptionShape(id).options.slice(1));
    expect([runs.length, untouched]).toEqual([others.length, []]);
  });

  test('asks whether the command knows the server where it made no call', async () => {
    const { code, stderr } = await sweep([], '');
    expect(code).toBe(0);
    expect(stderr).toContain('PETSTORE_MOCK_URL');
  });
});

describe.concurrent('nothing is swept', () => {
  test('where the command fails as it is', async () => {
    const { code, stdout, stderr } = await sweep([], 'console.log("first"); process.exit(6)');
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toBe(
      'petstore-mock: nothing was swept: under the chosen options, the command ended with status 6\n  first\n',
    );
  });

  test('where it takes too long as it is', async () => {
    const { code, stderr } = await sweep(['--timeout', '1'], 'setInterval(() => {}, 1000)');
    expect(code).toBe(124);
    expect(stderr).toContain('took longer than 1 s');
  });

  test.each([
    [['--allow', 'conflict-bdy=empty'], 'did you mean conflict-body?'],
    [['--allow', 'conflict-body=emty'], 'did you mean empty?'],
    [['--db', 'x.json'], '--db is no flag of sweep (serve has one)'],
    [['--jobs', '0'], '--jobs: expected an integer from 1'],
    [['--scenario', 'no-such'], 'no-such'],
  ])('with %j', async (flags, message) => {
    const file = join(folder, 'ran');
    const script = `require('node:fs').writeFileSync(${JSON.stringify(file)}, '')`;
    const { code, stderr } = await sweep(flags, script);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(existsSync(file)).toBe(false);
  });
});

test('an interruption ends every run, and what was done is reported', async () => {
  // The baseline passes; every other run tells that it is there, and stays.
  const marker = join(folder, 'baseline-done');
  const started = join(folder, 'started');
  const script = `
    const { appendFileSync, existsSync, writeFileSync } = require('node:fs');
    (async () => {${HIDDEN}
      if (!existsSync(${JSON.stringify(marker)})) return writeFileSync(${JSON.stringify(marker)}, '');
      appendFileSync(${JSON.stringify(started)}, process.pid + '\\n');
      setInterval(() => {}, 1000);
    })();
  `;
  const args = ['sweep', '--json', '--jobs', '2', '--', process.execPath, '-e', script];
  const { child, printed, exited } = spawnCommand(args);
  const pids = () => (existsSync(started) ? readFileSync(started, 'utf8').trim().split('\n') : []);
  await expect.poll(() => pids().length, { interval: 20, timeout: 10_000 }).toBe(2);
  child.kill('SIGINT');
  expect((await exited).code).toBe(130);
  const { runs, notRun } = readSwept({ ...printed, code: 130, signal: null });
  expect(runs.filter(({ verdict }) => verdict === 'passed')).toEqual([]);
  expect(notRun.length).toBeGreaterThan(2);
  for (const pid of pids()) expect(() => process.kill(Number(pid), 0)).toThrow();
});

describe('what a run touches', () => {
  async function touchedBy(path: string, request: RequestInit = {}): Promise<AssumptionId[]> {
    const touched = new Touched();
    const server = await startServer({ port: 0, observe: touched.observe });
    const headers = { Authorization: 'Bearer demo-key', 'Content-Type': 'application/json' };
    await (await fetch(`${server.url}${path}`, { headers, ...request })).text();
    await server.close();
    return touched.assumptions;
  }

  test.each<[string, RequestInit, AssumptionId[]]>([
    ['/inventory', {}, ['json-charset', 'cors']],
    ['/inventory', { headers: {} }, ['check-order', 'auth-challenge', 'error-codes']],
    ['/pets', {}, ['pets-order', 'pets-paging', 'absent-optionals']],
    ['/pets?limit=0', {}, ['limit-out-of-range', 'invalid-input', 'error-codes']],
    ['/pets?colour=red', {}, ['unknown-query']],
    ['/pets/1', {}, ['deprecation-headers', 'absent-optionals']],
    ['/pets/0', {}, ['unknown-pet']],
    [
      '/pets',
      { method: 'POST', body: '{"name":"","categoryId":1}' },
      ['name-limits', 'created-status', 'assigned-ids'],
    ],
    ['/inventory/1', { method: 'PATCH', body: '{"quantity":0}' }, ['inventory-status']],
    ['/store/orders', {}, ['order-status-field', 'cancelled-orders', 'date-format']],
    ['/store/orders/2', { method: 'DELETE' }, ['conflict-body', 'order-shipping', 'error-codes']],
    ['/store/orders/3', { method: 'DELETE' }, ['cancel-again', 'conflict-body']],
    ['/pets', { method: 'PUT' }, ['unknown-method']],
  ])('%s %j', async (path, request, expected) => {
    expect(await touchedBy(path, request)).toEqual(expect.arrayContaining(expected));
  });

  test('is nothing where there was no call, and little where there was one', async () => {
    expect(new Touched().assumptions).toEqual([]);
    expect(await touchedBy('/inventory')).toEqual(['json-charset', 'cors']);
  });

  test('is what the plan is made of', () => {
    const chosen = chooseOptions({ 'conflict-body': 'empty' });
    const plan = planSweep(chosen, ['cors'], ['conflict-body', 'cors']);
    expect(plan.variants).toEqual([
      { assumption: 'conflict-body', option: 'error' },
      { assumption: 'conflict-body', option: 'problem' },
    ]);
    expect(plan.untouched).toHaveLength(ASSUMPTION_IDS.length - 2);
  });
});

test('of much output the last lines are kept, without what a terminal obeys', () => {
  const tail = new Tail();
  for (let count = 0; count < 100_000; count += 1) tail.add(Buffer.from(`line ${count}\n`));
  tail.add(Buffer.from('\u001B[31mred\u001B[39m\u0007\r\n\n'));
  expect(tail.lines(2)).toEqual(['line 99999', 'red']);
});

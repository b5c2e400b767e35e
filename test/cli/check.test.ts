import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ASSUMPTION_IDS, DOCUMENTED_REPLIES } from '../../src/core/contract/assumption-table.ts';
import { askConsent } from '../../src/features/deployment/deployment-access.ts';
import { UsageError } from '../../src/terminal/command.ts';
import { createTerminal } from '../../src/terminal/terminal.ts';
import { OK, rawDeployment, serverFor } from '../helpers/deployment.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { runInProcess } from '../helpers/invocation.ts';

const KEY = 'a-key-that-nobody-may-see';

const folder = temporaryFolder();

/** A deployment that answers a filter as no option does. */
function teapot() {
  const scenario = join(folder, 'teapot.yaml');
  const reply = '{ status: 418, body: { code: teapot, message: No., status: 418 } }';
  const rule = `{ on: listPets, where: { status: petstore-mock-check }, reply: ${reply} }`;
  writeFileSync(scenario, `rules: [${rule}]\n`);
  return serverFor({ scenarios: [scenario] });
}

test('check prints its verdicts, saves what it found, and exits with 3 if something has changed', async () => {
  const server = await serverFor({
    port: 0,
    keys: { valid: [KEY] },
    assume: { 'unknown-pet': '400', 'pets-order': 'newest' },
  });
  const file = (name: string) => join(folder, name);
  const earlier = {
    assume: { 'unknown-pet': '404', 'pets-order': 'newest', 'cancel-again': '404' },
  };
  writeFileSync(file('earlier.json'), JSON.stringify(earlier));
  const { code, stdout, stderr } = await runInProcess([
    ...['check', server.url, '--key', KEY, '--rate', '10000', '--json'],
    ...['--against', file('earlier.json'), '--save', file('saved.json')],
  ]);
  expect(code).toBe(3);
  expect(stderr).toMatch(/will get up to \d+ requests, none of which write/);
  expect(stderr).toContain('unknown-pet: 404 before, 400 now');
  expect(stderr).toContain('cancel-again: 404 before, open now: it needs --writes and --cancel ID');
  expect(stderr).not.toContain('pets-order');
  const report = JSON.parse(stdout);
  expect(report.assumptions.map(({ id }: { id: string }) => id)).toEqual(ASSUMPTION_IDS);
  expect(report.replies).toHaveLength(DOCUMENTED_REPLIES.length);
  expect(report.assumptions).toContainEqual({
    id: 'cancel-again',
    verdict: 'open',
    why: 'it needs --writes and --cancel ID or --writes and --cancelled ID',
  });
  const saved = readFileSync(file('saved.json'), 'utf8');
  expect(JSON.parse(saved).assume).toMatchObject({ 'unknown-pet': '400', 'pets-order': 'newest' });
  expect(`${stdout}${stderr}${saved}`).not.toContain(KEY);
  const chosen = await runInProcess(['assumptions', '--config', file('saved.json'), '--json']);
  expect(JSON.parse(chosen.stdout)).toContainEqual(
    expect.objectContaining({ id: 'pets-order', chosen: 'newest' }),
  );
});

test('check overwrites a file only with --force, and passes what it leaves open only with --allow-unsettled', async () => {
  const [earlier, file] = [join(folder, 'settled.json'), join(folder, 'kept.json')];
  writeFileSync(earlier, JSON.stringify({ assume: { 'cancel-again': '409' } }));
  writeFileSync(file, 'kept');
  const server = await teapot();
  const words = ['--key', 'demo-key', '--rate', '10000', '--save'];
  const refused = await runInProcess(['check', server.url, ...words, file]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--force overwrites') });
  const silent = await rawDeployment(OK);
  const fresh = join(folder, 'fresh.json');
  const told = await runInProcess(['check', silent.url, ...words, fresh]);
  expect(told).toMatchObject({ code: 3, stderr: expect.stringContaining('too few') });
  expect(existsSync(fresh)).toBe(false);
  expect(readFileSync(file, 'utf8')).toBe('kept');
  const allowed = ['--force', '--against', earlier, '--allow-unsettled'];
  const last = await runInProcess(['check', server.url, ...words, file, ...allowed]);
  const { code, stdout, stderr } = last;
  expect(stderr).not.toContain('too few');
  expect(stdout).toMatch(/status-filter +none of the options +found GET .*: 418/);
  expect(stdout).toMatch(/cancel-again: 409 before, open now: it needs --writes and --cancel ID/);
  expect(code).toBe(0);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ assume: { cors: 'allowed' } });
});

test('check fails, and warns of what it saves, if a deployment answers as no option does', async () => {
  const { url } = await teapot();
  const file = join(folder, 'other.json');
  const check = (...flags: readonly string[]) =>
    runInProcess(['check', url, '--key', 'demo-key', '--rate', '10000', '--force', ...flags]);
  const told = await check('--save', file);
  expect(told.stdout).toMatch(/status-filter +none of the options +found GET .*: 418/);
  expect(told.code).toBe(3);
  expect(told.stderr).toContain(
    `a mock with ${file} answers otherwise than the deployment in status-filter and animal-status-values\n`,
  );
  expect((await check('--against', file)).code).toBe(0);
});

test('check asks before requests go to another machine, and a dry run sends none', async () => {
  const staging = (...flags: readonly string[]) =>
    runInProcess(['check', 'http://staging.invalid/v1', '--key', KEY, ...flags]);
  const refused = await staging('--writes');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(
    /staging\.invalid will get up to \d+ requests, \d+ of which write/,
  );
  expect(refused.stderr).toContain('--yes');
  const dry = await staging('--dry-run', '--writes', '--cancel', '7');
  expect(dry.code).toBe(0);
  expect(dry.stdout).toContain('DELETE /store/orders/7');
  expect(dry.stdout).toMatch(/GET \/pets\?limit=0 +a limit below 1, 2 times/);
  expect((await staging('--dry-run')).stdout).not.toMatch(/POST|PATCH|DELETE/);
});

test.each([
  ['y\n', true],
  ['n\n', false],
  ['\n', false],
  ['\u0003', false], // Ctrl-C
  ['\u0004', false], // Ctrl-D
])('a person who types %j to the question agrees: %j', async (typed, agrees) => {
  const [input, notices] = [1, 2].map(() =>
    Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} }),
  );
  const stdin = vi.spyOn(process, 'stdin', 'get').mockReturnValue(Object(input));
  onTestFinished(() => stdin.mockRestore());
  const terminal = createTerminal(new PassThrough(), notices!, {});
  const asked = askConsent(new URL('http://staging.invalid/v1'), 'requests', false, terminal);
  input!.write(typed);
  const end = await asked.catch((error: unknown) => error);
  expect(end).toEqual(agrees ? undefined : new UsageError('nothing was sent'));
});

test.each([
  ['', KEY, 'the key is refused'],
  ['/x', 'demo-key', 'is the base URL right?'],
])(
  'check says which key or URL is wrong instead of judging anything: %j',
  async (path, key, why) => {
    const { url } = await serverFor();
    const { code, stdout, stderr } = await runInProcess(['check', `${url}${path}`, '--key', key]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(why);
  },
);

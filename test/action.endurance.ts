import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../src/server/files.ts';
import { temporaryFolder } from './helpers/folder.ts';
import { readPage } from './helpers/page.ts';
import { type Environment, runProgram } from './helpers/program.ts';

const folder = temporaryFolder();
const { inputs, runs } = parse(readPage('action.yml'));

/** Plays the runner of GitHub: gives a job's inputs, and keeps what the action tells. */
function openJob(
  name: string,
  given: Environment = {},
  { root = packageRoot, workspace = '', path = process.env.PATH } = {},
) {
  const file = (kind: string) => join(folder, `${name}.${kind}`);
  const read = (kind: string): Environment => {
    const lines = readFileSync(file(kind), { encoding: 'utf8', flag: 'a+' }).split('\n');
    return Object.fromEntries(lines.filter(Boolean).map((line) => line.split(/=(.*)/s)));
  };
  const all = Object.entries<{ default?: string }>(inputs).map(([input, { default: it = '' }]) => [
    `INPUT_${input.toUpperCase()}`,
    given[input] ?? it,
  ]);
  const env = {
    ...Object.fromEntries(all),
    PATH: path,
    RUNNER_TEMP: folder,
    GITHUB_WORKSPACE: workspace,
    GITHUB_STEP_SUMMARY: file('SUMMARY'),
    ...Object.fromEntries(['OUTPUT', 'STATE', 'ENV'].map((kind) => [`GITHUB_${kind}`, file(kind)])),
  };
  const run = (script: string) => {
    const states = Object.entries(read('STATE')).map(([key, value]) => [`STATE_${key}`, value]);
    const whole = { ...env, ...read('ENV'), ...Object.fromEntries(states) };
    return runProgram(process.execPath, [join(root, script)], { env: whole });
  };
  return { main: () => run(runs.main), post: () => run(runs.post), read };
}

test('the action starts the mock for later steps, and reports and stops it after them', async () => {
  const args = `--key 'mine'`;
  const job = openJob('works', { scenarios: 'shipped-orders,\nslow', assume: 'cors=absent', args });
  const { code, output } = await job.main();
  expect(code, output).toBe(0);
  const { url = '', key = '' } = job.read('OUTPUT');
  const control = url.replace('/v1', '/__mock');
  expect(job.read('ENV')).toEqual({
    PETSTORE_MOCK_URL: url,
    PETSTORE_MOCK_KEY: 'mine',
    PETSTORE_MOCK_CONTROL_URL: control,
  });
  const headers = { Authorization: `Bearer ${key}` };
  expect((await fetch(`${url}/store/orders/1`, { method: 'DELETE', headers })).status).toBe(409);
  expect(await (await fetch(`${control}/status`)).json()).toMatchObject({
    scenarios: ['shipped-orders', 'slow'],
    assumptions: ['cors=absent'],
    keys: ['mine'],
  });
  const after = await job.post();
  expect(after.code, after.output).toBe(0);
  expect(after.output).toMatch(/shown +1 of 16 .*::group::.*"DELETE".*::endgroup::\n$/s);
  expect(readFileSync(join(folder, 'works.SUMMARY'), 'utf8')).toContain('1 of 16');
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

test('the action fails with what the mock says of a wrong input', async () => {
  const job = openJob('fails', { scenarios: 'outages' });
  const { code, output } = await job.main();
  expect(code).toBe(1);
  expect(output).toMatch(/^::error::.*scenario.*outages/);
  expect((await job.post()).output).toContain('outages');
});

test('an action that is not built takes the package of the project', async () => {
  const [action, project] = [join(folder, 'action'), join(folder, 'project')];
  for (const path of [join(action, 'scripts'), join(project, 'node_modules')])
    mkdirSync(path, { recursive: true });
  for (const file of ['package.json', runs.main])
    copyFileSync(join(packageRoot, file), join(action, file));
  symlinkSync(packageRoot, join(project, 'node_modules/petstore-mock'));
  const job = openJob('project', {}, { root: action, workspace: project });
  const { code, output } = await job.main();
  expect(code, output).toBe(0);
  expect(job.read('STATE').program).toMatch(project);
  expect((await job.post()).code).toBe(0);
  const alone = await openJob('alone', {}, { root: action, path: folder }).main();
  expect(alone).toMatchObject({
    code: 1,
    output: expect.stringMatching(/or set version to a tar/),
  });
  const tarball = join(folder, 'petstore-mock-1.0.0.tgz');
  writeFileSync(tarball, '');
  const version = relative(process.cwd(), tarball);
  const named = await openJob('named', { version }, { root: action, path: folder }).main();
  expect(named.output).toContain(`could not install ${tarball}`);
});

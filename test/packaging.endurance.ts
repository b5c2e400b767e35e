import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { packageRoot, packageVersion } from '../src/server/files.ts';
import { readyUrl } from './helpers/command.ts';
import { temporaryFolder } from './helpers/folder.ts';
import { blocks, readPage } from './helpers/page.ts';
import { runProgram, spawnProgram } from './helpers/program.ts';
import { toolFile } from './helpers/tools.ts';

const folder = temporaryFolder();
const home = join(folder, 'home');
/** Nothing of this machine but its cache of npm, which spares downloads. */
const env = {
  HOME: home,
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  npm_config_loglevel: 'error',
  npm_config_update_notifier: 'false',
};
let tarball = '';

async function succeed(cwd: string, program: string, ...args: readonly string[]): Promise<string> {
  const { code, output } = await runProgram(program, args, { cwd, env });
  expect(code, output).toBe(0);
  return output;
}

/** A copy of the repository as somebody gets it: not built. */
async function clone(name: string): Promise<string> {
  // Without its history, which npm would copy again.
  const source = `file://${packageRoot}`;
  await succeed(folder, 'git', 'clone', '--quiet', '--depth', '1', source, name);
  return join(folder, name);
}

function newProject(name: string, manifest = {}): string {
  const project = join(folder, name);
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, ...manifest }));
  return project;
}

beforeAll(async () => {
  mkdirSync(home);
  const { output: cache } = await runProgram('npm', ['config', 'get', 'cache']);
  Object.assign(env, { npm_config_cache: cache.trim() });
  // Without scripts: another build would delete the package under the running tests.
  const name = await succeed(
    packageRoot,
    'npm',
    'pack',
    '--ignore-scripts',
    '--pack-destination',
    folder,
  );
  tarball = join(folder, name.trim());
});

test('npx starts the tarball in an empty folder without a registry', async () => {
  const cwd = join(folder, 'empty');
  mkdirSync(cwd);
  // An empty cache, so that nothing installed before can replace what is missing.
  const alone = { npm_config_cache: join(folder, 'cache'), npm_config_offline: 'true' };
  // Relative, since npx takes an absolute path for a program.
  const words = ['-y', `../${basename(tarball)}`, '--port', '0'];
  // A process group of its own, which the signal reaches as a whole.
  const spawned = spawnProgram('npx', words, { cwd, env: { ...env, ...alone }, detached: true });
  const headers = { Authorization: 'Bearer demo-key' };
  const reply = await fetch(`${await readyUrl(spawned)}/pets?limit=1`, { headers });
  expect(await reply.json()).toHaveLength(1);
  process.kill(-(spawned.child.pid ?? 0), 'SIGTERM');
  await spawned.exited;
});

test('npm builds a clone that a project installs; there npm start and npx answer, even if npx was called before', async () => {
  const cloned = await clone('clone');
  // npx keeps what it installed, which in a clone is the clone itself.
  const early = { ...env, npm_config_offline: 'true' };
  await runProgram('npx', ['--yes', 'petstore-mock', '--version'], { cwd: cloned, env: early });
  // For this, the clone runs `npm ci` and its build.
  const project = newProject('of-a-clone');
  await succeed(project, 'npm', 'install', '--save-dev', '../clone');
  for (const cwd of [project, cloned]) {
    const version = await succeed(cwd, 'npx', 'petstore-mock', '--version');
    expect(version.trim()).toBe(packageVersion());
  }
  const started = spawnProgram('npm', ['start', '--silent'], {
    cwd: cloned,
    env: { ...env, PETSTORE_MOCK_PORT: '0' },
  });
  const url = await readyUrl(started);
  const headers = { Authorization: 'Bearer demo-key' };
  expect((await fetch(`${url}/pets/3`, { headers })).status).toBe(200);
  started.child.kill('SIGTERM');
  await started.exited;
  expect(readFileSync(join(packageRoot, '.ci/run'), 'utf8')).toContain("'npm ci && npm test'");
});

test('npm builds a clone that a project installs from git', async () => {
  const project = newProject('of-git');
  const source = await clone('clone-for-git');
  await succeed(project, 'npm', 'install', '--save-dev', `git+file://${source}`);
  const version = await succeed(project, 'npx', 'petstore-mock', '--version');
  expect(version.trim()).toBe(packageVersion());
});

test('the first test of README.md passes in an empty project with the tarball and vitest', async () => {
  const project = newProject('first');
  await succeed(project, 'npm', 'install', '--save-dev', tarball, 'vitest');
  writeFileSync(join(project, 'first.test.ts'), blocks(readPage('README.md'), 'ts').join(''));
  expect(await succeed(project, 'npx', 'vitest', 'run')).toContain('1 passed');
});

test('the action takes the tarball', async () => {
  const action = join(folder, 'action');
  mkdirSync(join(action, 'scripts'), { recursive: true });
  for (const file of ['package.json', 'scripts/action.mjs'])
    cpSync(join(packageRoot, file), join(action, file));
  const files = Object.fromEntries(
    ['OUTPUT', 'STATE', 'ENV'].map((kind) => [`GITHUB_${kind}`, join(folder, kind)]),
  );
  const job = { ...env, ...files, RUNNER_TEMP: folder, INPUT_VERSION: tarball };
  const script = [join(action, 'scripts/action.mjs')];
  const { code, output } = await runProgram(process.execPath, script, { cwd: folder, env: job });
  expect(code, output).toBe(0);
  const states = readFileSync(join(folder, 'STATE'), 'utf8').matchAll(/^(.*?)=(.*)$/gm);
  const state = Object.fromEntries([...states].map(([, name, value]) => [`STATE_${name}`, value]));
  await runProgram(process.execPath, script, { cwd: folder, env: { ...job, ...state } });
  expect(output).toMatch(/petstore-mock ready /);
});

test('every example takes the tarball as its petstore-mock', async () => {
  const project = newProject('of-examples', { workspaces: ['examples/*'] });
  cpSync(join(packageRoot, 'examples'), join(project, 'examples'), { recursive: true });
  await succeed(project, 'npm', 'install', '--package-lock-only', '--workspaces', tarball);
});

test('every way to resolve the types of the packed package finds them', async () => {
  const attw = toolFile('@arethetypeswrong/cli/dist/index.js');
  // Node itself requires ES modules; only Jest needs CommonJS.
  const args = [attw, tarball, '--ignore-rules', 'cjs-resolves-to-esm'];
  const { code, output } = await runProgram(process.execPath, args, { cwd: packageRoot });
  expect(output).toContain('"petstore-mock/vitest"');
  expect(code, output).toBe(0);
});

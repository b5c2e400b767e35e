// The action of action.yml. It starts the mock; after the job's steps, it runs again, reports and stops it.
// It is not built, so that it runs from a checkout, and imports nothing but Node.

import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import { join, resolve } from 'node:path';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const START_TIMEOUT_MS = 60_000;

const { env, platform } = process;
const temporary = env.RUNNER_TEMP ?? '.';

/** @param {string} name */
const input = (name) => env[`INPUT_${name.toUpperCase()}`]?.trim() ?? '';

/** @param {string} name */
const listed = (name) =>
  input(name)
    .split(/[\s,]+/)
    .filter(Boolean);

/** Tells the runner. Values have one line. @param {'ENV' | 'OUTPUT' | 'STATE'} place @param {Record<string, string>} values */
function tell(place, values) {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${value}\n`);
  fs.appendFileSync(env[`GITHUB_${place}`] ?? '', lines.join(''));
}

const PROGRAM = 'node_modules/petstore-mock/dist/cli/main.js';

/** The program: of a built checkout of the action, else of the job's project, else from npm or a tarball. */
function findProgram() {
  const asked = input('version');
  const own = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
  const found = [own, join(env.GITHUB_WORKSPACE ?? '.', PROGRAM)].find(fs.existsSync);
  if (asked === '' && found !== undefined) return found;
  const manifest = fs.readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const version = asked || JSON.parse(manifest).version;
  if (!/^[\w.^~:/\\-]+$/.test(version))
    throw new Error(`version: expected a version or the path of a tarball, found ${version}`);
  const folder = join(temporary, 'petstore-mock');
  // npm takes a path without a dot in front, such as `vendor/…`, for a repository of GitHub.
  const path = fs.existsSync(version) ? resolve(version) : version;
  const wanted = path.endsWith('.tgz') ? path : `petstore-mock@${version}`;
  // On Windows, npm is a script, which needs a shell.
  const command = ['install', '--prefix', folder, '--no-audit', '--no-fund', wanted];
  try {
    execFileSync('npm', command, { stdio: 'inherit', shell: platform === 'win32' });
  } catch (cause) {
    const advice =
      'install the package in the project before this step, or set version to a tarball';
    throw new Error(`npm could not install ${wanted}: ${advice}`, { cause });
  }
  return join(folder, PROGRAM);
}

async function start() {
  const program = findProgram();
  const more = [...input('args').matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)];
  const words = [
    ...['--port', input('port') || '0'],
    ...listed('scenarios').flatMap((name) => ['--scenario', name]),
    ...listed('assume').flatMap((choice) => ['--assume', choice]),
    ...(input('fixture') ? ['--fixture', input('fixture')] : []),
    ...more.map(([, quoted, single, word]) => quoted ?? single ?? word ?? ''),
  ];
  const log = join(temporary, `petstore-mock-${process.pid}.log`);
  const output = fs.openSync(log, 'w');
  const stdio = /** @type {const} */ (['ignore', output, output]);
  const options = { detached: true, windowsHide: true, stdio: [...stdio] };
  const server = spawn(process.execPath, [program, ...words], options);
  server.unref();
  tell('STATE', { pid: String(server.pid), log, program });
  const deadline = Date.now() + START_TIMEOUT_MS;
  let [, url = ''] = [''];
  while (url === '') {
    [, url = ''] = /^petstore-mock ready (\S+)$/m.exec(fs.readFileSync(log, 'utf8')) ?? [];
    const ended = server.exitCode !== null || server.signalCode !== null;
    if (ended || Date.now() > deadline) throw new Error(fs.readFileSync(log, 'utf8'));
    if (url === '') await sleep(50);
  }
  const control = url.replace(/\/v1$/, '/__mock');
  /** @type {{ keys: string[] }} */
  const { keys } = JSON.parse(await (await fetch(`${control}/status`)).text());
  const [key = ''] = keys;
  tell('STATE', { url });
  tell('OUTPUT', { url, key });
  const variables = { URL: url, KEY: key, CONTROL_URL: control };
  for (const [name, value] of Object.entries(variables))
    tell('ENV', { [`PETSTORE_MOCK_${name}`]: value });
  process.stdout.write(`petstore-mock ready ${url}\n`);
}

/** The report comes from the running server: no signal ends a process on Windows so that it could report. */
function stop() {
  const { STATE_pid: pid, STATE_log: log = '', STATE_program: program = '', STATE_url: url } = env;
  try {
    if (url) {
      const gate = [program, 'gate', '--url', url, '--allow-no-calls'];
      execFileSync(process.execPath, gate, { stdio: 'inherit' });
    }
  } finally {
    try {
      process.kill(Number(pid));
    } catch {
      // It has ended before.
    }
    process.stdout.write(
      `::group::Log of petstore-mock\n${fs.readFileSync(log, 'utf8')}::endgroup::\n`,
    );
  }
}

try {
  if (env.STATE_pid) stop();
  else await start();
} catch (error) {
  process.stdout.write(
    `::error::${String(error).replaceAll('%', '%25').replaceAll(/\r?\n/g, '%0A')}\n`,
  );
  process.exitCode = 1;
}

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { flagsFrom } from '../../src/cli/flags.ts';
import { variableOf } from '../../src/cli/input/environment.ts';
import { packageRoot } from '../../src/package.ts';
import { shippedScenarios } from '../../src/scenario/load-scenario.ts';
import { runCommand } from '../helpers/command.ts';
import { blocks, readPage } from './page.ts';
import { freePort } from './walk.ts';

/*
 * There need not be a Docker engine where the tests run. So the steps of the Dockerfile are taken in
 * plain folders, and its command is started with nothing in the environment but what the image sets.
 */

const run = promisify(execFile);
const MINUTE = 60_000;
const VARIABLES = flagsFrom('environment').map(variableOf);

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

interface Stage {
  readonly image: string;
  readonly name: string | undefined;
  readonly instructions: readonly Instruction[];
}

function readStages(text: string): Stage[] {
  const lines = text.replaceAll(/\\\n/g, ' ').split('\n');
  const instructions = lines.flatMap((line): Instruction[] => {
    const [, name, rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [{ name, rest }];
  });
  const stages: { image: string; name: string | undefined; instructions: Instruction[] }[] = [];
  for (const instruction of instructions) {
    const [, image, name] = /^(\S+)(?: AS (\w+))?$/.exec(instruction.rest) ?? [];
    if (instruction.name === 'FROM') stages.push({ image: image ?? '', name, instructions: [] });
    else stages.at(-1)?.instructions.push(instruction);
  }
  return stages;
}

/** What an image says of how it runs. */
interface Image {
  readonly root: string;
  workdir: string;
  env: Record<string, string>;
  entrypoint: readonly string[];
  health: readonly string[];
  user: string;
  port: string;
  volume: string;
}

/** npm, without what it says to the children of its own scripts. */
const NPM_ENV = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name)),
);

/** What the commands of the Dockerfile come to without a network and without a superuser. */
const COMMANDS: Readonly<Record<string, (image: Image) => Promise<void> | void>> = {
  'npm ci': ({ root, workdir }) => {
    symlinkSync(join(packageRoot, 'node_modules'), join(root, workdir, 'node_modules'));
  },
  'npm run build': async ({ root, workdir }) => {
    await run('npm', ['run', 'build'], { cwd: join(root, workdir), env: NPM_ENV });
  },
  'npm prune --omit=dev': ({ root, workdir }) => {
    const modules = join(root, workdir, 'node_modules');
    rmSync(modules);
    for (const path of productionPackages()) {
      const from = join(packageRoot, path);
      // What is nested has a line of its own in the lock file.
      const filter = (file: string) => !relative(from, file).startsWith('node_modules');
      cpSync(from, join(root, workdir, path), { recursive: true, filter });
    }
  },
  'mkdir /data && chown node:node /data': ({ root }) => {
    mkdirSync(join(root, 'data'));
  },
};

/** The folders of what is installed without development, by the lock file. */
function productionPackages(): string[] {
  const { packages } = JSON.parse(readPage('package-lock.json'));
  return Object.entries(membersOf(packages)).flatMap(([path, entry]) => {
    const { dev, devOptional } = membersOf(entry);
    const wanted = path !== '' && dev !== true && devOptional !== true;
    return wanted && existsSync(join(packageRoot, path)) ? [path] : [];
  });
}

/** Takes the steps of a stage in a folder. */
async function build(stage: Stage, root: string, others: ReadonlyMap<string, string>) {
  const image: Image = {
    root,
    workdir: '/',
    env: {},
    entrypoint: [],
    health: [],
    user: 'root',
    port: '',
    volume: '',
  };
  for (const { name, rest } of stage.instructions) {
    if (name === 'WORKDIR') {
      image.workdir = rest;
      mkdirSync(join(root, rest), { recursive: true });
    } else if (name === 'ENV') {
      for (const pair of rest.split(' ')) {
        const [variable = '', value = ''] = pair.split('=');
        image.env[variable] = value;
      }
    } else if (name === 'COPY') copy(rest, image, others);
    else if (name === 'RUN') {
      const command = COMMANDS[rest];
      if (command === undefined) throw new Error(`This test cannot take the step RUN ${rest}.`);
      await command(image);
    } else if (name === 'ENTRYPOINT') image.entrypoint = JSON.parse(rest);
    else if (name === 'HEALTHCHECK') image.health = JSON.parse(/CMD (.*)$/.exec(rest)?.[1] ?? '');
    else if (name === 'USER') image.user = rest;
    else if (name === 'EXPOSE') image.port = rest;
    else if (name === 'VOLUME') image.volume = rest;
    else throw new Error(`This test does not know the instruction ${name}.`);
  }
  return image;
}

function copy(words: string, image: Image, others: ReadonlyMap<string, string>): void {
  const [, stage, paths = ''] = /^(?:--from=(\w+) )?(.*)$/.exec(words) ?? [];
  const sources = paths.split(' ');
  const target = sources.pop() ?? '';
  const from = stage === undefined ? packageRoot : (others.get(stage) ?? '');
  for (const source of sources) {
    const path = join(from, source);
    if (stage === undefined) expect(ALLOWED, `.dockerignore keeps ${source} out`).toContain(source);
    const to = resolve(join(image.root, image.workdir), target);
    const isFolder = target.endsWith('/');
    cpSync(path, isFolder ? join(to, basename(source)) : to, { recursive: true });
  }
}

const [ignored = '', ...allowed] = readPage('.dockerignore')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const ALLOWED = allowed.map((line) => line.replace(/^!/, ''));

const stages = readStages(readPage('Dockerfile'));
const folder = mkdtempSync(join(tmpdir(), 'container-'));
let image: Image;

beforeAll(async () => {
  const roots = new Map<string, string>();
  for (const [index, stage] of stages.entries()) {
    const root = join(folder, `stage-${index}`);
    mkdirSync(root);
    image = await build(stage, root, roots);
    roots.set(stage.name ?? '', root);
  }
}, 2 * MINUTE);

const running = new Set<ChildProcess>();

afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a command of the image with nothing but the image's variables, and some more. */
function start(words: readonly string[], more: Readonly<Record<string, string>>): ChildProcess {
  const variables = Object.entries({ PATH: process.env.PATH, ...image.env, ...more });
  const env = variables.map(([name, value]) => `${name}=${value}`);
  const child = spawn('env', ['-i', ...env, ...words], {
    cwd: join(image.root, image.workdir),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** The first line that a command prints; undefined where it ends before. */
async function firstLine(child: ChildProcess): Promise<string | undefined> {
  if (child.stdout === null) throw new Error('The command has no output.');
  const lines = createInterface({ input: child.stdout });
  const line = once(lines, 'line').then(([text]): string => text);
  return Promise.race([line, once(lines, 'close').then(() => undefined)]);
}

/** As `docker run` starts the image; but tests listen on loopback only. */
async function startImage(more: Readonly<Record<string, string>> = {}) {
  const port = String(await freePort());
  const given = { PETSTORE_MOCK_HOST: '127.0.0.1', PETSTORE_MOCK_PORT: port, ...more };
  const child = start(image.entrypoint, given);
  const exited = once(child, 'exit');
  const ready = await firstLine(child);
  const check = async (words = image.health) => (await once(start(words, given), 'exit'))[0];
  const stop = () => {
    child.kill('SIGTERM');
    return exited;
  };
  return { ready, url: `http://127.0.0.1:${port}/v1`, check, stop };
}

const HEADERS = { Authorization: 'Bearer demo-key' };

describe('the Dockerfile', () => {
  test('keeps what builds out of what runs', () => {
    expect(stages.map(({ name }) => name)).toEqual(['build', undefined]);
    const runtime = join(image.root, image.workdir);
    expect(existsSync(join(runtime, 'node_modules/express'))).toBe(true);
    for (const path of ['src', 'test', 'node_modules/typescript', 'node_modules/vitest']) {
      expect(existsSync(join(runtime, path)), path).toBe(false);
    }
  });

  test('runs as another user than root, can be called from outside, and can keep a store', () => {
    expect(image.user).toBe('node');
    expect(image.env).toEqual({ NODE_ENV: 'production', PETSTORE_MOCK_HOST: '0.0.0.0' });
    expect([image.port, image.volume]).toEqual(['4010', '/data']);
  });

  test('takes nothing but what it copies into its context', () => {
    expect(ignored).toBe('*');
    const copied = stages.flatMap(({ instructions }) =>
      instructions.flatMap(({ name, rest }) =>
        name === 'COPY' && !rest.startsWith('--') ? rest.split(' ').slice(0, -1) : [],
      ),
    );
    expect([...new Set(copied)].map((path) => path.replace('./', '')).sort()).toEqual(
      [...ALLOWED].sort(),
    );
  });

  test('starts with the variables of the image only, is healthy, and ends on SIGTERM', async () => {
    const { ready, url, check, stop } = await startImage();
    expect(ready).toBe(`petstore-mock ready ${url}`);
    expect(await check()).toBe(0);
    expect((await fetch(`${url}/pets`, { headers: HEADERS })).status).toBe(200);
    expect((await fetch(`${url.slice(0, -3)}/__mock/state`)).status).toBe(200);
    expect(await stop()).toEqual([0, null]);
    expect(await check()).toBe(1);
  });

  test('is set by variables, and keeps its store on the volume', async () => {
    const variables = {
      PETSTORE_MOCK_DB: join(image.root, 'data/store.json'),
      PETSTORE_MOCK_SCENARIO: 'empty-inventory',
      PETSTORE_MOCK_KEY: 'alpha,beta',
    };
    const headers = { Authorization: 'Bearer beta' };
    const first = await startImage(variables);
    const inventory = await fetch(`${first.url}/inventory`, { headers });
    expect(await inventory.json()).toEqual([]);
    const cancel = (url: string) => fetch(`${url}/store/orders/1`, { method: 'DELETE', headers });
    expect((await cancel(first.url)).status).toBe(204);
    expect(await first.stop()).toEqual([0, null]);
    const second = await startImage(variables);
    expect((await cancel(second.url)).status).toBe(409);
    expect(await second.stop()).toEqual([0, null]);
  });
});

/** The value at a path of members. */
function at(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((part, name) => (isMembers(part) ? part[name] : undefined), value);
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function membersOf(value: unknown): Record<string, unknown> {
  if (!isMembers(value)) throw new Error(`Expected an object, found ${String(value)}.`);
  return { ...value };
}

/** The mock's own variables among those of a service. */
function ownVariables(env: unknown): string[] {
  return Object.keys(membersOf(env)).filter((name) => name.startsWith('PETSTORE_MOCK_'));
}

describe('examples/compose.yaml', () => {
  const compose: unknown = parse(readPage('examples/compose.yaml'));
  const mock = membersOf(at(compose, 'services', 'petstore-mock'));
  const client = membersOf(at(compose, 'services', 'client'));

  test('builds this Dockerfile and names variables, scenarios and paths that exist', () => {
    expect(existsSync(resolve(packageRoot, 'examples', String(mock.build), 'Dockerfile'))).toBe(
      true,
    );
    const environment = membersOf(mock.environment);
    expect(VARIABLES).toEqual(expect.arrayContaining(ownVariables(environment)));
    const names = shippedScenarios().map(({ name }) => name);
    expect(names).toContain(environment.PETSTORE_MOCK_SCENARIO);
    expect(environment.PETSTORE_MOCK_DB).toMatch(/^\/data\//);
    expect(mock.volumes).toEqual([`petstore-data:${image.volume}`]);
    expect(Object.keys(membersOf(at(compose, 'volumes')))).toEqual(['petstore-data']);
    expect(mock.ports).toEqual([`127.0.0.1:4010:${image.port}`]);
  });

  test('waits until the mock is healthy, by the check of the image', () => {
    expect(at(client, 'depends_on', 'petstore-mock', 'condition')).toBe('service_healthy');
    expect(mock).not.toHaveProperty('healthcheck');
    expect(image.health).toEqual([...image.entrypoint, 'health']);
  });

  test('has a client that passes against the mock, and fails against another', async () => {
    const environment = membersOf(mock.environment);
    const { PETSTORE_MOCK_SCENARIO } = environment;
    // Compose takes $$ for a dollar.
    const words = [client.command].flat().map((word) => String(word).replaceAll('$$', '$'));
    const key = String(at(client, 'environment', 'PETSTORE_KEY'));
    const exitCode = async (url: string) => {
      const child = spawn(words[0] ?? '', words.slice(1), {
        env: { PATH: process.env.PATH, PETSTORE_URL: url, PETSTORE_KEY: key },
        stdio: 'ignore',
      });
      return (await once(child, 'exit'))[0];
    };
    const shipped = await startImage({ PETSTORE_MOCK_SCENARIO: String(PETSTORE_MOCK_SCENARIO) });
    expect(at(client, 'environment', 'PETSTORE_URL')).toBe('http://petstore-mock:4010/v1');
    expect(await exitCode(shipped.url)).toBe(0);
    await shipped.stop();
    const other = await startImage();
    expect(await exitCode(other.url)).toBe(1);
    await other.stop();
  });
});

describe('examples/github-actions.yaml', () => {
  const workflow: unknown = parse(readPage('examples/github-actions.yaml'));
  const service = membersOf(at(workflow, 'jobs', 'service-container', 'services', 'petstore-mock'));

  test('names variables, scenarios and ports that exist', () => {
    const beside = at(workflow, 'jobs', 'exec', 'env');
    const named = [...ownVariables(service.env), ...ownVariables(beside)];
    expect(VARIABLES).toEqual(expect.arrayContaining(named));
    const names = shippedScenarios().map(({ name }) => name);
    expect(names).toContain(at(beside, 'PETSTORE_MOCK_SCENARIO'));
    expect(service.ports).toEqual([`4010:${image.port}`]);
  });

  test('runs the tests under gates, and keeps the report that it writes', async () => {
    const steps = [at(workflow, 'jobs', 'exec', 'steps')].flat();
    const [line = ''] = steps.flatMap((step) => {
      const run = at(step, 'run');
      return typeof run === 'string' && run.startsWith('npx petstore-mock') ? [run] : [];
    });
    const [, flags = '', file = ''] = /^npx petstore-mock (.*) (\S+) -- npm test$/.exec(line) ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'workflow-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const words = [...flags.split(' '), join(folder, file), '--', process.execPath, '-e', ''];
    const { code, stderr } = await runCommand(words);
    expect(stderr).toMatch(/--require-coverage: 0% .* not 50%/);
    expect(code).toBe(3);
    expect(existsSync(join(folder, file))).toBe(true);
    expect(steps.map((step) => at(step, 'with', 'path'))).toContain(file);
  });

  test('starts the service with its variables, and finds it healthy by its options', async () => {
    const [, command = ''] = /--health-cmd "([^"]+)"/.exec(String(service.options)) ?? [];
    const variables = Object.entries(membersOf(service.env));
    const { url, check, stop } = await startImage(
      Object.fromEntries(variables.map(([name, value]) => [name, String(value)])),
    );
    expect(await check(['sh', '-c', command])).toBe(0);
    const path = new URL(String(at(workflow, 'jobs', 'service-container', 'env', 'PETSTORE_URL')));
    const named = `${url.slice(0, -3)}${path.pathname}/pets`;
    expect((await fetch(named, { headers: HEADERS })).status).toBe(200);
    expect((await fetch(`${url}/pets`, { headers: HEADERS })).status).toBe(400);
    expect(await stop()).toEqual([0, null]);
  });
});

describe('the lines of docs/ci.md that need Docker', () => {
  const lines = blocks(readPage('docs/ci.md'), 'sh docker').flatMap((block) =>
    block.trimEnd().split('\n'),
  );

  test('name variables, paths and ports that exist', () => {
    const named = lines.flatMap((line) => [...line.matchAll(/--env (\w+)=/g)].map(([, it]) => it));
    expect(named.length).toBeGreaterThan(3);
    expect(VARIABLES).toEqual(expect.arrayContaining(named));
    const files = lines.flatMap((line) => [...line.matchAll(/--file (\S+)/g)].map(([, it]) => it));
    expect(files.filter((file = '') => !existsSync(join(packageRoot, file)))).toEqual([]);
    for (const line of lines.filter((it) => it.startsWith('docker run'))) {
      expect(line).toContain(`--publish 127.0.0.1:4010:${image.port}`);
      for (const [, path] of line.matchAll(/--volume [\w-]+:(\S+)/g))
        expect(path).toBe(image.volume);
    }
  });

  test('give the image arguments that it takes', async () => {
    const [, words = ''] = /petstore-mock (--scenario.*)$/m.exec(lines.join('\n')) ?? [];
    const child = start(
      [...image.entrypoint, ...words.split(' '), '--port', '0', '--host', '127.0.0.1'],
      {},
    );
    const ready = await firstLine(child);
    expect(ready).toMatch(/^petstore-mock ready /);
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exited).toEqual([0, null]);
  });
});

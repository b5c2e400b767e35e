import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { flagsFrom } from '../../src/cli/flags.ts';
import { variableOf } from '../../src/cli/settings.ts';
import { packageRoot } from '../../src/package.ts';
import { shippedScenarios } from '../../src/scenario/load-scenario.ts';
import { runCommand } from '../helpers/command.ts';
import { contextFiles, dockerfile } from '../helpers/dockerfile.ts';
import { firstLine, image, killImages, start, startImage } from '../helpers/image.ts';
import { blocks, readPage } from '../helpers/page.ts';

const VARIABLES = flagsFrom('environment').map(variableOf);
const { runtime, copied } = dockerfile();

afterAll(killImages);

const HEADERS = { Authorization: 'Bearer demo-key' };

describe('the Dockerfile', () => {
  test('copies files that exist, and .dockerignore excludes all others', () => {
    const fromContext = copied.filter(({ from }) => from === undefined).map(({ path }) => path);
    expect([...new Set(fromContext)].sort()).toEqual([...contextFiles()].sort());
    expect(fromContext.filter((path) => !existsSync(join(packageRoot, path)))).toEqual([]);
  });

  test('runs the build without the sources, and not as root', () => {
    const inRuntime = copied.filter(({ stage }) => stage === undefined);
    const paths = inRuntime.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['package.json', 'fixtures', 'scenarios']));
    expect(paths).not.toContain('src');
    expect(inRuntime).toContainEqual({ stage: undefined, from: 'build', path: '/app/dist' });
    expect(runtime('USER')).toEqual(['node']);
  });

  test('accepts calls from outside and can keep a store', () => {
    expect(image.env).toEqual({ NODE_ENV: 'production', PETSTORE_MOCK_HOST: '0.0.0.0' });
    expect([image.port, image.volume]).toEqual(['4010', '/data']);
    expect(runtime('RUN')).toContain('mkdir /data && chown node:node /data');
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

  test('is healthy under HTTPS too', async () => {
    const { ready, url, check, stop } = await startImage({ PETSTORE_MOCK_TLS: '1' });
    expect(ready).toBe(`petstore-mock ready ${url.replace('http:', 'https:')}`);
    expect(await check()).toBe(0);
    expect(await stop()).toEqual([0, null]);
  });

  test('is configured by variables, and keeps its store on the volume', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'volume-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const variables = {
      PETSTORE_MOCK_DB: join(folder, 'store.json'),
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

  test("waits until the image's health check passes", () => {
    expect(at(client, 'depends_on', 'petstore-mock', 'condition')).toBe('service_healthy');
    expect(mock).not.toHaveProperty('healthcheck');
    expect(image.health).toEqual([...image.entrypoint, 'health']);
  });

  test('has a client that passes against the mock, and fails against another', async () => {
    const environment = membersOf(mock.environment);
    const { PETSTORE_MOCK_SCENARIO } = environment;
    // Compose reads $$ as a dollar sign.
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
    expect(stderr).toMatch(/--require-coverage: .* 0% .* not 50%/);
    expect(code).toBe(3);
    expect(existsSync(join(folder, file))).toBe(true);
    expect(steps.map((step) => at(step, 'with', 'path'))).toContain(file);
  });

  test('starts the service with its variables, and its health check passes', async () => {
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

describe('examples/kubernetes', () => {
  const [secret, deployment, service] = parseAllDocuments(
    readPage('examples/kubernetes/petstore-mock.yaml'),
  ).map((document): unknown => document.toJS());
  const pod = at(deployment, 'spec', 'template');
  const [container] = [at(pod, 'spec', 'containers')].flat();
  const env = [at(container, 'env')].flat();

  test('has a service for the port of the pods that it selects', () => {
    const labels = at(pod, 'metadata', 'labels');
    expect(at(deployment, 'spec', 'selector', 'matchLabels')).toEqual(labels);
    expect(at(service, 'spec', 'selector')).toEqual(labels);
    expect(at(container, 'ports')).toEqual([{ name: 'http', containerPort: Number(image.port) }]);
    expect(at(service, 'spec', 'ports')).toEqual([
      { name: 'http', port: 4010, targetPort: 'http' },
    ]);
  });

  test('names variables that exist, and the key of its secret', () => {
    const names = env.map((variable) => String(at(variable, 'name')));
    expect(VARIABLES).toEqual(expect.arrayContaining(names));
    const [token] = env.flatMap((variable) => at(variable, 'valueFrom', 'secretKeyRef') ?? []);
    expect(at(token, 'name')).toBe(at(secret, 'metadata', 'name'));
    expect(membersOf(at(secret, 'stringData'))).toHaveProperty(String(at(token, 'key')));
  });

  test('has probes that the server answers without a token', async () => {
    const probes = ['startupProbe', 'readinessProbe', 'livenessProbe'].map((name) =>
      at(container, name, 'httpGet'),
    );
    const { url, stop } = await startImage({
      PETSTORE_MOCK_CONTROL_TOKEN: String(at(secret, 'stringData', 'control-token')),
      PETSTORE_MOCK_SANDBOX_REQUIRED: '1',
    });
    for (const probe of probes) {
      expect(at(probe, 'port')).toBe('http');
      // A kubelet sends the address of the pod.
      const headers = { Host: '10.1.2.3:4010' };
      const path = String(at(probe, 'path'));
      expect((await fetch(new URL(path, url), { headers })).status).toBe(200);
    }
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
    const files = lines.flatMap((line) =>
      [...line.matchAll(/--file(?:name)? (\S+)/g)].map(([, it]) => it),
    );
    expect(files.filter((file = '') => !existsSync(join(packageRoot, file)))).toEqual([]);
    for (const line of lines.filter((it) => it.startsWith('docker run'))) {
      expect(line).toContain(`--publish 127.0.0.1:4010:${image.port}`);
      for (const [, path] of line.matchAll(/--volume [\w-]+:(\S+)/g))
        expect(path).toBe(image.volume);
    }
  });

  test('give the image valid arguments', async () => {
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

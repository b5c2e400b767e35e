import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { flagsFrom } from '../../src/cli/flags.ts';
import { variableOf } from '../../src/cli/settings.ts';
import { type Environment, killCommands, runCommand, startCommand } from '../helpers/command.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { blocks, readPage } from '../helpers/page.ts';

const folder = temporaryFolder();

// An image is an environment and a command: no Docker engine is needed to try both.

afterAll(killCommands);

const HEADERS = { Authorization: 'Bearer demo-key' };

/** Starts the image's command with nothing but variables; tests listen on loopback only. */
async function startImage(variables: Environment = {}) {
  const given = { PETSTORE_MOCK_HOST: '127.0.0.1', PETSTORE_MOCK_PORT: '0', ...variables };
  const { url, stop } = await startCommand([], given);
  const { origin, port } = new URL(url);
  const health = async () =>
    (await runCommand(['health'], { ...given, PETSTORE_MOCK_PORT: port })).code;
  return { url, origin, stop, health };
}

/** The value at a path of members. */
function at(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((part, name) => Object(part)[name], value);
}

/** The variables of a service, as text. */
function environment(value: unknown): Environment {
  return Object.fromEntries(Object.entries(Object(value)).map(([name, it]) => [name, String(it)]));
}

test('the image runs the command, checks its health, and is called from outside', () => {
  const lines = readPage('Dockerfile').split('\n');
  expect(lines).toContain('ENTRYPOINT ["node", "dist/cli/main.js"]');
  expect(lines.join('\n')).toMatch(
    /^HEALTHCHECK .* CMD \["node", "dist\/cli\/main.js", "health"\]$/m,
  );
  expect(lines).toContain('ENV NODE_ENV=production PETSTORE_MOCK_HOST=0.0.0.0');
});

test.each([{}, { PETSTORE_MOCK_TLS: '1' }])(
  'with the variables %j it is healthy, until SIGTERM ends it',
  async (variables) => {
    const { stop, health } = await startImage(variables);
    expect(await health()).toBe(0);
    expect(await stop()).toEqual({ code: 0, signal: null });
    expect(await health()).toBe(1);
  },
);

/** Variables that are not flags: `exec` sets the first two, and examples name their image by the third. */
const OTHERS = ['PETSTORE_MOCK_URL', 'PETSTORE_MOCK_KEY', 'PETSTORE_MOCK_IMAGE'];

test.each([
  'examples/compose.yaml',
  'examples/github-actions.yaml',
  'examples/kubernetes/petstore-mock.yaml',
  'docs/ci.md',
])('every variable in %s exists', (page) => {
  const named = readPage(page).match(/PETSTORE_MOCK_\w+/g) ?? [];
  expect([...flagsFrom('environment').map(variableOf), ...OTHERS]).toEqual(
    expect.arrayContaining(named),
  );
  expect(named).not.toEqual([]);
});

test('the client of examples/compose.yaml passes against its mock, and fails against another', async () => {
  const services = at(parse(readPage('examples/compose.yaml')), 'services');
  const { PETSTORE_MOCK_SCENARIO = '' } = environment(at(services, 'petstore-mock', 'environment'));
  const client = at(services, 'client');
  // Compose reads $$ as a dollar sign.
  const [program = '', ...words] = [at(client, 'command')]
    .flat()
    .map((word) => String(word).replaceAll('$$', '$'));
  const exitCode = async ({ url }: { url: string }) => {
    const own = environment(at(client, 'environment'));
    const env = { ...own, PATH: process.env.PATH, PETSTORE_URL: url };
    return (await once(spawn(program, words, { env, stdio: 'ignore' }), 'exit'))[0];
  };
  expect(await exitCode(await startImage({ PETSTORE_MOCK_SCENARIO }))).toBe(0);
  expect(await exitCode(await startImage())).toBe(1);
});

test('the service of examples/github-actions.yaml is healthy at the address of its tests', async () => {
  const job = at(parse(readPage('examples/github-actions.yaml')), 'jobs', 'service-container');
  const service = at(job, 'services', 'petstore-mock');
  expect(at(service, 'options')).toContain('--health-cmd "node dist/cli/main.js health"');
  const { url, origin, health } = await startImage(environment(at(service, 'env')));
  expect(await health()).toBe(0);
  const { pathname } = new URL(String(at(job, 'env', 'PETSTORE_URL')));
  const named = await fetch(`${origin}${pathname}/pets`, { headers: HEADERS });
  expect(named.status).toBe(200);
  expect((await fetch(`${url}/pets`, { headers: HEADERS })).status).toBe(400);
});

test('the tests of examples/github-actions.yaml run under gates, and their report is kept', async () => {
  const steps = [
    at(parse(readPage('examples/github-actions.yaml')), 'jobs', 'exec', 'steps'),
  ].flat();
  const lines = steps.map((step) => String(at(step, 'run') ?? ''));
  const [, flags = '', file = ''] =
    /npx petstore-mock (.*) (\S+) -- npm test/.exec(lines.join('\n')) ?? [];
  const words = [...flags.split(' '), join(folder, file), '--', process.execPath, '-e', ''];
  const { code, stderr } = await runCommand(words);
  expect(stderr).toMatch(/--require-coverage: .* 0% .* not 50%/);
  expect(code).toBe(3);
  expect(existsSync(join(folder, file))).toBe(true);
  expect(steps.map((step) => at(step, 'with', 'path'))).toContain(file);
});

test('the probes of examples/kubernetes get 200 without a token', async () => {
  const [secret, deployment] = parseAllDocuments(
    readPage('examples/kubernetes/petstore-mock.yaml'),
  ).map((document): unknown => document.toJS());
  const [container] = [at(deployment, 'spec', 'template', 'spec', 'containers')].flat();
  const { origin } = await startImage({
    PETSTORE_MOCK_CONTROL_TOKEN: String(at(secret, 'stringData', 'control-token')),
    PETSTORE_MOCK_SANDBOX_REQUIRED: '1',
  });
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
    // A kubelet sends the address of the pod.
    const headers = { Host: '10.1.2.3:4010' };
    const path = String(at(container, probe, 'httpGet', 'path'));
    expect((await fetch(new URL(path, origin), { headers })).status).toBe(200);
  }
});

test('the arguments that docs/ci.md gives the image are valid', async () => {
  const lines = blocks(readPage('docs/ci.md'), 'sh docker').join('\n');
  const [, words = ''] = /petstore-mock (--scenario.*)$/m.exec(lines) ?? [];
  const { stop } = await startCommand([...words.split(' '), '--port', '0']);
  expect(await stop()).toEqual({ code: 0, signal: null });
});

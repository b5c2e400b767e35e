import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { listFlagsFrom, variableFor } from '../../src/cli/flags.ts';
import { startCommand } from '../helpers/command.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { runInProcess } from '../helpers/invocation.ts';
import { blocks, readPage } from '../helpers/page.ts';
import { type Environment, runProgram } from '../helpers/program.ts';

const folder = temporaryFolder();

const ON_LOOPBACK = { PETSTORE_MOCK_HOST: '127.0.0.1', PETSTORE_MOCK_PORT: '0' };

/** Starts the image, which is an environment and a command; tests listen on loopback only. */
async function startImage(variables: Environment = {}) {
  const env = { NODE_ENV: 'production', ...ON_LOOPBACK, ...variables };
  const { url, stop } = await startCommand([], env);
  const { origin, port } = new URL(url);
  const health = async () =>
    (await runInProcess(['health'], { ...env, PETSTORE_MOCK_PORT: port })).code;
  return { url, origin, stop, health };
}

const statusOf = async (url: string | URL, headers: Environment = {}) =>
  (await fetch(url, { headers })).status;

/** The value at a path of members. */
function at(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce<unknown>((part, name) => Object(part)[name], value);
}

/** The variables of a service, as text. */
function environment(value: unknown): Environment {
  return Object.fromEntries(Object.entries(Object(value)).map(([name, it]) => [name, String(it)]));
}

test('the image runs the command, checks its health, and is called from outside', () => {
  const file = readPage('Dockerfile');
  expect(file).toMatch(/^ENTRYPOINT \["node", "dist\/cli\/main.js"\]$/m);
  expect(file).toMatch(/^HEALTHCHECK .* CMD \["petstore-mock", "health"\]$/m);
  // For `docker exec`, which does not use the entry point.
  expect(file).toContain('ln -s /app/dist/cli/main.js /usr/local/bin/petstore-mock');
  expect(file).toMatch(/^ENV NODE_ENV=production PETSTORE_MOCK_HOST=0\.0\.0\.0$/m);
});

test.each([
  'examples/compose.yaml',
  'examples/github-actions.yaml',
  'examples/kubernetes/petstore-mock.yaml',
  'examples/testcontainers/orders.test.js',
  'docs/ci.md',
])('every variable in %s exists', (page) => {
  const named = readPage(page).match(/PETSTORE_MOCK_\w+/g) ?? [];
  // `exec` sets the first three, and examples name their image by the last.
  const others = ['URL', 'KEY', 'CONTROL_URL', 'DB', 'IMAGE'].map(
    (name) => `PETSTORE_MOCK_${name}`,
  );
  expect([...listFlagsFrom('environment').map(variableFor), ...others]).toEqual(
    expect.arrayContaining(named),
  );
  expect(named).not.toEqual([]);
});

test('the client of examples/compose.yaml passes against its mock, and fails against another', async () => {
  const services = at(parse(readPage('examples/compose.yaml')), 'services');
  const { PETSTORE_MOCK_SCENARIO = '' } = environment(at(services, 'petstore-mock', 'environment'));
  const client = at(services, 'client');
  const [program = '', ...words] = [at(client, 'command')].flat().map(String);
  const exitCode = async ({ url }: { url: string }) => {
    const env = { ...environment(at(client, 'environment')), PETSTORE_URL: url };
    // Compose reads $$ as a dollar sign.
    return (
      await runProgram(
        program,
        words.map((it) => it.replaceAll('$$', '$')),
        { env },
      )
    ).code;
  };
  expect(await exitCode(await startImage({ PETSTORE_MOCK_SCENARIO }))).toBe(0);
  expect(await exitCode(await startImage())).toBe(1);
});

test('the service of examples/github-actions.yaml is healthy at the address of its tests, until SIGTERM ends it', async () => {
  const job = at(parse(readPage('examples/github-actions.yaml')), 'jobs', 'service-container');
  const service = at(job, 'services', 'petstore-mock');
  expect(at(service, 'options')).toContain('--health-cmd "petstore-mock health"');
  const { url, origin, stop, health } = await startImage(environment(at(service, 'env')));
  expect(await health()).toBe(0);
  const { pathname } = new URL(String(at(job, 'env', 'PETSTORE_URL')));
  const headers = { Authorization: 'Bearer demo-key' };
  expect(await statusOf(`${origin}${pathname}/pets`, headers)).toBe(200);
  expect(await statusOf(`${url}/pets`, headers)).toBe(400);
  expect(await stop()).toEqual({ code: 0, signal: null });
  expect(await health()).toBe(1);
});

test('the tests of examples/github-actions.yaml run under gates, and their reports are kept', async () => {
  const page = readPage('examples/github-actions.yaml');
  const [, line = ''] = /npx petstore-mock (exec .*) -- npm test/.exec(page) ?? [];
  const kept = ['seen.html', 'run.har'];
  const words = line.split(' ').map((word) => (kept.includes(word) ? join(folder, word) : word));
  const client = 'await fetch(process.env.PETSTORE_MOCK_URL + "/pets")';
  const command = [process.execPath, '--input-type=module', '-e', client];
  const { code, stderr } = await runInProcess([...words, '--', ...command]);
  expect(stderr).toMatch(/--require-coverage: 6% .* not 50%/);
  expect(code).toBe(3);
  expect(kept.filter((file) => !existsSync(join(folder, file)))).toEqual([]);
  expect(page.replaceAll(/\s+/g, ' ')).toContain(`path: | ${kept.join(' ')}`);
});

test('the probes of examples/kubernetes get 200 without a token', async () => {
  const page = readPage('examples/kubernetes/petstore-mock.yaml');
  const [secret, deployment] = parseAllDocuments(page).map((it): unknown => it.toJS());
  const [container] = [at(deployment, 'spec', 'template', 'spec', 'containers')].flat();
  const { origin } = await startImage({
    PETSTORE_MOCK_CONTROL_TOKEN: String(at(secret, 'stringData', 'control-token')),
    PETSTORE_MOCK_SANDBOX_REQUIRED: '1',
  });
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
    const path = String(at(container, probe, 'httpGet', 'path'));
    // A kubelet sends the address of the pod.
    expect(await statusOf(new URL(path, origin), { Host: '10.1.2.3:4010' })).toBe(200);
  }
});

test('the arguments that docs/ci.md gives the image are valid', async () => {
  const lines = blocks(readPage('docs/ci.md'), 'sh docker').join('\n');
  const [, words = ''] = /petstore-mock (--scenario.*)$/m.exec(lines) ?? [];
  const command = ['exec', '--allow-no-calls', ...words.split(' '), '--', 'true'];
  expect(await runInProcess(command)).toMatchObject({ code: 0 });
});

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand, startCommand } from '../helpers/command.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { runInProcess } from '../helpers/invocation.ts';

const folder = temporaryFolder();

const CLIENT = `
const { PETSTORE_MOCK_URL: url, PETSTORE_MOCK_KEY: key, PETSTORE_MOCK_CA: ca } = process.env;
const { protocol } = new URL(url);
const reply = await fetch(url + '/pets/1', { headers: { Authorization: 'Bearer ' + key } });
console.log(protocol, reply.status, ca === process.env.NODE_EXTRA_CA_CERTS);
`;

const client = [process.execPath, '--input-type=module', '--eval', CLIENT];

describe('a server under --tls', () => {
  test('is ready at an https URL, where health finds it', async () => {
    const file = join(folder, 'ca.pem');
    const { url, stop } = await startCommand(['--port', '0', '--tls', '--tls-write', file]);
    const { protocol, port, origin } = new URL(url);
    expect(protocol).toBe('https:');
    const health = (args: readonly string[], env = {}) =>
      runInProcess(['health', '--timeout', '60000', ...args], env);
    const [plain, secure, variable, unverified, given] = await Promise.all([
      health(['--port', port]),
      health(['--port', port, '--tls']),
      health(['--port', port], { PETSTORE_MOCK_TLS: '1' }),
      health(['--url', origin]),
      health(['--url', origin, '--ca', file]),
    ]);
    const codes = [plain, secure, variable, unverified, given].map(({ code }) => code);
    expect(codes).toEqual([1, 0, 0, 1, 0]);
    // Node reads this variable when it starts.
    const trusting = { NODE_EXTRA_CA_CERTS: file };
    expect(await runCommand(['health', '--url', origin], trusting)).toMatchObject({ code: 0 });
    expect(plain.stderr).toContain('use a base URL with https://');
    expect(secure.stdout).toBe(`${origin} is up\n`);
    expect(unverified.stderr).toContain('is not trusted: pass it as `ca`, or its file with --ca');
    expect(await stop()).toEqual({ code: 0, signal: null });
  });

  test('is trusted by the command of exec, and by that of sweep', async () => {
    const { stdout } = await runCommand(['exec', '--tls', '--', ...client]);
    expect(stdout).toBe('https: 200 true\n');
    const swept = await runInProcess(['sweep', '--tls', '--max-runs', '1', '--', ...client]);
    expect(swept.code, swept.stderr).toBe(0);
  });
});

test('without a temporary folder for the certificate, exec says so in one line', async () => {
  const env = { TMPDIR: '/etc/hosts' };
  const { code, stderr } = await runCommand(['exec', '--tls', '--', 'true'], env);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^petstore-mock: no temporary folder .* set TMPDIR to a folder .*\n$/);
});

test('without --tls, the command gets no certificate, not even that of a surrounding exec', async () => {
  const script = 'echo "$PETSTORE_MOCK_CA,$NODE_EXTRA_CA_CERTS"';
  const { stdout } = await runCommand(['exec', '--', 'sh', '-c', script], {
    PETSTORE_MOCK_URL: 'https://127.0.0.1:1/v1',
    PETSTORE_MOCK_CA: '/nowhere.pem',
    NODE_EXTRA_CA_CERTS: '/etc/hosts',
  });
  expect(stdout).toBe(',/etc/hosts\n');
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../../src/package.ts';
import { asker } from '../helpers/ask.ts';
import { rawDeployment, serverFor } from '../helpers/deployment.ts';

test('a certificate that nobody trusts is an Error; cacert trusts it', async () => {
  const deployment = await serverFor({ tls: true });
  const folder = mkdtempSync(join(tmpdir(), 'upstream-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const cacert = join(folder, 'ca.pem');
  writeFileSync(cacert, deployment.certificate ?? '');
  const wary = await serverFor({ upstream: deployment.url });
  const trusting = await serverFor({ upstream: deployment.url, cacert });
  const refused = await asker(wary.port)('GET', '/pets');
  expect(refused).toMatchObject({ status: 502, text: expect.stringMatching(/not trusted/) });
  expect((await asker(trusting.port)('GET', '/pets')).status).toBe(200);
});

const CHUNK = Buffer.alloc(64 * 1024, 'x');
const MEGABYTES = 4;
const CLIENTS = 50;

/** A deployment whose bodies are much larger than what may be held of them. */
async function largeDeployment(): Promise<string> {
  const server = createServer((_asked, response) => {
    Readable.from(Array.from({ length: MEGABYTES * 16 }, () => CHUNK)).pipe(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/v1`;
}

/** A server in a process of its own. */
async function frontOf(upstream: string): Promise<{ port: number; memory(): number }> {
  const words = ['--port', '0', '--log', 'off', '--upstream', upstream];
  const child = spawn(process.execPath, [join(packageRoot, 'dist/cli/main.js'), ...words], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill());
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const status = `/proc/${child.pid}/status`;
  const memory = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(status, 'utf8'))?.[1]) * 1024;
  return { port: Number(/:(\d+)\/v1$/.exec(line)?.[1]), memory };
}

test.skipIf(process.platform !== 'linux')(
  'bodies that clients do not read are not held',
  async () => {
    const { port, memory } = await frontOf(await largeDeployment());
    const get = async () => {
      const headers = { Authorization: 'Bearer a' };
      const sent = request({ port, path: '/v1/pets', headers, agent: false }).end();
      const [reply] = await once(sent, 'response');
      return reply;
    };
    // One to warm up.
    for await (const _chunk of await get());
    const before = memory();
    const replies = await Promise.all(Array.from({ length: CLIENTS }, get));
    let grown = 0;
    await expect
      .poll(
        () => {
          const last = grown;
          grown = memory() - before;
          return grown === last;
        },
        { interval: 200, timeout: 20_000 },
      )
      .toBe(true);
    const sizes = await Promise.all(
      replies.map(async (reply) => {
        let size = 0;
        for await (const chunk of reply) size += chunk.length;
        return size;
      }),
    );
    expect(new Set(sizes)).toEqual(new Set([MEGABYTES * 1024 ** 2]));
    // What is written and read ahead, two connections, and the growth of the heap.
    expect(grown / CLIENTS).toBeLessThan((MEGABYTES / 4) * 1024 ** 2);
  },
);

test('a body that falls silent during a delay ends the client’s connection after it', async () => {
  const deployment = await rawDeployment('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[1');
  const { port } = await serverFor({ upstream: deployment.url, upstreamTimeout: 1000 });
  const control = asker(port, '/__mock');
  const scenario = { rules: [{ on: 'listPets', delay: 1500 }] };
  expect((await control('PUT', '/scenario', { body: { scenario } })).status).toBe(200);
  await expect(asker(port)('GET', '/pets')).rejects.toThrow();
  const { json } = await control('GET', '/requests/1');
  expect(json).toMatchObject({
    why: [expect.any(String), expect.stringMatching(/after 2 bytes: .* sent nothing for 1000 ms/)],
  });
});

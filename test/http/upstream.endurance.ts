import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
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

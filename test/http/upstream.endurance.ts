import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serverFor } from '../helpers/deployment.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { asker } from '../helpers/wire.ts';

const folder = temporaryFolder();

test('a certificate that nobody trusts is an Error; cacert trusts it', async () => {
  const deployment = await serverFor({ tls: true });
  const cacert = join(folder, 'ca.pem');
  writeFileSync(cacert, deployment.certificate ?? '');
  const wary = await serverFor({ upstream: deployment.url });
  const trusting = await serverFor({ upstream: deployment.url, cacert });
  const refused = await asker(wary.port)('GET', '/pets');
  expect(refused).toMatchObject({ status: 502, text: expect.stringMatching(/not trusted/) });
  expect((await asker(trusting.port)('GET', '/pets')).status).toBe(200);
});

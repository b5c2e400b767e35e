import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { openTestMock } from '../../../src/features/testing/test-sandbox.ts';
import { connectPetstoreMock, globalSetup, startPetstoreMock } from '../../../src/index.ts';
import { temporaryFolder } from '../../helpers/folder.ts';

const folder = temporaryFolder();

/** The status of GET, for a client that trusts a certificate. */
async function statusOf(url: string, ca: string | undefined): Promise<number> {
  const headers = { Authorization: 'Bearer demo-key' };
  const [reply] = await once(get(url, { ca, headers, agent: false }), 'response');
  reply.resume();
  return reply.statusCode;
}

test('a mock under tls is controlled over HTTPS with its certificate, and gives that out', async () => {
  await using mock = await startPetstoreMock({ tls: true });
  expect(mock.url).toMatch(/^https:/);
  await mock.orders.patch(1, { status: 'shipped' });
  await mock.animals.put(9007199254740993n, { name: 'Rex', categoryId: 1 });
  expect(await mock.animals.get(9007199254740993n)).toMatchObject({ id: 9007199254740993n });
  await mock.animals.delete(9007199254740993n);
  await expect(mock.orders.get(99)).rejects.toMatchObject({ status: 404, code: 'order_not_found' });
  expect(await statusOf(`${mock.url}/pets/1`, mock.ca)).toBe(200);
  const { url, ca } = mock;
  const other = await connectPetstoreMock({ url: mock.sandbox('other').url, ca });
  expect(await other.orders.get(1)).toMatchObject({ status: 'pending' });
  await expect(connectPetstoreMock({ url })).rejects.toThrow(
    /^the certificate of https:.* is not trusted: pass it as `ca`, or its file with --ca$/,
  );
});

test('a test run shares a server under tls, whose certificate its workers find', async () => {
  const others = join(folder, 'others.pem');
  writeFileSync(others, 'the certificates of others\n');
  vi.stubEnv('NODE_EXTRA_CA_CERTS', others);
  const stop = await globalSetup({ tls: true })();
  try {
    const { PETSTORE_MOCK_URL: url = '', PETSTORE_MOCK_CA: file = '' } = process.env;
    expect(process.env.NODE_EXTRA_CA_CERTS).toBe(file);
    expect(readFileSync(file, 'utf8')).toContain('\nthe certificates of others\n');
    const mock = await openTestMock({});
    expect(await mock.requests.count()).toBe(0);
    expect(await statusOf(`${url}/pets/1`, readFileSync(file, 'utf8'))).toBe(200);
    expect(await mock.requests.count()).toBe(1);
  } finally {
    await stop();
  }
  expect(process.env.PETSTORE_MOCK_CA).toBeUndefined();
});

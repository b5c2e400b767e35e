import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { startServer } from '../../src/index.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { runInProcess } from '../helpers/invocation.ts';

const folder = temporaryFolder();

let url = '';

beforeAll(async () => {
  const server = await startServer({ port: 0 });
  url = server.url;
  const headers = { Authorization: 'Bearer demo-key' };
  for (const path of ['/v1/pets', '/v1/v1/pets', '/~mine/v1/inventory'])
    await fetch(new URL(path, url), { headers });
  return () => server.close();
});

test('gate counts calls that got no reply but forced ones', async () => {
  const server = await startServer({ port: 0, scenarios: ['outage'] });
  await fetch(`${server.url}/pets`);
  expect((await gate('', server.url)).code).toBe(0);
  await server.close();
});

const gate = (flags: string, to = url) =>
  runInProcess(['gate', ...flags.split(' ').filter(Boolean), '--url', to]);

test.each<[flags: string, code: number, said: RegExp]>([
  ['', 0, /^petstore-mock\n {2}shown +2 of 16 .*unmatched +GET \/v1\/v1\/pets: /s],
  ['--require-coverage 12% --fail-on rounded-id', 0, /shown/],
  ['--require-coverage 13%', 3, /--require-coverage: 12% of .*, not 13%; missing: listPets 401/],
  ['--fail-on findings', 3, /--fail-on unmatched: 1 time: /],
  ['--sandbox mine --fail-on findings', 0, /shown +1 of 16/],
  [
    '--sandbox nobody --require-coverage 5%',
    1,
    /\npetstore-mock: no client has called the mock[^\n]+\n$/,
  ],
  ['--sandbox nobody --allow-no-calls', 0, /shown +0 of 16/],
])('gate %s exits with %s over a server that others called', async (flags, code, said) => {
  const { code: actual, stderr } = await gate(flags);
  expect(stderr).toMatch(said);
  expect(actual).toBe(code);
});

test('gate judges the sandbox that the address of the server names', async () => {
  const mine = url.replace('/v1', '/~mine/v1');
  expect(await gate('--fail-on findings', mine)).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/shown +1 of 16/),
  });
});

test('gate writes the reports that exec writes, and says that no server is there', async () => {
  const [file, har] = [join(folder, 'seen.json'), join(folder, 'run.har')];
  expect((await gate(`--coverage ${file} --har ${har}`)).code).toBe(0);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ findings: { total: 1 } });
  const pagesOf = () =>
    JSON.parse(readFileSync(har, 'utf8')).log.entries.map((it: { pageref: string }) => it.pageref);
  expect(pagesOf()).toEqual(['default', 'default', 'mine']);
  expect((await gate(`--sandbox mine --har ${har}`)).code).toBe(0);
  expect(pagesOf()).toEqual(['mine']);
  const { code, stderr } = await gate('', 'http://127.0.0.1:1/v1');
  expect(code).toBe(1);
  expect(stderr).toMatch(/^petstore-mock: .*127\.0\.0\.1:1/);
});

import { expect, test } from 'vitest';
import { createCoverageReport, createFindingsReport } from '../../src/sandbox/coverage.ts';
import type { CoverageReport } from '../../src/sandbox/report-shapes.ts';
import { createStart, loadStore } from '../../src/scenario/sandbox-start.ts';
import { callOf, requestOf } from '../helpers/call.ts';
import { serverFor } from '../helpers/deployment.ts';
import { createSandboxes } from '../helpers/sandboxes.ts';
import { type Client, describeServer } from '../helpers/wire.ts';

async function read({ send }: Client, mount: string, report: string) {
  return Object((await send('GET', `${mount}/__mock/${report}`)).json);
}

/** `listPets 200 ×2 by a #1` for each reply that a report says was shown. */
async function shown(client: Client, mount: string, all = ''): Promise<string[]> {
  const { documented, assumed }: CoverageReport = await read(client, mount, `coverage${all}`);
  return [...documented, ...assumed]
    .filter(({ count }) => count > 0)
    .map((it) => {
      const first = `${it.first?.sandbox} #${it.first?.exchange}`;
      return `${it.operation} ${it.status} ×${it.count} by ${first}`;
    });
}

describeServer('coverage and findings in the control API', (open) => {
  test('cover one sandbox, or all of them with `all`', async () => {
    const client = await open();
    for (const path of ['/~a/v1/pets?limit=1', '/~a/v1/pets?limit=0', '/~b/v1/pets?limit=1']) {
      await client.send('GET', path);
    }
    await client.send('GET', '/v1/pets/1');
    const [get, list] = ['getPet 200 ×1 by default #1', 'listPets 200 ×1 by a #1'];
    const invalid = 'listPets 400 ×1 by a #2';
    expect(await shown(client, '/~a')).toEqual([list, invalid]);
    expect(await shown(client, '/~b')).toEqual(['listPets 200 ×1 by b #1']);
    expect(await shown(client, '')).toEqual([get]);
    for (const mount of ['', '/~a', '/~c', '/~staging']) {
      const all = ['listPets 200 ×2 by a #1', get, invalid];
      expect(await shown(client, mount, '?all=true')).toEqual(all);
      const { cases } = await read(client, mount, 'coverage?all');
      expect(cases).toContainEqual(expect.objectContaining({ id: 'limit-1', count: 2 }));
      const { findings } = await read(client, mount, 'findings?all');
      const found = { sandbox: 'default', exchange: 1, method: 'GET', target: '/v1/pets/1' };
      expect(findings).toMatchObject([{ code: 'deprecated', ...found }]);
    }
    expect(await read(client, '', 'findings')).toMatchObject({ counts: { deprecated: 1 } });
    expect(await read(client, '/~a', 'findings')).toMatchObject({ total: 0 });
  });
});

test('thousands of deleted sandboxes leave their counts and at most 1,000 findings', async () => {
  const sandboxes = createSandboxes({ maxSandboxes: 1 }, createStart({}, await loadStore({})));
  const call = { ...callOf('getPet'), pathId: '1', authorization: 'Bearer demo-key' };
  for (let count = 1; count <= 3000; count += 1) {
    void sandboxes.getOrCreate(`s${count}`).handle(requestOf(call));
    expect(await sandboxes.remove(`s${count}`)).toBe(true);
  }
  const { documented } = createCoverageReport(sandboxes.served);
  expect(documented.filter(({ count }) => count > 0)).toMatchObject([
    { operation: 'getPet', count: 3000, first: { sandbox: 's1', exchange: 1 } },
  ]);
  const { total, findings } = createFindingsReport(sandboxes.served);
  expect([total, findings.length, [...sandboxes].length]).toEqual([3000, 1000, 2]);
});

test('coverage has a curl line for each reply, but under --plain none that needs Prefer', async () => {
  const report = async (plain: boolean) => {
    const { origin } = new URL((await serverFor({ plain })).url);
    const reply = await fetch(`${origin}/~staging/__mock/coverage`);
    const { documented, assumed }: Record<string, { status: number; curl?: string }[]> = Object(
      await reply.json(),
    );
    return { origin, replies: [...(documented ?? []), ...(assumed ?? [])] };
  };
  const { origin, replies } = await report(false);
  expect(replies.find(({ status }) => status === 409)?.curl).toBe(
    `curl -i -X DELETE -H 'Authorization: Bearer staging-key' -H 'Prefer: code=409' ${origin}/~staging/v1/store/orders/1`,
  );
  for (const { curl } of replies) expect(curl).toContain(`${origin}/~staging/v1/`);
  const plain = (await report(true)).replies.flatMap(({ curl }) => curl ?? []);
  expect(plain.length).toBeGreaterThan(0);
  expect(plain.join()).not.toContain('Prefer');
});

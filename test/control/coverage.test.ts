import { expect, test } from 'vitest';
import { coverageOf } from '../../src/evidence/coverage.ts';
import type { FindingsReport } from '../../src/evidence/findings.ts';
import { findingsOf } from '../../src/evidence/findings.ts';
import type { CoverageReport } from '../../src/evidence/report-shapes.ts';
import { totalsOf } from '../../src/evidence/sandbox-evidence.ts';
import { Sandboxes } from '../../src/sandbox/sandboxes.ts';
import { loadStore, startOf } from '../../src/scenario/sandbox-start.ts';
import { callOf, performIn } from '../helpers/call.ts';
import { serverFor } from '../helpers/deployment.ts';
import { type Client, describeServer } from '../helpers/wire.ts';

/** What `GET coverage` and `GET findings` of a sandbox say. */
function reportsOf({ send }: Client) {
  const read = async (path: string) => Object((await send('GET', path)).json);
  return {
    coverage: (path: string): Promise<CoverageReport> => read(path),
    findings: (path: string): Promise<FindingsReport> => read(path),
    /** `listPets 200 ×2 by a #1` for each reply that was shown. */
    shown: async (path: string) => {
      const { documented, assumed }: CoverageReport = await read(path);
      return [...documented, ...assumed]
        .filter(({ count }) => count > 0)
        .map(
          ({ operation, status, count, first }) =>
            `${operation} ${status} ×${count} by ${first?.sandbox} #${first?.exchange}`,
        );
    },
  };
}

describeServer('coverage and findings in the control API', (open) => {
  test('cover one sandbox, or all of them with `all`', async () => {
    const client = await open();
    const { send } = client;
    const { coverage, findings, shown } = reportsOf(client);
    await send('GET', '/~a/v1/pets?limit=1');
    await send('GET', '/~a/v1/pets?limit=0');
    await send('GET', '/~b/v1/inventory');
    await send('GET', '/~b/v1/pets?limit=1');
    await send('GET', '/v1/pets/1');
    expect(await shown('/~a/__mock/coverage')).toEqual([
      'listPets 200 ×1 by a #1',
      'listPets 400 ×1 by a #2',
    ]);
    expect(await shown('/~b/__mock/coverage')).toEqual([
      'listPets 200 ×1 by b #2',
      'listInventory 200 ×1 by b #1',
    ]);
    expect(await shown('/__mock/coverage')).toEqual(['getPet 200 ×1 by default #1']);
    for (const sandbox of ['', '/~a', '/~c', '/~staging']) {
      expect(await shown(`${sandbox}/__mock/coverage?all=true`)).toEqual([
        'listPets 200 ×2 by a #1',
        'getPet 200 ×1 by default #1',
        'listInventory 200 ×1 by b #1',
        'listPets 400 ×1 by a #2',
      ]);
      const { cases } = await coverage(`${sandbox}/__mock/coverage?all=true`);
      expect(cases.find(({ id }) => id === 'limit-1')).toMatchObject({ count: 2 });
    }
    expect((await findings('/__mock/findings')).counts).toEqual({ deprecated: 1 });
    expect((await findings('/~a/__mock/findings')).total).toBe(0);
    expect((await findings('/~a/__mock/findings?all=true')).findings).toMatchObject([
      { code: 'deprecated', sandbox: 'default', exchange: 1, method: 'GET', target: '/v1/pets/1' },
    ]);
  });

  test('a reset or a deletion clears them for the sandbox but not for `all`', async () => {
    const client = await open();
    const { send } = client;
    const { coverage, findings, shown } = reportsOf(client);
    await send('GET', '/~a/v1/pets/1');
    expect(await send('POST', '/~a/__mock/reset')).toMatchObject({ status: 204 });
    expect(await shown('/~a/__mock/coverage')).toEqual([]);
    expect((await findings('/~a/__mock/findings')).total).toBe(0);
    await send('GET', '/~a/v1/pets/1');
    expect(await shown('/~a/__mock/coverage')).toEqual(['getPet 200 ×1 by a #2']);
    await send('DELETE', '/__mock/sandboxes/a');
    expect(await shown('/~a/__mock/coverage')).toEqual([]);
    expect((await findings('/~a/__mock/findings')).total).toBe(0);
    expect(await shown('/__mock/coverage?all=true')).toEqual(['getPet 200 ×2 by a #1']);
    const { cases } = await coverage('/__mock/coverage?all=true');
    expect(cases.find(({ id }) => id === 'pet-available')).toMatchObject({
      count: 2,
      first: { sandbox: 'a', exchange: 1 },
    });
    expect(await findings('/__mock/findings?all')).toMatchObject({
      total: 2,
      counts: { deprecated: 2 },
    });
  });
});

test('thousands of deleted sandboxes leave their counts and at most 1,000 findings', async () => {
  const sandboxes = new Sandboxes(startOf({}, await loadStore({}), []), { maxSandboxes: 1 });
  const call = { ...callOf('getPet'), pathId: '1', authorization: 'Bearer demo-key' };
  for (let count = 1; count <= 3000; count += 1) {
    const sandbox = sandboxes.find(`s${count}`) ?? sandboxes.default;
    void performIn(sandbox, call);
    expect(await sandboxes.remove(`s${count}`)).toBe(true);
  }
  const { documented, cases } = coverageOf(totalsOf(sandboxes));
  expect(documented.filter(({ count }) => count > 0)).toMatchObject([
    { operation: 'getPet', count: 3000, first: { sandbox: 's1', exchange: 1 } },
  ]);
  expect(cases.find(({ id }) => id === 'pet-available')).toMatchObject({ count: 3000 });
  const { total, counts, findings } = findingsOf(totalsOf(sandboxes));
  expect({ total, counts }).toEqual({ total: 3000, counts: { deprecated: 3000 } });
  expect(findings).toHaveLength(1000);
  expect([...sandboxes]).toHaveLength(2);
});

test('coverage has a curl line for each reply, but under --plain none that needs Prefer', async () => {
  const report = async (plain: boolean) => {
    const { url } = await serverFor({ plain });
    const { origin } = new URL(url);
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
  expect(plain.filter((it) => it.includes('Prefer'))).toEqual([]);
});

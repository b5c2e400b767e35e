import { describe, expect, test } from 'vitest';
import { createCoverageReport, createFindingsReport } from '../../../src/core/sandbox/coverage.ts';
import type { CoverageReport } from '../../../src/core/sandbox/report-shapes.ts';
import { loadStore } from '../../../src/server/fixtures.ts';
import { callOf, requestOf } from '../../helpers/call.ts';
import { openMock } from '../../helpers/in-process.ts';
import { createSandboxes, takeAnswer } from '../../helpers/sandboxes.ts';

describe('coverage and findings in the control API', () => {
  test('cover one sandbox, or all of them with `all`', async () => {
    const { send } = await openMock();
    const read = async (path: string) => Object((await send('GET', path)).json);
    /** `listPets 200 ×2 by a #1` for each reply that a report says was shown. */
    const shown = async (path: string): Promise<string[]> => {
      const { documented, assumed }: CoverageReport = await read(path);
      return [...documented, ...assumed]
        .filter(({ count }) => count > 0)
        .map(({ operation, status, count, first }) => {
          return `${operation} ${status} ×${count} by ${first?.sandbox} #${first?.exchange}`;
        });
    };
    for (const path of ['/~a/v1/pets', '/~a/v1/pets?limit=0', '/~b/v1/pets', '/v1/pets/1']) {
      await send('GET', path);
    }
    // What a person sends by hand says nothing about the client.
    await send('GET', '/~b/v1/pets?limit=x', { headers: { 'Mock-Client': 'the page' } });
    await send('POST', '/~a/__mock/requests/1/replay');
    const [get, invalid] = ['getPet 200 ×1 by default #1', 'listPets 400 ×1 by a #2'];
    expect(await shown('/__mock/coverage')).toEqual([get]);
    expect(await shown('/~a/__mock/coverage')).toEqual(['listPets 200 ×1 by a #1', invalid]);
    expect(await read('/__mock/findings')).toMatchObject({ counts: { deprecated: 1 } });
    expect(await read('/~a/__mock/findings')).toMatchObject({ total: 0 });
    for (const mount of ['/__mock', '/~c/__mock']) {
      const all = ['listPets 200 ×2 by a #1', get, invalid];
      expect(await shown(`${mount}/coverage?all=true`)).toEqual(all);
      const { findings } = await read(`${mount}/findings?all`);
      const found = { sandbox: 'default', exchange: 1, method: 'GET', target: '/v1/pets/1' };
      expect(findings).toMatchObject([{ code: 'deprecated', ...found }]);
    }
  });
});

test('thousands of deleted sandboxes leave their counts and at most 1,000 findings', async () => {
  const sandboxes = createSandboxes({ maxSandboxes: 1 }, await loadStore({}));
  const call = { ...callOf('getPet'), pathId: '1', authorization: 'Bearer demo-key' };
  for (let count = 1; count <= 3000; count += 1) {
    takeAnswer(sandboxes.getOrCreate(`s${count}`), requestOf(call));
    expect(sandboxes.remove(`s${count}`)).toBeDefined();
  }
  const { documented } = createCoverageReport(sandboxes.totals());
  expect(documented.filter(({ count }) => count > 0)).toMatchObject([
    { operation: 'getPet', count: 3000, first: { sandbox: 's1', exchange: 1 } },
  ]);
  const { total, findings } = createFindingsReport(sandboxes.totals());
  expect([total, findings.length, [...sandboxes].length]).toEqual([3000, 1000, 2]);
});

test('coverage has a curl line for each reply, but under --plain none that needs Prefer', async () => {
  const report = async (plain: boolean) => {
    const { send } = await openMock({ plain });
    const { documented, assumed }: Record<string, { status: number; curl?: string }[]> = Object(
      (await send('GET', '/~staging/__mock/coverage')).json,
    );
    return [...(documented ?? []), ...(assumed ?? [])];
  };
  const origin = 'http://127.0.0.1:4010';
  const replies = await report(false);
  expect(replies.find(({ status }) => status === 409)?.curl).toBe(
    `curl -i -X DELETE -H 'Authorization: Bearer staging-key' -H 'Prefer: code=409' ${origin}/~staging/v1/store/orders/1`,
  );
  for (const { curl } of replies) expect(curl).toContain(`${origin}/~staging/v1/`);
  const plain = (await report(true)).flatMap(({ curl }) => curl ?? []);
  expect(plain.length).toBeGreaterThan(0);
  expect(plain.join()).not.toContain('Prefer');
});

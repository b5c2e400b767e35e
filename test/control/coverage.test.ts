import { describe, expect, onTestFinished, test } from 'vitest';
import type { FindingsReport } from '../../src/evidence/findings.ts';
import type { CoverageReport } from '../../src/evidence/report-shapes.ts';
import { Sandboxes } from '../../src/sandbox/sandboxes.ts';
import { loadStore, starterFrom } from '../../src/scenario/sandbox-start.ts';
import { startServer } from '../../src/server.ts';
import { callOf, performIn } from '../helpers/call.ts';
import { type Client, describeServer } from '../helpers/wire.ts';

type Get = Client['send'];

async function coverageAt(send: Get, path: string): Promise<CoverageReport> {
  const { status, text } = await send('GET', path);
  expect(status, text).toBe(200);
  return JSON.parse(text);
}

async function findingsAt(send: Get, path: string): Promise<FindingsReport> {
  const { status, text } = await send('GET', path);
  expect(status, text).toBe(200);
  return JSON.parse(text);
}

/** `listPets 200 ×2 by a #1` for each reply that was shown. */
const told = ({ documented, assumed }: CoverageReport): string[] =>
  [...documented, ...assumed]
    .filter(({ count }) => count > 0)
    .map(
      ({ operation, status, count, first }) =>
        `${operation} ${status} ×${count} by ${first?.sandbox} #${first?.exchange}`,
    );

describeServer('coverage and findings in the control API', (open) => {
  test('cover one sandbox, or all of them with `all`', async () => {
    const { send } = await open();
    await send('GET', '/~a/v1/pets?limit=1');
    await send('GET', '/~a/v1/pets?limit=0');
    await send('GET', '/~b/v1/inventory');
    await send('GET', '/~b/v1/pets?limit=1');
    await send('GET', '/v1/pets/1');
    expect(told(await coverageAt(send, '/~a/__mock/coverage'))).toEqual([
      'listPets 200 ×1 by a #1',
      'listPets 400 ×1 by a #2',
    ]);
    expect(told(await coverageAt(send, '/~b/__mock/coverage'))).toEqual([
      'listPets 200 ×1 by b #2',
      'listInventory 200 ×1 by b #1',
    ]);
    expect(told(await coverageAt(send, '/__mock/coverage'))).toEqual([
      'getPet 200 ×1 by default #1',
    ]);
    const all = ['listPets 200 ×2 by a #1', 'getPet 200 ×1 by default #1'];
    for (const sandbox of ['', '/~a', '/~c', '/~staging']) {
      const report = await coverageAt(send, `${sandbox}/__mock/coverage?all=true`);
      expect(told(report)).toEqual([
        ...all,
        'listInventory 200 ×1 by b #1',
        'listPets 400 ×1 by a #2',
      ]);
      expect(report.cases.find(({ id }) => id === 'limit-1')).toMatchObject({ count: 2 });
    }
    expect((await findingsAt(send, '/__mock/findings')).counts).toEqual({ deprecated: 1 });
    expect((await findingsAt(send, '/~a/__mock/findings')).total).toBe(0);
    expect((await findingsAt(send, '/~a/__mock/findings?all=true')).findings).toMatchObject([
      { code: 'deprecated', sandbox: 'default', exchange: 1, method: 'GET', target: '/v1/pets/1' },
    ]);
  });

  test('a reset clears them for the sandbox but not for `all`', async () => {
    const { send } = await open();
    await send('GET', '/~a/v1/pets/1');
    expect(await send('POST', '/~a/__mock/reset')).toMatchObject({ status: 204 });
    expect(told(await coverageAt(send, '/~a/__mock/coverage'))).toEqual([]);
    expect((await findingsAt(send, '/~a/__mock/findings')).total).toBe(0);
    expect(told(await coverageAt(send, '/__mock/coverage?all=true'))).toEqual([
      'getPet 200 ×1 by a #1',
    ]);
    await send('GET', '/~a/v1/pets/1');
    expect(told(await coverageAt(send, '/~a/__mock/coverage'))).toEqual(['getPet 200 ×1 by a #2']);
    const whole = await coverageAt(send, '/__mock/coverage?all=true');
    expect(told(whole)).toEqual(['getPet 200 ×2 by a #1']);
    expect(whole.cases.find(({ id }) => id === 'pet-available')).toMatchObject({
      count: 2,
      first: { sandbox: 'a', exchange: 1 },
    });
    expect(await findingsAt(send, '/__mock/findings?all')).toMatchObject({
      total: 2,
      counts: { deprecated: 2 },
    });
  });

  test('`all` keeps what a deleted sandbox was shown; a new sandbox of that name starts empty', async () => {
    const { send } = await open();
    await send('PATCH', '/~a/v1/inventory/1', { body: { quantity: 0 } });
    await send('DELETE', '/__mock/sandboxes/a');
    expect(told(await coverageAt(send, '/~a/__mock/coverage'))).toEqual([]);
    expect((await findingsAt(send, '/~a/__mock/findings')).total).toBe(0);
    expect(told(await coverageAt(send, '/__mock/coverage?all=true'))).toEqual([
      'updateInventory 200 ×1 by a #1',
    ]);
    expect((await findingsAt(send, '/__mock/findings?all=true')).counts).toEqual({
      experimental: 1,
    });
  });

  test.each(['all=no', 'all=1', 'al=true', 'all=true&x=1'])('?%s is refused', async (query) => {
    const { send } = await open();
    for (const path of ['coverage', 'findings']) {
      expect(await send('GET', `/__mock/${path}?${query}`)).toMatchObject({
        status: 400,
        json: { code: 'invalid_input' },
      });
    }
  });
});

describe('thousands of sandboxes', () => {
  async function sandboxesOf(maxSandboxes: number): Promise<Sandboxes> {
    const initial = await loadStore({});
    const start = await starterFrom({}, () => initial)([]);
    return new Sandboxes(start, { maxSandboxes });
  }

  /** Calls `getPet` in a sandbox, which is found to be deprecated. */
  function use(sandboxes: Sandboxes, name: string): void {
    const sandbox = sandboxes.find(name);
    if (sandbox === undefined) throw new Error(`There is no sandbox ${name}.`);
    const call = { ...callOf('getPet'), pathId: '1', authorization: 'Bearer demo-key' };
    void performIn(sandbox, call);
  }

  test('that are deleted leave their counts and at most 1,000 findings', async () => {
    const sandboxes = await sandboxesOf(1);
    for (let count = 1; count <= 3000; count += 1) {
      use(sandboxes, `s${count}`);
      expect(await sandboxes.remove(`s${count}`)).toBe(true);
    }
    const { documented, cases } = sandboxes.coverage();
    expect(documented.filter(({ count }) => count > 0)).toMatchObject([
      { operation: 'getPet', count: 3000, first: { sandbox: 's1', exchange: 1 } },
    ]);
    expect(cases.find(({ id }) => id === 'pet-available')).toMatchObject({ count: 3000 });
    const { total, counts, findings } = sandboxes.findings();
    expect({ total, counts }).toEqual({ total: 3000, counts: { deprecated: 3000 } });
    expect(findings).toHaveLength(1000);
    expect([...sandboxes]).toHaveLength(2);
  });
});

test('coverage has a curl line for each reply, with a key that works in the sandbox', async () => {
  const server = await startServer({ port: 0 });
  try {
    const origin = `http://127.0.0.1:${server.port}`;
    const reply = await fetch(`${origin}/~staging/__mock/coverage`);
    const { documented, assumed } = Object(await reply.json());
    expect(documented.find(({ status }: { status: number }) => status === 409).curl).toBe(
      `curl -i -X DELETE -H 'Authorization: Bearer staging-key' -H 'Prefer: code=409' ${origin}/~staging/v1/store/orders/1`,
    );
    for (const { curl } of assumed) expect(curl).toContain(`${origin}/~staging/v1/`);
  } finally {
    await server.close();
  }
});

test('under --plain, coverage has no curl line that needs Prefer', async () => {
  const server = await startServer({ port: 0, plain: true });
  onTestFinished(() => server.close());
  const reply = await fetch(new URL('/__mock/coverage', server.url));
  const { documented } = Object(await reply.json());
  const lines = documented.flatMap(({ curl }: { curl?: string }) => curl ?? []);
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.filter((it: string) => it.includes('Prefer'))).toEqual([]);
});

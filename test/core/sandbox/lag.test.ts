import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../../src/core/limits.ts';
import type { RuleDefinition, ServerOptions } from '../../../src/index.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { openMock } from '../../helpers/in-process.ts';

const FROZEN = { clock: Date.UTC(2030, 0), frozen: true };

/** A mock whose reads are behind, and what a client sees of the stock and of a new animal. */
async function lagging(lag: NonNullable<RuleDefinition['lag']>, options: ServerOptions = FROZEN) {
  const { send, control } = await openMock(options);
  const start = async (rules: readonly object[] = [{ on: '*', lag }]) =>
    expect((await control('PUT scenario', { scenario: { rules } })).status).toBe(200);
  await start();
  const set = (quantity: number) =>
    send('PATCH', '/v1/inventory/1', { body: { quantity } }).then(({ status }) => status);
  const read = async () => {
    const { json, headers } = await send('GET', '/v1/inventory');
    return [Object(json)[0].quantity, String(headers['mock-basis']).replace(/;.*/, '')];
  };
  return { send, control, start, set, read };
}

describe('lag', () => {
  test('of one call lets the read after a write see the store before it, and the next read not', async () => {
    const { send, set, read } = await lagging({ calls: 1 });
    const [before] = await read();
    expect(await set(71)).toBe(200);
    expect([await read(), await read()]).toEqual([
      [before, 'forced'],
      [71, 'documented'],
    ]);
    const { json } = await send('POST', '/v1/pets', { body: { name: 'Rex', categoryId: 1 } });
    const path = `/v1/pets/${Object(json).id}`;
    const statuses = [await send('GET', path), await send('GET', path)].map(({ status }) => status);
    expect(statuses).toEqual([404, 200]);
  });

  test('of several calls loses no write', async () => {
    const { set, read } = await lagging({ calls: 2 });
    const [before] = await read();
    await set(71);
    await set(72);
    const seen = [await read(), await read(), await read()].map(([quantity]) => quantity);
    expect(seen).toEqual([before, 71, 72]);
    expect(await set(73)).toBe(200);
  });

  test("of a time follows the sandbox's clock", async () => {
    const { control, set, read } = await lagging('PT2S');
    const [before] = await read();
    await set(71);
    expect(await read()).toEqual([before, 'forced']);
    await control('POST clock/advance', { by: 'PT1S' });
    await set(72);
    expect(await read()).toEqual([before, 'forced']);
    await control('POST clock/advance', { by: 'PT1S' });
    expect(await read()).toEqual([71, 'forced']);
    await control('POST clock/advance', { by: 'PT1S' });
    expect(await read()).toEqual([72, 'documented']);
  });

  test.each([
    ['an edit', 'PATCH inventory/1', { quantity: 5 }, 5],
    ['a reset', 'POST reset', { keep: ['scenario'] }, undefined],
    ['a restored snapshot', 'POST snapshots/start/restore', undefined, undefined],
    ['a rewind', 'POST requests/1/rewind', undefined, undefined],
    ['an undo', 'POST undo', undefined, undefined],
    [
      'rules that are set anew',
      'PUT scenario',
      { scenario: { rules: [{ on: '*', lag: 'PT1M' }] } },
      71,
    ],
  ])('hides nothing of %s by the control API', async (_what, call, body, expected) => {
    const { control, set, read } = await lagging('PT1M');
    await control('POST snapshots', { name: 'start' });
    const [before] = await read();
    if (call === 'POST undo') await control('PATCH orders/1', { status: 'shipped' });
    await set(71);
    expect((await control(call, body)).status).toBeLessThan(300);
    expect(await read()).toEqual([expected ?? before, expect.any(String)]);
    const { json } = await control('GET inventory/1');
    expect(json).toMatchObject({ quantity: expected ?? before });
  });

  test('goes back only as far as is remembered', async () => {
    const { set, read } = await lagging('PT5M');
    const max = LIMITS.lag;
    for (let quantity = 1; quantity <= max + 3; quantity += 1) await set(quantity);
    expect(await read()).toEqual([3, 'forced']);
  });

  test('lets a file of --db have what was written', async () => {
    const db = `${temporaryFolder()}/store.json`;
    const { set, read, control } = await lagging({ calls: 1 }, { db, ...FROZEN });
    const [before] = await read();
    await set(71);
    expect((await read())[0]).toBe(before);
    expect((await control('GET inventory/1')).json).toMatchObject({ quantity: 71 });
  });
});

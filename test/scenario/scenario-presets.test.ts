import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { OPERATION_IDS } from '../../src/contract/operations.ts';
import { packageRoot } from '../../src/package.ts';
import { loadScenarios } from '../../src/scenario/load-scenario.ts';
import type { Rule } from '../../src/scenario/rule-shape.ts';
import { SCENARIO_NAMES } from '../../src/scenario/scenario-names.ts';
import type { Scenario } from '../../src/scenario/scenario-shape.ts';
import { loadFixtureSync } from '../../src/store/fixture/load-fixture.ts';
import { merge } from '../../src/store/merge.ts';
import type { Store } from '../../src/store/store.ts';

async function preset(name: string): Promise<Scenario> {
  const scenario = (await loadScenarios([name])).at(-1);
  if (scenario === undefined) throw new Error(`${name} was not loaded.`);
  return scenario;
}

/** The default fixture as a preset changes it. */
async function storeOf(name: string): Promise<Store> {
  const { state } = await preset(name);
  const merged = merge(loadFixtureSync('default'), state);
  if (!merged.ok) throw new Error(`${name} does not fit the default fixture.`);
  return merged.value;
}

function records<R extends object>(collection: { ascending: () => Iterable<R> }): readonly R[] {
  return [...collection.ascending()];
}

/** What a preset's rules do, without what is the same in every rule. */
async function rulesOf(name: string): Promise<readonly Partial<Rule>[]> {
  const { rules } = await preset(name);
  return rules.map(({ scenario: _, number: __, where, ...rule }) => {
    expect(where).toEqual([]);
    return Object.fromEntries(Object.entries(rule).filter(([, value]) => value !== undefined));
  });
}

const ALL = { on: OPERATION_IDS, chance: 1, apply: false };
const READS = ['listPets', 'getPet', 'listInventory', 'listOrders'];

/** Each preset with what it does; wire-level tests show it on the wire. */
const PRESETS: Readonly<Record<string, () => Promise<void>>> = {
  'empty-store': async () => {
    const { animals, inventory, orders } = await storeOf('empty-store');
    expect([animals.size, inventory.size, orders.size]).toEqual([0, 0, 0]);
  },
  'empty-inventory': async () => {
    const { animals, inventory, orders } = await storeOf('empty-inventory');
    expect([animals.size, inventory.size, orders.size]).toEqual([64, 0, 14]);
  },
  'no-orders': async () => {
    const { animals, inventory, orders } = await storeOf('no-orders');
    expect([animals.size, inventory.size, orders.size]).toEqual([64, 64, 0]);
  },
  'shipped-orders': async () => {
    const orders = records((await storeOf('shipped-orders')).orders);
    expect(orders.map(({ status }) => status)).toEqual(Array(14).fill('shipped'));
  },
  'cancelled-orders': async () => {
    const orders = records((await storeOf('cancelled-orders')).orders);
    expect(orders.map(({ status }) => status)).toEqual(Array(14).fill('cancelled'));
  },
  'sold-out': async () => {
    const { animals, inventory } = await storeOf('sold-out');
    expect(new Set(records(animals).map(({ status }) => status))).toEqual(new Set(['sold']));
    expect(new Set(records(inventory).map(({ quantity }) => quantity))).toEqual(new Set([0]));
    expect([animals.size, inventory.size]).toEqual([64, 64]);
  },
  'invalid-keys': async () => {
    expect((await preset('invalid-keys')).keys).toEqual({ invalid: 'all' });
  },
  'expiring-key': async () => {
    const { keys } = await preset('expiring-key');
    expect(keys.expires).toEqual(new Map([['all', { kind: 'after', milliseconds: 60_000 }]]));
  },
  'read-only-key': async () => {
    const { keys, assume } = await preset('read-only-key');
    expect(keys).toEqual({ allReadOnly: true });
    expect(assume).toEqual({ 'read-only-keys': '403' });
  },
  'large-store': async () => {
    const { generate } = await preset('large-store');
    expect(generate).toEqual({ animals: 100_000, orders: 10_000 });
  },
  'int64-ids': async () => {
    const { animals, inventory, orders } = await storeOf('int64-ids');
    const ids = [
      ...records(animals).map(({ id }) => id),
      ...records(inventory).map(({ petId }) => petId),
      ...records(orders).map(({ id }) => id),
    ];
    expect(ids.every((id) => id >= 2n ** 53n)).toBe(true);
    const doubles = new Set(records(animals).map(({ id }) => Number(id)));
    expect(doubles.size).toBeLessThan(animals.size);
  },
  'unseen-statuses': async () => {
    const { animals, inventory } = await storeOf('unseen-statuses');
    for (const { status } of [...records(animals), ...records(inventory)]) {
      expect(['available', 'pending', 'sold', undefined]).not.toContain(status);
    }
  },
  'sparse-orders': async () => {
    const documented = ['id', 'petId', 'quantity', 'shipDate', 'complete'];
    for (const order of records((await storeOf('sparse-orders')).orders)) {
      expect(documented.every((name) => Object.hasOwn(order, name))).toBe(false);
      if (order.status === undefined) expect(order).toEqual({ id: order.id });
    }
  },
  'after-sunset': async () => {
    const { clock, assume } = await preset('after-sunset');
    expect(clock.now).toBe(Date.UTC(2030, 11, 6));
    expect(assume).toEqual({ 'after-sunset': '410' });
  },
  'rate-limited': async () => {
    expect((await preset('rate-limited')).assume).toEqual({ 'rate-limit': '2/s' });
  },
  slow: async () => {
    const delay = { kind: 'uniform', min: 500, max: 1500 };
    expect(await rulesOf('slow')).toEqual([{ ...ALL, delay }]);
  },
  flaky: async () => {
    const reply = { status: 503, headers: [], body: undefined };
    expect(await rulesOf('flaky')).toEqual([{ ...ALL, chance: 0.2, reply }]);
  },
  outage: async () => {
    const reply = { status: 503, headers: ['Retry-After', '30'], body: undefined };
    expect(await rulesOf('outage')).toEqual([{ ...ALL, reply }]);
  },
  'connection-reset': async () => {
    expect(await rulesOf('connection-reset')).toEqual([{ ...ALL, fault: { kind: 'reset' } }]);
  },
  'truncated-bodies': async () => {
    expect(await rulesOf('truncated-bodies')).toEqual([
      { ...ALL, on: READS, fault: { kind: 'truncate' } },
    ]);
  },
  'malformed-json': async () => {
    expect(await rulesOf('malformed-json')).toEqual([
      { ...ALL, on: READS, fault: { kind: 'malformed-json' } },
    ]);
  },
  'proxy-error-page': async () => {
    expect(await rulesOf('proxy-error-page')).toEqual([{ ...ALL, fault: { kind: 'html' } }]);
  },
  'lost-reply': async () => {
    const lost = { calls: [{ from: 1, to: 1 }], chance: 1, apply: true, fault: { kind: 'reset' } };
    expect(await rulesOf('lost-reply')).toEqual(
      ['createPet', 'updateInventory', 'cancelOrder'].map((id) => ({ ...lost, on: [id] })),
    );
  },
  'conflict-without-body': async () => {
    expect((await preset('conflict-without-body')).assume).toEqual({ 'conflict-body': 'empty' });
  },
};

describe('a preset does what it says', () => {
  test.each(Object.entries(PRESETS))('%s', async (_, check) => check());
});

test('every preset that ships has a test', () => {
  const files = readdirSync(join(packageRoot, 'scenarios')).filter((it) => it.endsWith('.yaml'));
  expect(files.map((file) => file.replace('.yaml', '')).sort()).toEqual(SCENARIO_NAMES);
  expect(Object.keys(PRESETS).sort()).toEqual(SCENARIO_NAMES);
});

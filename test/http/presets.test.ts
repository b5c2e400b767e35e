import { describe, expect, test } from 'vitest';
import { shippedScenarios } from '../../src/scenario/load-scenario.ts';
import { describePresets, QUICK_PAIRS, SHOWS, startWith } from '../helpers/preset-grid.ts';

describePresets(QUICK_PAIRS);

describe('a preset', () => {
  test('has a test here, for each that ships', () => {
    expect(Object.keys(SHOWS).sort()).toEqual(shippedScenarios().map(({ name }) => name));
  });

  test('can be combined with another, and the later one wins', async () => {
    const access = { options: {}, base: '/v1', keys: ['demo-key'] } as const;
    const { ask } = await startWith(['shipped-orders', 'conflict-without-body'], {}, access);
    const { status, text } = await ask('DELETE', '/store/orders/1');
    expect([status, text]).toEqual([409, '']);
  });
});

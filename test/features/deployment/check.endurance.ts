import { expect, test } from 'vitest';
import {
  ASSUMPTION_IDS,
  type AssumptionId,
  optionsOf,
} from '../../../src/core/contract/assumption-table.ts';
import { listChanges, readEarlierCheck } from '../../../src/features/deployment/check/changes.ts';
import {
  type Change,
  type Circumstances,
  checkDrawn,
  findWrong,
  reportOn,
} from '../../helpers/checked-deployment.ts';
import { drawChoices, drawing } from '../../helpers/drawn-requests.ts';

/** The share of drawn deployments that settle an assumption, if not all do, and why. */
const SETTLED: Partial<Record<AssumptionId, number>> = {
  'after-sunset': 0, // it is before the sunset
  'name-limits': 0.6, // only 255 shows, and any where the input is checked before the key
  'status-filter': 0.25, // not where any status is accepted
  'order-shipping': 0.4, // not where orders show that they have shipped
  'inventory-missing-entry': 0.6, // not where every animal has an entry
  'negative-quantity': 0.6, // these not where no animal that the check changes has one
  'inventory-status': 0.6,
  'animal-follows-stock': 0.6,
};

test('no verdict is wrong about deployments with each option, and few stay open', async () => {
  const rounds = Math.max(...ASSUMPTION_IDS.map((id) => optionsOf(id).length)) * 3;
  const { wrong, settled } = await checkDrawn(13, rounds);
  expect(wrong).toEqual([]);
  const tooFew = ASSUMPTION_IDS.filter(
    (id) => (settled.get(id) ?? 0) < (SETTLED[id] ?? 1) * rounds,
  );
  expect(tooFew.map((id) => [id, settled.get(id), rounds])).toEqual([]);
});

test('no verdict is wrong about drawn deployments in trouble', async () => {
  const draw = drawing(3);
  const troubles: readonly Circumstances[] = [
    ...[900, 4000, 9900, 90_000].map((lag) => ({ lag })),
    ...[6000, 15_000, 200_000].map((cache) => ({ cache, isCacheTold: true })),
    { cache: 6000 },
    ...[1, 1, 4].map((writes) => ({ writes, draw, options: { rate: 5 } })),
    { lag: 3000, writes: 1, draw, options: { rate: 5 } },
  ];
  for (const trouble of troubles) {
    const truth = { ...drawChoices(draw), 'rate-limit': 'none' } as const;
    const change: Change = (reply) =>
      trouble.cache === undefined && draw(20) === 0
        ? { status: 503, headers: [], body: Buffer.alloc(0) }
        : reply;
    const calm = await reportOn(truth, trouble);
    const failing = await reportOn(truth, { ...trouble, change });
    for (const report of [calm, failing]) {
      expect(findWrong(report, truth), JSON.stringify({ trouble, truth })).toEqual([]);
    }
    if (trouble.writes === undefined || trouble.lag !== undefined) continue;
    // What other clients do fails no comparison. At this rate a check sends no burst.
    const earlier = readEarlierCheck({ ...(await reportOn(truth)) })!;
    const red = listChanges(earlier, calm, false).filter(({ fails }) => fails);
    expect(red.filter(({ subject }) => subject !== 'rate-limit')).toEqual([]);
  }
});

import { expect, test } from 'vitest';
import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Choices,
  isOption,
  optionNames,
} from '../../../src/core/contract/assumption-table.ts';
import {
  createConfig,
  listChanges,
  readEarlierCheck,
} from '../../../src/features/deployment/check/check-report.ts';
import { createCheckReport } from '../../../src/features/deployment/check/verdicts.ts';
import type { DeploymentReply } from '../../../src/features/deployment/deployment-reply.ts';
import { SAFE_METHODS } from '../../../src/features/deployment/transport.ts';
import {
  type Circumstances,
  checked,
  checkedUnder,
  DEPLOYED_AT,
  deploy,
  findWrong,
} from '../../helpers/checked-deployment.ts';
import { drawChoices, drawing, drawRequests } from '../../helpers/drawn-requests.ts';

/** What only a clock, or an animal that nobody may create, would show; each with its reason. */
const UNSEEN: Partial<Record<AssumptionId, RegExp>> = {
  'name-limits': /empty name/,
  'after-sunset': /clock is past 2030-12-05/,
  'inventory-missing-entry': /it changes no other/,
};

const PAST_SUNSET = Date.UTC(2031, 0, 5);

function choose(id: AssumptionId, option: string): Partial<Choices> {
  if (!isOption(id, option)) throw new TypeError(`${id} has no option ${option}`);
  return { [id]: option };
}

test('each option of at least 34 assumptions is found, and the rest say what they would need', async () => {
  const unseen = new Map<AssumptionId, string>();
  for (const id of ASSUMPTION_IDS) {
    for (const option of optionNames(id)) {
      const choices = choose(id, option);
      const report = createCheckReport(await checked(choices));
      expect(findWrong(report, choices), `${id}=${option}`).toEqual([]);
      const verdict = report.assumptions.find((verdict) => verdict.id === id);
      if (verdict?.option !== option) unseen.set(id, verdict?.why ?? '');
    }
  }
  expect([...unseen.keys()]).toEqual(ASSUMPTION_IDS.filter((id) => UNSEEN[id]));
  for (const [id, why] of unseen) expect(why).toMatch(UNSEEN[id]!);
  expect(ASSUMPTION_IDS.length - unseen.size).toBeGreaterThanOrEqual(34);
});

test('no verdict is wrong about 100 deployments with drawn options, before and after the sunset', async () => {
  const draw = drawing(13);
  for (let count = 0; count < 100; count += 1) {
    const truth = drawChoices(draw);
    const now = draw(4) === 0 ? PAST_SUNSET : DEPLOYED_AT;
    const options = { writes: draw(4) > 0 };
    const report = createCheckReport(await checked(truth, { now, options }));
    expect(findWrong(report, truth), JSON.stringify({ now, options, truth })).toEqual([]);
  }
});

/** A deployment that fails at times, that has a quota, or whose key may not write. */
function drawFailures(draw: (bound: number) => number): Circumstances {
  const [trouble, lag] = [draw(3), draw(2500)];
  let left = draw(80);
  const failure = (status: number) => ({
    status,
    headers: ['Content-Type', 'text/html', 'Retry-After', '86400'],
    body: Buffer.from('<p>No'),
  });
  const instead = ({ method }: { readonly method: string }) => {
    left -= 1;
    if (trouble === 0) return left > 0 && draw(5) === 0 ? failure(502 + draw(3)) : undefined;
    if (trouble === 1) return left < 0 ? failure(429) : undefined;
    return SAFE_METHODS.test(method) ? undefined : failure(draw(2) === 0 ? 403 : 405);
  };
  return { lag, instead };
}

test('no verdict is wrong about 160 deployments with drawn options that others write to, that lag, fail or that a cache hides', async () => {
  const draw = drawing(19);
  for (let count = 0; count < 160; count += 1) {
    const truth = { ...drawChoices(draw), 'rate-limit': 'none' } as const;
    const slow = 7000 + draw(7001);
    const circumstances: Circumstances = [
      { writes: [0.1, 0.5, 1, 2, 4][draw(5)] ?? 1, draw },
      { lag: slow },
      { cache: slow, isCacheTold: draw(2) === 0 },
      drawFailures(draw),
    ][count % 4]!;
    const seen = await checkedUnder(truth, circumstances).catch((error: Error) => error);
    if (seen instanceof Error) {
      expect(seen.message).toMatch(/no request got an answer/);
      continue;
    }
    const report = createCheckReport(seen);
    expect(findWrong(report, truth), JSON.stringify({ circumstances, truth })).toEqual([]);
    if (circumstances.instead !== undefined) continue;
    const calm = createCheckReport(await checkedUnder(truth, {}));
    const changes = listChanges(readEarlierCheck({ ...calm })!, report, false);
    expect(changes.filter(({ fails }) => fails)).toEqual([]);
  }
});

/** The reply without what tells the time of the two machines. */
function shownBy({ status, headers, body }: DeploymentReply): object {
  const pairs = headers.flatMap((name, at) =>
    at % 2 === 0 && name !== 'Date' ? [`${name}: ${headers[at + 1]}`] : [],
  );
  return { status, headers: pairs, body: body.toString('latin1') };
}

test('20 deployments and the mocks that start from what was saved of them give 500 drawn requests the same bytes', async () => {
  const draw = drawing(50);
  let settled = 0;
  for (let count = 0; count < 20; count += 1) {
    const truth = drawChoices(draw);
    const now = draw(4) === 0 ? PAST_SUNSET : DEPLOYED_AT;
    const plain = draw(2) === 0;
    const seen = await checked(truth, { now, plain });
    const report = createCheckReport(seen);
    const saved = createConfig(report, seen, 'http://staging.example/v1');
    const open = report.assumptions.filter(({ verdict }) => verdict === 'open');
    const unknown = Object.fromEntries(open.map(({ id }) => [id, truth[id]]));
    settled += ASSUMPTION_IDS.length - open.length;
    const deployment = await deploy(truth, { now, plain });
    const clock = Date.parse(saved.clock ?? '');
    const mock = await deploy(
      { ...saved.assume, ...unknown },
      { now: clock, plain: saved.plain === true },
    );
    for (const request of drawRequests(count, 500)) {
      const [theirs, ours] = [
        await deployment.client.send(request),
        await mock.client.send(request),
      ];
      expect(shownBy(ours), JSON.stringify({ request, truth })).toEqual(shownBy(theirs));
    }
    deployment.close();
    mock.close();
  }
  expect(settled).toBeGreaterThan(20 * 33);
});

import { describe, expect, test } from 'vitest';
import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Choices,
  chooseOptions,
  isOption,
  optionNames,
} from '../../src/contract/assumption-table.ts';
import { savedConfig } from '../../src/deployment/check/saved-check.ts';
import { type CheckReport, checkReport, isBroken } from '../../src/deployment/check/verdicts.ts';
import type { DeploymentReply } from '../../src/deployment/deployment-reply.ts';
import { BREAKING, OTHERWISE } from '../helpers/breaking.ts';
import { checked, checkedWithLag, DEPLOYED_AT, deploy } from '../helpers/checked-deployment.ts';
import { drawChoices, drawing, drawRequests } from '../helpers/drawn-requests.ts';

/** What only a clock, or an animal that nobody may create, would show; each with its reason. */
const UNSEEN: Partial<Record<AssumptionId, RegExp>> = {
  'name-limits': /empty name/,
  'after-sunset': /clock is past 2030-12-05/,
  'inventory-missing-entry': /it changes no other/,
};

const PAST_SUNSET = Date.UTC(2031, 0, 5);

/** The verdicts that are wrong about a deployment with these options. */
function wrongIn({ assumptions, replies }: CheckReport, truth: Choices): object[] {
  return [
    ...assumptions.filter(({ id, verdict, option }) =>
      verdict === 'settled' ? option !== truth[id] : verdict === 'none-of-the-options',
    ),
    ...replies.filter(({ verdict }) => verdict === 'different'),
  ];
}

function choose(id: AssumptionId, option: string): Partial<Choices> {
  if (!isOption(id, option)) throw new TypeError(`${id} has no option ${option}`);
  return { [id]: option };
}

test('each option of at least 34 assumptions is found, and the rest say what they would need', async () => {
  const unseen = new Map<AssumptionId, string>();
  for (const id of ASSUMPTION_IDS) {
    for (const option of optionNames(id)) {
      const choices = choose(id, option);
      const report = checkReport(await checked(choices));
      expect(wrongIn(report, chooseOptions(choices)), `${id}=${option}`).toEqual([]);
      const verdict = report.assumptions.find((it) => it.id === id);
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
    const report = checkReport(await checked(truth, { now, options }));
    expect(wrongIn(report, truth), JSON.stringify({ now, options, truth })).toEqual([]);
  }
});

test('no verdict is wrong about 100 deployments with lag, and with failures, quotas or a key that may not write', async () => {
  const draw = drawing(17);
  const failure = (status: number) => ({
    status,
    headers: ['Content-Type', 'text/html', 'Retry-After', '86400'],
    body: Buffer.from('<p>No'),
  });
  for (let count = 0; count < 100; count += 1) {
    const truth = { ...drawChoices(draw), 'rate-limit': 'none' } as const;
    const [lag, trouble] = [draw(2500), draw(5)];
    let left = draw(80);
    const seen = await checkedWithLag(truth, lag, ({ method }) => {
      left -= 1;
      const isWrite = /POST|PATCH|DELETE/.test(method);
      if (trouble === 1 && left > 0 && draw(5) === 0) return failure(502 + draw(3));
      if (trouble === 2 && left < 0) return failure(429);
      if (trouble === 3 && isWrite) return failure(draw(2) === 0 ? 403 : 405);
      return undefined;
    }).catch((error: Error) => error);
    if (seen instanceof Error) {
      expect(seen.message).toMatch(/no request got an answer/);
      continue;
    }
    const report = checkReport(seen);
    expect(wrongIn(report, truth), JSON.stringify({ lag, trouble, truth })).toEqual([]);
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
    const report = checkReport(seen);
    const saved = savedConfig(report, seen, 'http://staging.example/v1');
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

describe('a deployment that breaks the document is reported, and nothing else', () => {
  test.each(Object.entries(BREAKING))('%s', async (_name, [told, change, large]) => {
    const assume = { 'assigned-ids': large ? 'int64' : 'next' } as const;
    const { assumptions, replies } = checkReport(await checked(assume, { change }));
    const different = replies.filter(({ verdict }) => verdict === 'different');
    expect(different.map(({ operation, status }) => `${operation} ${status}`)).toEqual(
      [told].flat(),
    );
    const defaults = chooseOptions(assume);
    expect(assumptions.filter(({ id, option = defaults[id] }) => option !== defaults[id])).toEqual(
      [],
    );
    expect(assumptions.filter(({ verdict }) => verdict === 'none-of-the-options')).toEqual([]);
  });
});

test.each(Object.entries(OTHERWISE))(
  'a deployment with a way of its own for %s has none of the options, and keeps to the document',
  async (id, [assume, change]) => {
    const report = checkReport(await checked(assume, { change }));
    const told = report.assumptions.filter(({ verdict }) => verdict === 'none-of-the-options');
    expect(told.map((it) => it.id)).toEqual([id]);
    expect(isBroken(report)).toBe(false);
  },
);

import { describe, expect, test } from 'vitest';
import {
  type Choices,
  chooseOptions,
  isAssumptionId,
} from '../../src/contract/assumption-table.ts';
import { DOCUMENTED_REPLIES } from '../../src/contract/cases.ts';
import { planCheck } from '../../src/deployment/check/check-plan.ts';
import type { CheckTranscript } from '../../src/deployment/check/check-transcript.ts';
import { runCheck } from '../../src/deployment/check/run-check.ts';
import {
  type CheckReport,
  changesSince,
  checkReport,
  earlierCheck,
  isBroken,
} from '../../src/deployment/check/verdicts.ts';
import type { DeploymentRequest } from '../../src/deployment/deployment-client.ts';
import type { DeploymentReply } from '../../src/deployment/deployment-reply.ts';
import { SAFE } from '../../src/deployment/transport.ts';
import { breaking } from '../helpers/breaking.ts';
import { checked, checkedWithLag, deploy, WHOLE_CHECK } from '../helpers/checked-deployment.ts';

function settledIn(seen: CheckTranscript): Record<string, string> {
  const { assumptions } = checkReport(seen);
  return Object.fromEntries(
    assumptions.flatMap(({ id, option }) => (option ? [[id, option]] : [])),
  );
}

/** Another option than the default of many assumptions at once. */
const OTHERS: Partial<Choices> = {
  'invalid-input': '422',
  'limit-out-of-range': 'clamp',
  'status-filter': 'empty',
  'name-limits': '255',
  'id-on-create': 'ignore',
  'unknown-query': 'reject',
  'negative-quantity': 'accept',
  'body-limit': '10kb',
  'check-order': 'input-first',
  'unknown-pet': '400',
  'pets-order': 'newest',
  'pets-paging': 'cursor',
  'created-status': 'available',
  'assigned-ids': 'int64',
  'inventory-missing-entry': 'create',
  'inventory-on-create': 'none',
  'inventory-status': 'follows-quantity',
  'cancelled-orders': 'removed',
  'cancel-again': '404',
  'order-shipping': 'at-ship-date',
  'cancel-restocks': 'yes',
  'error-codes': 'numeric',
  'rate-limit': '10/s',
  'absent-optionals': 'null',
  cors: 'absent',
};

test('a check finds the options of a deployment and leaves open what it cannot see', async () => {
  const seen = await checked(OTHERS);
  const report = checkReport(seen);
  const open = report.assumptions.filter(({ verdict }) => verdict === 'open');
  expect(open.map(({ id }) => id)).toEqual(['after-sunset']);
  const { 'after-sunset': _unseen, ...truth } = chooseOptions(OTHERS);
  expect(settledIn(seen)).toEqual(truth);
  expect(report.replies.map(({ verdict }) => verdict)).toEqual(
    DOCUMENTED_REPLIES.map(() => 'as-documented'),
  );
  expect(isBroken(report)).toBe(false);
});

test('without --writes a check sends only what the plan says, and only GET and OPTIONS', async () => {
  const deployment = await deploy({});
  const options = { ...WHOLE_CHECK, writes: false };
  const sent: string[] = [];
  const { client } = deployment;
  const spy = {
    rest: (milliseconds: number) => client.rest(milliseconds),
    send: (...[request, patient]: Parameters<typeof client.send>) => {
      sent.push(`${request.method} ${request.path}`);
      return client.send(request, patient);
    },
  };
  const seen = await runCheck(spy, options);
  deployment.close();
  expect(sent.every((line) => SAFE.test(line.split(' ')[0]!))).toBe(true);
  const planned = planCheck(options).flatMap(({ name, times }) =>
    seen.get(name) === undefined ? [] : Array.from({ length: times }, () => name),
  );
  expect(sent).toHaveLength(planned.length);
  expect(Object.keys(settledIn(seen)).filter(isAssumptionId).length).toBeGreaterThan(15);
});

/** The assumptions that an effect of a write settles, with the options that have one and that have none. */
const EFFECTS: readonly Partial<Choices>[] = [
  {
    'inventory-on-create': 'entry',
    'animal-follows-stock': 'yes',
    'cancelled-orders': 'removed',
    'cancel-restocks': 'yes',
  },
  {
    'inventory-on-create': 'none',
    'inventory-missing-entry': 'create',
    'animal-follows-stock': 'no',
    'cancelled-orders': 'listed',
    'cancel-restocks': 'no',
  },
];

describe('reads that are behind the writes', () => {
  test.each([0, 300, 900, 1900, 5000])(
    'by %i ms are repeated, so that no verdict is wrong',
    async (lag) => {
      for (const assume of EFFECTS) {
        const report = checkReport(await checkedWithLag(assume, lag));
        const settled = report.assumptions.filter(({ id }) => Object.hasOwn(assume, id));
        expect(Object.fromEntries(settled.map(({ id, option }) => [id, option]))).toEqual(assume);
        expect(report.assumptions.filter((it) => it.verdict === 'none-of-the-options')).toEqual([]);
        expect(isBroken(report)).toBe(false);
        const why = settled.find(({ id }) => id === 'cancel-restocks')?.why;
        if (assume['cancel-restocks'] === 'no') expect(why).toContain('again after 6 s');
      }
    },
  );

  test('for longer than the check waits leave open what would need them', async () => {
    for (const assume of EFFECTS) {
      const { assumptions } = checkReport(await checkedWithLag(assume, 60_000));
      for (const { id, verdict, why } of assumptions.filter(({ id }) =>
        Object.hasOwn(assume, id),
      )) {
        expect([id, verdict], why).toEqual([id, 'open']);
      }
      const restocks = assumptions.find(({ id }) => id === 'cancel-restocks');
      expect(restocks?.why).toMatch(/may not show what was written: GET .*: 404, again after 14 s/);
    }
  });
});

/** Checks a deployment whose replies are changed on their way. */
async function checkedBehind(
  change: (reply: DeploymentReply, request: DeploymentRequest) => DeploymentReply,
  assume: Partial<Choices> = {},
): Promise<CheckReport> {
  const deployment = await deploy(assume);
  try {
    return checkReport(await runCheck(breaking(deployment.client, change), WHOLE_CHECK));
  } finally {
    deployment.close();
  }
}

function failing(status: number, ...headers: string[]): DeploymentReply {
  return { status, headers: ['Content-Type', 'text/html', ...headers], body: Buffer.from('<p>No') };
}

const told = ({ assumptions }: CheckReport, id: string) => assumptions.find((it) => it.id === id);

test('a used-up quota ends the check, unless it answered before, and then fails against what was settled', async () => {
  const quota = failing(429, 'Retry-After', '86400');
  await expect(
    checkedBehind((reply, { key }) => (key === undefined ? quota : reply)),
  ).rejects.toThrow(
    'no request got an answer of the service: GET /pets?limit=100: 429, Retry-After 86400',
  );
  let left = 20;
  const report = await checkedBehind((reply) => (left-- > 0 ? reply : quota));
  expect(isBroken(report)).toBe(false);
  expect(told(report, 'invalid-input')?.option).toBe('400');
  const why = 'GET /pets?limit=1: 429, Retry-After 86400';
  expect(told(report, 'created-status')).toMatchObject({
    verdict: 'open',
    why: expect.stringContaining('429'),
  });
  const earlier = earlierCheck({ assume: { 'invalid-input': '400', cors: 'allowed' } })!;
  const unsettled = { subject: 'cors', before: 'allowed', after: 'open', why };
  expect(changesSince(earlier, report, false)).toMatchObject([{ ...unsettled, fails: true }]);
  expect(changesSince(earlier, report, true)).toMatchObject([{ ...unsettled, fails: false }]);
});

test('a quota that a burst uses up is no rate', async () => {
  let left = 5;
  const report = await checkedBehind((reply, { path, headers }) =>
    path === '/pets?limit=1' && headers === undefined && left-- < 0
      ? failing(429, 'Retry-After', '40')
      : reply,
  );
  expect(told(report, 'rate-limit')).toMatchObject({
    verdict: 'open',
    why: 'the limit counts more than the burst: 429 with Retry-After 40',
  });
});

test.each([401, 403, 405])(
  'a key that may not write gets %i, which answers none of the questions',
  async (status) => {
    const report = await checkedBehind((reply, { method, key }) =>
      SAFE.test(method) || (key === null && status === 401) ? reply : failing(status),
    );
    expect(isBroken(report)).toBe(false);
    const { assumptions, replies } = report;
    expect(assumptions.filter(({ verdict }) => verdict === 'none-of-the-options')).toEqual([]);
    expect(told(report, 'invalid-input')?.option).toBe('400');
    for (const id of ['created-status', 'inventory-on-create', 'negative-quantity', 'media-type']) {
      expect(told(report, id)).toMatchObject({
        verdict: 'open',
        why: expect.stringMatching(`^the key may not write: POST /pets.*: ${status}`),
      });
    }
    const created = replies.find((it) => it.operation === 'createPet' && it.status === 201);
    expect(created).toMatchObject({
      verdict: 'not-tried',
      why: expect.stringContaining('the key may not write'),
    });
  },
);

test('what a deployment answers with 5xx stays open with that reason, and is no difference', async () => {
  const report = await checkedBehind((reply, { method, path }) =>
    /^GET \/store\/orders\/|^POST/.test(`${method} ${path}`) ? failing(503) : reply,
  );
  expect(isBroken(report)).toBe(false);
  expect(told(report, 'unknown-method')).toMatchObject({
    verdict: 'open',
    why: expect.stringMatching(/^GET .*: 503$/),
  });
  expect(told(report, 'created-status')).toMatchObject({
    verdict: 'open',
    why: expect.stringMatching(/^POST .*: 503$/),
  });
  expect(told(report, 'inventory-on-create')).toMatchObject({
    why: expect.stringMatching(/^POST .*: 503$/),
  });
});

test('a verdict that rests on a failed request besides others is open, too', async () => {
  const report = await checkedBehind(
    (reply, { method, path }) =>
      /^GET .*(?:cursor|orders$|limit=100$)/.test(`${method} ${path}`) ? failing(503) : reply,
    {
      'pets-paging': 'cursor',
      'status-filter': 'ignore',
      'animal-status-values': 'seen',
      'order-shipping': 'at-ship-date',
    },
  );
  expect(isBroken(report)).toBe(false);
  expect(report.assumptions.filter((it) => it.verdict === 'none-of-the-options')).toEqual([]);
  expect(told(report, 'pets-paging')?.why).toContain(': 503');
  expect(told(report, 'status-filter')?.why).toBe('GET /pets?limit=100: 503');
});

test('a reason names what was seen, such as an envelope', async () => {
  const envelope = await checkedBehind((reply, { path }) =>
    path.startsWith('/store/orders') && reply.status === 200
      ? { ...reply, body: Buffer.from(`{"items":${reply.body},"total":9}`) }
      : reply,
  );
  for (const id of ['order-status-field', 'cancelled-orders', 'cancel-restocks', 'date-format']) {
    expect(told(envelope, id)?.why).toBe('GET /store/orders: 200 with an object');
  }
});

test('what is not found in an envelope settles nothing', async () => {
  const wrapped = await checkedBehind((reply, { method }) =>
    method !== 'GET' && reply.status < 300 && reply.body.length > 0
      ? { ...reply, body: Buffer.from(`{"data":${reply.body}}`) }
      : reply,
  );
  for (const id of ['created-status', 'inventory-status', 'animal-follows-stock']) {
    expect(told(wrapped, id)).toMatchObject({
      verdict: 'open',
      why: expect.stringContaining('201 with an object'),
    });
  }
  const wrappedEach = await checkedBehind((reply, { path }) =>
    path === '/store/orders' && reply.status === 200
      ? { ...reply, body: Buffer.from('[{"order":{"id":1,"status":"pending"}}]') }
      : reply,
  );
  expect(told(wrappedEach, 'order-status-field')?.why).toBe(
    'GET /store/orders lists no order with an id',
  );
});

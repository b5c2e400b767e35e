import { expect, test } from 'vitest';
import { judgeRepetition, type RecentCalls } from '../../../src/core/sandbox/retries.ts';
import { createReply, EMPTY } from '../../../src/core/service/reply.ts';
import { EMPTY_STORE } from '../../../src/core/store/store.ts';
import { callOf, requestOf } from '../../helpers/call.ts';
import { serviceStateWith } from '../../helpers/service-state.ts';

interface Sent {
  readonly id?: string;
  readonly port?: number;
  readonly status?: number;
  /** Seconds that the reply asks to wait for. */
  readonly retryAfter?: number;
  /** When the sandbox's clock answers, if that is not the real one. */
  readonly at?: number;
}

/** A call that was received at an instant, and whose reply left a millisecond later. */
function judge(earlier: RecentCalls, receivedAt: number, sent: Sent = {}) {
  const { id = '1', port = 1, status = 404, retryAfter, at = receivedAt + 1 } = sent;
  const call = { ...callOf('getPet'), path: `/v1/pets/${id}`, pathId: id };
  const request = requestOf(call, { port, receivedAt });
  const headers = retryAfter === undefined ? [] : ['Retry-After', String(retryAfter)];
  const basis = { kind: 'assumed', by: [] } as const;
  const reply = createReply(basis, status, EMPTY, headers);
  const now = { wall: 0, steady: request.receivedAt + 1 };
  const serviceState = serviceStateWith(EMPTY_STORE, at);
  const decided = {
    request,
    serviceState,
    reply,
    received: reply,
    match: undefined,
    isCarriedOut: false,
    isDelivered: true,
  };
  const judged = judgeRepetition(earlier, decided, now);
  return { codes: judged.findings.map(({ code }) => code), recent: judged.recent };
}

test('the same call is a retry if it was received after its refusal had left, within a minute', () => {
  const { recent } = judge([], 0);
  const isPointless = (receivedAt: number, sent?: Sent) =>
    judge(recent, receivedAt, sent).codes.length === 1;
  expect([0.5, 2, 59_000, 60_002].map((at) => isPointless(at))).toEqual([false, true, true, false]);
  expect(isPointless(2, { id: '2' })).toBe(false);
  // On another connection, it may have been sent in parallel.
  expect([50, 52].map((at) => isPointless(at, { port: 2 }))).toEqual([false, true]);
});

test('a pause that a reply asks for is remembered over other calls, until either clock has waited', () => {
  const asked = { status: 429, retryAfter: 10 };
  const first = judge([], 0, asked).recent;
  const { recent } = judge(first, 5, { id: '2' });
  const found = (receivedAt: number, at = receivedAt) =>
    judge(recent, receivedAt, { ...asked, at }).codes;
  expect([0.5, 6, 9_949, 9_952].map((at) => found(at))).toEqual([
    [],
    ['early-retry'],
    ['early-retry'],
    [],
  ]);
  expect(found(6, 10_002)).toEqual([]);
});

test('the latest 16 refused calls are remembered: the 17th drops the first', () => {
  const asked = { status: 429, retryAfter: 10 };
  let recent: RecentCalls = [];
  for (let id = 1; id <= 17; id += 1) ({ recent } = judge(recent, id, { ...asked, id: `${id}` }));
  const found = (id: string) => judge(recent, 100, { ...asked, id }).codes;
  expect(['1', '2', '17'].map(found)).toEqual([[], ['early-retry'], ['early-retry']]);
});

import { expect, test } from 'vitest';
import type { Attempt } from '../../src/evidence/exchange.ts';
import { attemptOf, findingsOfRetry, remembered } from '../../src/evidence/retries.ts';
import type { Reply } from '../../src/service/reply.ts';
import { callOf, requestOf } from '../helpers/call.ts';

interface Sent {
  readonly target?: string;
  readonly key?: string;
  /** The port of its connection. */
  readonly port?: number;
  /** When it is received, in milliseconds. */
  readonly at?: number;
}

const REFUSAL: Reply = {
  status: 404,
  headers: [],
  body: { kind: 'none' },
  basis: { kind: 'documented' },
};

/** A call that is answered, by default with a 404, a millisecond after it was received. */
function attempt(
  { target = '/v1/pets', key = 'a', port = 1, at = 0 }: Sent,
  reply = REFUSAL,
): Attempt {
  const authorization = `Bearer ${key}`;
  const call = { ...callOf('createPet'), authorization };
  const request = requestOf(call, {
    target,
    receivedAt: at,
    connection: { remotePort: port },
  });
  return attemptOf(request, call, reply, {
    now: { wall: at + 1, steady: at + 1 },
    delay: 0,
    at: at + 1,
  });
}

test('the same call is a retry if it was received after its refusal had left, within a minute', () => {
  const retries = remembered([], attempt({ at: 0 }));
  const isPointless = (sent: Sent) => findingsOfRetry(attempt(sent), retries).length === 1;
  expect([0.5, 1, 1.5, 60_000, 60_001].map((at) => isPointless({ at }))).toEqual([
    false,
    false,
    true,
    true,
    false,
  ]);
  expect(isPointless({ at: 2, key: 'b' })).toBe(false);
  // On another connection, it may have been sent in parallel.
  expect([50, 52].map((at) => isPointless({ at, port: 2 }))).toEqual([false, true]);
});

test('a pause that a reply asks for is remembered over other calls, until either clock has waited', () => {
  const asked = { ...REFUSAL, status: 429, headers: ['Retry-After', '10'] };
  let retries = remembered([], attempt({ at: 0 }, asked));
  retries = remembered(retries, attempt({ at: 5, target: '/v1/pets/1' }));
  const found = (at: number) => findingsOfRetry(attempt({ at }, asked), retries);
  expect([0.5, 6, 9_999, 10_000].map((at) => found(at).length)).toEqual([0, 1, 1, 0]);
  expect(found(6)).toMatchObject([{ code: 'early-retry', message: expect.stringMatching('10 s') }]);
});

import { expect, test } from 'vitest';
import type { Attempt } from '../../src/evidence/exchange.ts';
import { exchangeOf } from '../../src/evidence/make-exchange.ts';
import { attemptOf, findingsOfRetry, NO_RETRIES, remembered } from '../../src/evidence/retries.ts';
import { Evidence } from '../../src/evidence/sandbox-evidence.ts';
import { initialState } from '../../src/sandbox/state.ts';
import { worldOf } from '../../src/sandbox/step.ts';
import { BodyBytes } from '../../src/service/input.ts';
import type { Reply } from '../../src/service/reply.ts';
import { callOf, requestOf } from '../helpers/call.ts';
import { origin } from '../helpers/histories.ts';

interface Sent {
  readonly method?: string;
  readonly target?: string;
  readonly key?: string;
  readonly body?: Buffer;
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
  { method = 'POST', target = '/v1/pets', key = 'a', body, port = 1, at = 0 }: Sent,
  reply = REFUSAL,
): Attempt {
  const authorization = `Bearer ${key}`;
  const received = body === undefined ? {} : { body: new BodyBytes(body) };
  const call = { ...callOf('createPet'), authorization, ...received };
  const request = requestOf(call, {
    method,
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

const LONG = Buffer.alloc(1_000_000, 'y');

test('any byte of a call distinguishes it from another, by a short hash', () => {
  const changed = Buffer.from(LONG);
  changed[999_999] = 'z'.charCodeAt(0);
  const hashes = [
    {},
    { method: 'GET' },
    { target: '/v1/pet' },
    { target: '/v1/pets?' },
    { key: 'b' },
    { body: Buffer.from('{}') },
    { body: Buffer.from('{ }') },
    { body: LONG },
    { body: LONG.subarray(1) },
    { body: changed },
  ].map((sent) => attempt(sent).callHash);
  expect(new Set(hashes).size).toBe(hashes.length);
  expect(attempt({ body: Buffer.from(LONG) }).callHash).toBe(attempt({ body: LONG }).callHash);
  expect(Math.max(...hashes.map(({ length }) => length))).toBeLessThan(32);
});

test('the same call is a retry if it was received after its refusal had left, within a minute', () => {
  const retries = remembered(NO_RETRIES, attempt({ at: 0 }));
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

test('evidence that was restored expects a retry only if there was a refusal', () => {
  const evidence = new Evidence('default', { journal: 10, maxHold: 1000 });
  const restored = () =>
    new Evidence(
      'default',
      { journal: 10, maxHold: 1000 },
      JSON.parse(JSON.stringify(evidence.state)),
    );
  expect(restored().mayRetry).toBe(false);
  const call = callOf('getPet');
  const world = worldOf(initialState(origin, undefined, 0));
  const context = { world, now: { wall: 0, steady: 0 }, frozen: true, evidence, isNext: true };
  const outcome = { kind: 'reply', reply: REFUSAL, delay: 0 } as const;
  evidence.take({ exchange: exchangeOf(requestOf(call), outcome, context) });
  expect(restored().mayRetry).toBe(true);
  evidence.take({});
  expect(restored().mayRetry).toBe(false);
});

test('a pause that a reply asks for is remembered over other calls, until either clock has waited', () => {
  const asked = { ...REFUSAL, status: 429, headers: ['Retry-After', '10'] };
  let retries = remembered(NO_RETRIES, attempt({ at: 0 }, asked));
  retries = remembered(retries, attempt({ at: 5, target: '/v1/pets/1' }));
  const found = (at: number) => findingsOfRetry(attempt({ at }, asked), retries);
  expect([0.5, 6, 9_999, 10_000].map((at) => found(at).length)).toEqual([0, 1, 1, 0]);
  expect(found(6)).toMatchObject([{ code: 'early-retry', message: expect.stringMatching('10 s') }]);
});

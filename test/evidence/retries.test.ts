import { expect, test } from 'vitest';
import type { Attempt } from '../../src/sandbox/exchange.ts';
import { findingsOfRetry, retriesAfter } from '../../src/sandbox/retries.ts';

/** A call that was answered with a 404 a millisecond after it was received. */
function attempt(receivedAt: number, more: Partial<Attempt> = {}): Attempt {
  const at = receivedAt + 1;
  const answer = { status: 404, isFinal: true, retryAfter: undefined, at, leftAt: at };
  return { callHash: 'a', port: 1, receivedAt, ...answer, ...more };
}

test('the same call is a retry if it was received after its refusal had left, within a minute', () => {
  const retries = retriesAfter([], attempt(0));
  const isPointless = (...sent: Parameters<typeof attempt>) =>
    findingsOfRetry(attempt(...sent), retries).length === 1;
  expect([0.5, 1, 1.5, 60_000, 60_001].map((at) => isPointless(at))).toEqual([
    ...[false, false],
    ...[true, true],
    false,
  ]);
  expect(isPointless(2, { callHash: 'b' })).toBe(false);
  // On another connection, it may have been sent in parallel.
  expect([50, 52].map((at) => isPointless(at, { port: 2 }))).toEqual([false, true]);
});

test('a pause that a reply asks for is remembered over other calls, until either clock has waited', () => {
  const asked = { status: 429, isFinal: false, retryAfter: 10 };
  const retries = retriesAfter(retriesAfter([], attempt(0, asked)), attempt(5, { callHash: 'b' }));
  const found = (receivedAt: number, at = receivedAt) =>
    findingsOfRetry(attempt(receivedAt, { ...asked, at }), retries).map(({ code }) => code);
  expect([0.5, 6, 9_999, 10_002].map((at) => found(at))).toEqual([
    [],
    ['early-retry'],
    ['early-retry'],
    [],
  ]);
  expect(found(6, 10_002)).toEqual([]);
});

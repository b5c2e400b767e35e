import type { Exchange } from '../../src/core/sandbox/exchange.ts';

/** An exchange in which the client was sent nothing, or what a test says. */
export function exchangeWith(members: Partial<Exchange> = {}): Exchange {
  return {
    number: 0,
    at: 0,
    clockMoved: undefined,
    duration: 0,
    method: 'GET',
    target: '/v1/pets',
    operation: 'listPets',
    status: undefined,
    basis: { kind: 'documented' },
    fault: undefined,
    delay: 0,
    hold: undefined,
    findings: [],
    covers: [],
    replays: undefined,
    isRefused: false,
    authorization: undefined,
    request: { headers: [], body: undefined, size: 0 },
    reply: undefined,
    reasons: [],
    expected: undefined,
    patched: undefined,
    ...members,
  };
}

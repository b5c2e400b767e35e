import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OPERATION_IDS } from '../../src/contract/operations.ts';
import { exchangeText } from '../../src/control/journal/exchange-text.ts';
import { Coverage, coverageOf } from '../../src/evidence/coverage.ts';
import {
  EXCHANGE_EVIDENCE,
  type ExchangeEvidence,
  evidenceValue,
} from '../../src/evidence/evidence-shapes.ts';
import type { Seen } from '../../src/evidence/exchange.ts';
import { Findings, findingsOf } from '../../src/evidence/findings.ts';
import { Journal } from '../../src/evidence/journal.ts';
import {
  evidenceState,
  putExchange,
  recordExchange,
  restoreEvidence,
  type Witness,
  witnessExchange,
} from '../../src/evidence/witness.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { Sandboxes } from '../../src/sandbox/sandboxes.ts';
import { simulate } from '../../src/sandbox/simulate.ts';
import { readScenario } from '../../src/scenario/read-scenario.ts';
import { startOf } from '../../src/scenario/sandbox-start.ts';
import { ReceivedBytes } from '../../src/service/received-body.ts';
import { turnTime } from '../../src/service/turn-time.ts';
import { readAs } from '../../src/shape/read-as.ts';
import { createStore, storeBaseOf } from '../../src/store/store.ts';

const BIG_ID = 9_007_199_254_740_993n;
const STORE = createStore(
  storeBaseOf({
    animals: [1n, 2n, BIG_ID].map((id) => ({ id, name: 'Bella', categoryId: 1n })),
    inventory: [{ petId: 1n, quantity: 3, status: 'available' }],
    orders: [{ id: 1n, status: 'shipped' }, { id: 2n }],
  }),
);

const RULES = readScenario(
  {
    rules: [
      {
        on: 'getPet',
        calls: '3-4',
        reply: { status: 429, headers: { 'Retry-After': 60 } },
      },
      { on: 'listOrders', calls: '2', fault: 'reset' },
      { on: 'listInventory', calls: '2,4', fault: 'truncate' },
      { on: 'listPets', chance: 0.3, delay: 5 },
    ],
  },
  'odd',
);
if (!RULES.ok) throw new Error('the scenario is wrong');
const START = startOf({ frozen: true, clock: 1e12 }, STORE, [RULES.value]);

const step = fc.record({
  operation: fc.constantFrom(...OPERATION_IDS),
  pathId: fc.constantFrom('1', '2', '7', '9007199254740992', 'x'),
  query: fc.constantFrom<readonly [string, string][]>([], [['limit', '1']], [['colour', 'red']]),
  authorization: fc.constantFrom(
    'Bearer demo-key',
    'Bearer demo-key',
    'Bearer undefined',
    undefined,
  ),
  body: fc.constantFrom(
    '{"name":"Rex","categoryId":1}',
    '{"quantity":0,"note":1}',
    'é{',
    undefined,
  ),
  method: fc.constantFrom('GET', 'HEAD', 'DELETE'),
  connection: fc.nat(2),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const CONNECTIONS = [{}, {}, {}];

function seenOf(request: Step, index: number): Seen {
  const { operation, method, authorization, body } = request;
  const target = `/v1/${operation}/${request.pathId}`;
  const headers = { 'content-length': body === undefined ? '0' : String(body.length) };
  const call = {
    operation,
    path: target,
    pathId: request.pathId,
    query: [...request.query],
    headers,
    authorization,
    contentType: 'application/json',
    contentEncoding: undefined,
    body: body === undefined ? { kind: 'none' as const } : new ReceivedBytes(Buffer.from(body)),
  };
  const connection = CONNECTIONS[request.connection] ?? {};
  const receivedAt = turnTime().steady + index;
  const sent = ['Authorization', authorization ?? '', 'Host', 'x'];
  return { method, target, authorization, headers: sent, call, connection, receivedAt };
}

function evidence({ world, clock }: Sandbox, journal: number): Witness {
  const kept = new Journal('default', journal, new Set());
  return {
    world,
    clock,
    journal: kept,
    coverage: new Coverage('default'),
    findings: new Findings('default', kept),
  };
}

function shown({ journal, coverage, findings }: Witness): object {
  return {
    dropped: journal.dropped,
    exchanges: [...journal.select()].map(exchangeText),
    complete: journal.isComplete({ from: 0 }),
    coverage: coverageOf([coverage]),
    findings: findingsOf([findings]),
  };
}

function received(witnessed: ExchangeEvidence): ExchangeEvidence {
  const text = JSON.stringify(evidenceValue(witnessed));
  const reading = readAs(EXCHANGE_EVIDENCE, JSON.parse(text));
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.value;
}

/** Calls of which some are repeated at once. */
const steps = fc
  .array(fc.tuple(step, fc.integer({ min: 1, max: 3 })), { maxLength: 12 })
  .map((calls) => calls.flatMap(([call, times]) => Array.from({ length: times }, () => call)));

test('evidence from values equals evidence from the exchanges, on every server', () => {
  const journal = fc.constantFrom(0, 3, 100);
  fc.assert(
    fc.property(journal, steps, (capacity, requests) => {
      const sandbox = new Sandboxes(START).default;
      const copy = (): Witness => evidence(sandbox, capacity);
      const [alone, answering, other, restored] = [copy(), copy(), copy(), copy()];
      const log: ExchangeEvidence[] = [];
      for (const [index, request] of requests.entries()) {
        const seen = seenOf(request, index);
        const outcome = simulate(sandbox, seen.call ?? expect.fail());
        const value = received(witnessExchange(answering, seen, outcome));
        log.push(value);
        recordExchange(alone, seen, outcome);
        putExchange(answering, value, seen);
        putExchange(other, value);
      }
      expect(shown(answering)).toEqual(shown(alone));
      expect(shown(other)).toEqual(shown(alone));
      expect(evidenceState(other)).toEqual(evidenceState(answering));
      restoreEvidence(restored, evidenceState(other), log);
      expect(shown(restored)).toEqual(shown(alone));
      expect(evidenceState(restored)).toEqual(evidenceState(other));
    }),
    { numRuns: 15 },
  );
});

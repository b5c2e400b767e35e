import { expect, test } from 'vitest';
import {
  ASSUMPTION_IDS,
  ASSUMPTIONS,
  type AssumptionId,
  type Choices,
  chooseOptions,
} from '../../../src/core/contract/assumption-table.ts';
import { BODY_LIMITS } from '../../../src/core/contract/assumptions/protocol-assumptions.ts';
import { parseQuery, parseTarget } from '../../../src/core/contract/target.ts';
import { BodyBytes, type Call } from '../../../src/core/service/input.ts';
import type { ServiceState } from '../../../src/core/service/operation.ts';
import type { Reply } from '../../../src/core/service/reply.ts';
import { SERVICE } from '../../../src/core/service/service.ts';
import { findOperation } from '../../../src/server/arrival.ts';
import { loadFixtureSync } from '../../../src/server/fixtures.ts';
import { callOf } from '../../helpers/call.ts';
import { type DrawnRequest, drawRequests } from '../../helpers/drawn-requests.ts';
import { serviceStateWith } from '../../helpers/service-state.ts';

const { inventory, ...others } = loadFixtureSync('default');
const STORE = { ...others, inventory: inventory.without([1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n]) };

const BEFORE_SUNSET = Date.parse('2030-12-05T12:00:00Z');
const AFTER_ALL_DATES = Date.parse('2036-01-01T00:00:00Z');

/** The call that a request makes; undefined if no operation takes it. */
function callFrom(request: DrawnRequest, choices: Choices): Call | undefined {
  const { method, path, key, headers = {}, body } = request;
  const target = parseTarget(`/v1${path}`);
  const operation = findOperation(target, method);
  if (operation === undefined) return undefined;
  const limit = BODY_LIMITS[choices['body-limit']];
  const bytes = body === undefined ? undefined : Buffer.from(body);
  return {
    ...callOf(operation),
    pathId: target.pathId,
    query: parseQuery(target),
    authorization: key === null ? undefined : `Bearer ${key}`,
    contentType: headers['Content-Type'] ?? 'application/json',
    ...(bytes && {
      body: bytes.length > limit ? { kind: 'too-large', limit } : new BodyBytes(bytes),
    }),
  };
}

/** Choices, and what an operation sees under them. */
interface Under {
  readonly choices: Choices;
  readonly state: ServiceState;
}

const under = (now: number, choices: Choices): Under => {
  return { choices, state: serviceStateWith(STORE, now, choices) };
};

function answer(request: DrawnRequest, { choices, state }: Under): Reply | undefined {
  const call = callFrom(request, choices);
  return call && SERVICE[call.operation](state, call).reply;
}

/**
 * None turns on what is asked alone: a key's rate on what came before, the order on other errors, and
 * paging on a cursor or an offset that no other option reads.
 */
const EXCEPT: readonly AssumptionId[] = ['check-order', 'rate-limit', 'pets-paging'];

test.each([BEFORE_SUNSET, AFTER_ALL_DATES])(
  'a reply names an assumption if and only if another option of it leads to another status (%i)',
  (now) => {
    const defaults = chooseOptions();
    const byDefault = under(now, defaults);
    const counting = ASSUMPTION_IDS.filter((id) => !EXCEPT.includes(id)).map((id) => {
      const others = ASSUMPTIONS[id].options.map(({ name }) => ({ ...defaults, [id]: name }));
      return { id, others: others.map((choices) => under(now, choices)) };
    });
    for (const request of drawRequests(now, 400)) {
      const reply = answer(request, byDefault);
      if (reply === undefined) continue;
      const { basis, status } = reply;
      const by = basis.kind === 'assumed' ? basis.by.map((it) => it.replace(/=.*$/, '')) : [];
      // The document says what a query changes there: nothing.
      const isPrescribed = /^GET .store.orders\?/.test(`${request.method} ${request.path}`);
      const except = isPrescribed && status === 200 ? 'unknown-query' : undefined;
      const counted = counting.filter(({ id }) => id !== except);
      const decisive = counted.filter(({ others }) =>
        others.some((other) => answer(request, other)?.status !== status),
      );
      const named = counted.map(({ id }) => id).filter((id) => by.includes(id));
      expect(named, `${status} for ${JSON.stringify(request).slice(0, 200)}`).toEqual(
        decisive.map(({ id }) => id),
      );
    }
  },
);

const INVALID = '{}';
const VALID = '{"name":"Rex","categoryId":7}';
const INPUT_FIRST = { 'check-order': 'input-first' } as const;

test.each<[Partial<Choices>, body: string, query: Call['query'], status: number, by: string]>([
  [
    { ...INPUT_FIRST, 'read-only-keys': '403' },
    ...([INVALID, [], 400, 'check-order=input-first invalid-input=400'] as const),
  ],
  [
    { ...INPUT_FIRST, 'rate-limit': '1/m' },
    ...([INVALID, [], 400, 'check-order=input-first invalid-input=400'] as const),
  ],
  [{ 'read-only-keys': '403' }, INVALID, [], 403, 'check-order=auth-first read-only-keys=403'],
  [{ 'rate-limit': '1/m' }, INVALID, [], 429, 'check-order=auth-first rate-limit=1/m'],
  [
    // Another option refuses this input, which is checked first.
    { ...INPUT_FIRST, 'read-only-keys': '403' },
    ...([VALID, [['page', '2']], 403, 'read-only-keys=403 unknown-query=ignore'] as const),
  ],
])('a bad key and odd input: %j, %s, %j is %i by %s', (choices, body, query, status, by) => {
  const state = serviceStateWith(STORE, BEFORE_SUNSET, choices);
  const authorization = 'Bearer demo-read-only-key';
  const known = { authorization, contentType: 'application/json', query };
  const call: Call = { ...callOf('createPet', Buffer.from(body)), ...known };
  // The second call goes past a rate of one.
  const { rates } = SERVICE.createPet(state, call);
  const { reply } = SERVICE.createPet({ ...state, rates }, call);
  expect(reply).toMatchObject({ status, basis: { kind: 'assumed', by: by.split(' ') } });
});

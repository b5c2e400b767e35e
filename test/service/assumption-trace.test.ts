import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ASSUMPTION_IDS,
  ASSUMPTIONS,
  type AssumptionId,
  type Choices,
  chooseOptions,
} from '../../src/contract/assumption-table.ts';
import { SERVICE } from '../../src/sandbox/answer.ts';
import { BODY_LIMITS, type Call } from '../../src/service/input.ts';
import type { Reply } from '../../src/service/reply.ts';
import { createStore } from '../../src/store/store.ts';
import { callOf } from '../helpers/call.ts';
import { serviceStateWith } from '../helpers/service-state.ts';

/** A call before it is known how large a body may be. */
type Request = Omit<Call, 'body' | 'contentEncoding' | 'path' | 'headers'> & {
  readonly text: string;
};

/** Neither turns on what is asked: a key's rate on what came before, the order on other errors. */
const EXCEPT: readonly AssumptionId[] = ['check-order', 'rate-limit'];

const STORE = createStore({
  animals: [
    { id: 1n, name: 'Rex', categoryId: 7n, status: 'available' },
    { id: 2n, name: 'Bo', categoryId: 7n },
  ],
  inventory: [{ petId: 1n, quantity: 4, status: 'available' }],
  orders: [
    { id: 1n, petId: 1n, quantity: 1, shipDate: '2031-03-15T09:00:00Z', status: 'pending' },
    { id: 2n, petId: 1n, quantity: 1, status: 'shipped' },
    { id: 3n, petId: 2n, quantity: 1, status: 'cancelled' },
    { id: 4n },
  ],
});

const BEFORE_SUNSET = Date.parse('2030-12-05T12:00:00Z');
const AFTER_ALL_DATES = Date.parse('2032-01-01T00:00:00Z');

const now = fc.constantFrom(BEFORE_SUNSET, AFTER_ALL_DATES);
const authorization = fc.constantFrom(
  'Bearer demo-key',
  'Bearer demo-read-only-key',
  'Bearer unknown',
  undefined,
);
const contentType = fc.constantFrom('application/json', 'text/plain', undefined);
const unknownParameters = fc.constantFrom<readonly (readonly [string, string])[]>(
  [],
  [],
  [['page', '2']],
);
const pathId = fc.constantFrom('1', '2', '3', '4', '999', 'abc', '9223372036854775808');

const limit = fc.oneof(fc.integer({ min: -2, max: 103 }).map(String), fc.constant('abc'));
const filter = fc.constantFrom('available', 'sold', 'reserved', '');
const listQuery = fc
  .record({ limit, status: filter }, { requiredKeys: [] })
  .map((given) => Object.entries(given));

const name = fc.oneof(
  fc.constantFrom('', 'x', 'x'.repeat(255), 'x'.repeat(256), '🐈'.repeat(255), '🐈'.repeat(256)),
  fc.string(),
);
const newAnimal = fc.record(
  {
    name: fc.oneof(name, fc.constant(5)),
    categoryId: fc.constantFrom<unknown>(7, 7, 7, '7'),
    status: fc.constantFrom('available', 'sold', 'reserved'),
    id: fc.constant(9),
    colour: fc.constant('red'),
  },
  { requiredKeys: ['name', 'categoryId'] },
);
const stockUpdate = fc.record(
  {
    quantity: fc.oneof(fc.integer({ min: -3, max: 3 }), fc.constant(1.5)),
    reason: fc.constant('returned'),
  },
  { requiredKeys: ['quantity'] },
);

/** A JSON body, padded with spaces to the limits of `body-limit`. */
function text(body: fc.Arbitrary<object>): fc.Arbitrary<string> {
  const size = fc.oneof(
    { weight: 20, arbitrary: fc.constant(0) },
    { weight: 8, arbitrary: fc.constantFrom(BODY_LIMITS['10kb'], BODY_LIMITS['10kb'] + 1) },
    { weight: 1, arbitrary: fc.constant(BODY_LIMITS['1mb'] + 1) },
  );
  return fc.tuple(body, size).map(([value, least]) => JSON.stringify(value).padEnd(least, ' '));
}

const listed = fc
  .tuple(listQuery, unknownParameters)
  .map(([known, unknown]) => [...known, ...unknown]);

/** Calls of an operation. What is not given, it does not have. */
function requestOf(
  operation: Request['operation'],
  given: { readonly [Name in keyof Request]?: fc.Arbitrary<Request[Name]> },
): fc.Arbitrary<Request> {
  return fc.record({
    operation: fc.constant(operation),
    pathId: fc.constant(undefined),
    query: unknownParameters,
    authorization,
    contentType: fc.constant(undefined),
    text: fc.constant(''),
    ...given,
  });
}

const request: fc.Arbitrary<Request> = fc.oneof(
  requestOf('listPets', { query: listed }),
  requestOf('createPet', { contentType, text: text(newAnimal) }),
  requestOf('getPet', { pathId }),
  requestOf('cancelOrder', { pathId }),
  requestOf('updateInventory', { pathId, contentType, text: text(stockUpdate) }),
);

/** Answers a request in a fresh state. */
function answer(asked: Request, now: number, choices: Choices): Reply {
  const { text, ...rest } = asked;
  const bytes = Buffer.from(text);
  const limit = BODY_LIMITS[choices['body-limit']];
  const call: Call = {
    ...callOf(asked.operation, bytes.length === 0 ? undefined : bytes),
    ...rest,
    ...(bytes.length > limit && { body: { kind: 'too-large', limit } }),
  };
  return SERVICE[call.operation](serviceStateWith(STORE, now, choices), call).reply;
}

/** The assumptions of which another option alone gives another status. */
function decisive(asked: Request, now: number, status: number): AssumptionId[] {
  return ASSUMPTION_IDS.filter((id) => {
    const others = ASSUMPTIONS[id].options.slice(1);
    return others.some(({ name }) => {
      const { status: otherwise } = answer(asked, now, { ...chooseOptions(), [id]: name });
      return otherwise !== status;
    });
  });
}

function named({ basis }: Reply): string[] {
  return basis.kind === 'assumed' ? basis.by.map((ground) => ground.replace(/=.*$/, '')) : [];
}

describe('the assumptions that decide a reply', () => {
  test('name an assumption if and only if another of its options leads to another status', () => {
    const counted = new Set(ASSUMPTION_IDS.filter((id) => !EXCEPT.includes(id)));
    const among = (ids: readonly string[]) =>
      [...counted].filter((id) => ids.includes(id)).toSorted();

    fc.assert(
      fc.property(request, now, (asked, instant) => {
        const given = answer(asked, instant, chooseOptions());
        const expected = among(decisive(asked, instant, given.status));
        expect(among(named(given)), `of the ${given.status}`).toEqual(expected);
      }),
      { numRuns: 500, seed: 1 },
    );
  });
});

describe('if both the key and the input are bad', () => {
  const REFUSED_INPUT: Request = {
    operation: 'createPet',
    pathId: undefined,
    query: [],
    authorization: 'Bearer demo-read-only-key',
    contentType: 'application/json',
    text: '{}',
  };

  /** Answers it twice, so that the second one goes past a rate of one. */
  function second(given: Partial<Choices>, query: Request['query'] = [], text = '{}'): Reply {
    const serviceState = serviceStateWith(STORE, BEFORE_SUNSET, given);
    const { text: _, ...rest } = REFUSED_INPUT;
    const call: Call = { ...callOf(rest.operation, Buffer.from(text)), ...rest, query };
    const { rates } = SERVICE.createPet(serviceState, call);
    return SERVICE.createPet({ ...serviceState, rates }, call).reply;
  }

  test.each([
    [
      { 'check-order': 'input-first', 'read-only-keys': '403' },
      400,
      ['check-order=input-first', 'invalid-input=400'],
    ],
    [
      { 'check-order': 'input-first', 'rate-limit': '1/m' },
      400,
      ['check-order=input-first', 'invalid-input=400'],
    ],
    [{ 'read-only-keys': '403' }, 403, ['check-order=auth-first', 'read-only-keys=403']],
    [{ 'rate-limit': '1/m' }, 429, ['check-order=auth-first', 'rate-limit=1/m']],
  ] as const)('%j answers %i, by its order too', (choices, status, by) => {
    expect(second(choices)).toMatchObject({ status, basis: { kind: 'assumed', by } });
  });

  test('input that another option refuses decides, if it is checked first', () => {
    const choices = { 'check-order': 'input-first', 'read-only-keys': '403' } as const;
    const reply = second(choices, [['page', '2']], '{"name":"Rex","categoryId":7}');
    const by = ['read-only-keys=403', 'unknown-query=ignore'];
    expect(reply).toMatchObject({ status: 403, basis: { kind: 'assumed', by } });
  });
});

import fc from 'fast-check';
import {
  ASSUMPTION_IDS,
  type Choices,
  chooseOptions,
  optionsOf,
} from '../../src/core/contract/assumption-table.ts';

const character = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));

/** Any text. To draw it, `fc.string({ unit: 'binary' })` first makes an index of Unicode, for seconds. */
export const anyText = fc.string({ unit: character });

/** An order that is pending past its ship date. */
export const OVERDUE = 20n;

const ids = fc.oneof(
  fc.integer({ min: 1, max: 70 }).map(String),
  fc.constantFrom(
    '0',
    '-1',
    'abc',
    '1.5',
    '9007199254740993',
    '9223372036854775808',
    String(OVERDUE),
  ),
);

const names = fc.oneof(
  fc.constantFrom('Rex', '', 'Zoë', 'x'.repeat(255), 'x'.repeat(256)),
  fc.string(),
);

const mostly = <T>(usual: T, ...others: readonly T[]) =>
  fc.oneof(
    { weight: 8, arbitrary: fc.constant(usual) },
    { weight: 2, arbitrary: fc.constantFrom(...others) },
  );

const newAnimals = fc.record(
  {
    name: names,
    categoryId: mostly<unknown>(3, '3', 1.5, null),
    status: mostly<unknown>('available', 'pending', 'sold', 'reserved', 4),
    id: fc.constant(5),
    owner: fc.constant('Ann'),
  },
  { requiredKeys: ['name', 'categoryId'] },
);

const stock = fc.record(
  { quantity: mostly<unknown>(3, 0, -1, '3', 1.5, null), note: fc.constant('x') },
  { requiredKeys: ['quantity'] },
);

const bodies = (of: fc.Arbitrary<object>) =>
  fc.oneof(
    { weight: 12, arbitrary: of.map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: fc.constantFrom('', '[]', '{', 'null', '{"name":1}') },
    { weight: 1, arbitrary: fc.constantFrom(11, 1025).map((kib) => '{}'.padEnd(kib * 1024)) },
  );

const queries = fc
  .array(
    fc.oneof(
      fc.constantFrom('limit=1', 'limit=100', 'limit=0', 'limit=101', 'limit=abc', 'limit=-3'),
      fc.constantFrom('status=sold', 'status=reserved', 'status=', 'offset=2', 'cursor=MQ', 'x=1'),
    ),
    { maxLength: 2 },
  )
  .map((parts) => (parts.length > 0 ? `?${parts.join('&')}` : ''));

const targets = fc.oneof(
  queries.map((query) => ({ method: 'GET', path: `/pets${query}` })),
  ids.map((id) => ({ method: 'GET', path: `/pets/${id}` })),
  queries.map((query) => ({ method: 'GET', path: `/inventory${query}` })),
  queries.map((query) => ({ method: 'GET', path: `/store/orders${query}` })),
  ids.map((id) => ({ method: 'DELETE', path: `/store/orders/${id}` })),
  bodies(newAnimals).map((body) => ({ method: 'POST', path: '/pets', body })),
  fc.tuple(ids, bodies(stock)).map(([id, body]) => ({
    method: 'PATCH',
    path: `/inventory/${id}`,
    body,
  })),
  fc.constantFrom(
    { method: 'OPTIONS', path: '/pets' },
    { method: 'PUT', path: '/pets' },
    { method: 'GET', path: '/store/orders/1' },
    { method: 'GET', path: '/nothing' },
  ),
);

const keys = mostly<string | null>('demo-key', null, 'wrong-key', 'demo-read-only-key');

const headers = mostly<Record<string, string>>(
  {},
  { Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST' },
  { 'Content-Type': 'text/plain' },
  { 'Content-Type': 'application/json; charset=utf-8' },
);

export interface DrawnRequest {
  readonly method: string;
  readonly path: string;
  /** None if null; by default one that works. */
  readonly key?: string | null | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly body?: string | undefined;
}

/** Requests of all operations, with good and bad input. The same for the same seed. */
export function drawRequests(seed: number, count: number): DrawnRequest[] {
  const requests = fc.record({ target: targets, key: keys, headers });
  return fc
    .sample(requests, { seed, numRuns: count })
    .map(({ target, key, headers }) => ({ ...target, key, headers }));
}

/** Draws numbers, the same ones for the same seed. */
export function drawing(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** An option drawn for each assumption. */
export function drawChoices(draw: (below: number) => number): Choices {
  const drawn = ASSUMPTION_IDS.map((id) => {
    const options = optionsOf(id);
    return [id, options[draw(options.length)]];
  });
  return chooseOptions(Object.fromEntries(drawn));
}

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OperationId } from '../../src/contract/operations.ts';
import { Rules, ruleBook } from '../../src/scenario/rules.ts';
import type { Rule, Where } from '../../src/scenario/scenario.ts';
import type { Call } from '../../src/service/input.ts';
import { ReceivedBytes } from '../../src/service/received-body.ts';

const ANYTHING: Where = { inputs: new Map(), headers: new Map(), keys: undefined };

function rule(number: number, members: Partial<Rule> = {}): Rule {
  return {
    scenario: 'test',
    number,
    on: ['getPet'],
    where: ANYTHING,
    calls: undefined,
    chance: 1,
    delay: undefined,
    reply: undefined,
    fault: { kind: 'reset' },
    apply: false,
    ...members,
  };
}

function call(operation: OperationId = 'getPet', members: Partial<Call> = {}): Call {
  return {
    operation,
    path: '/v1/pets/1',
    pathId: '1',
    query: [],
    headers: {},
    authorization: 'Bearer demo-key',
    contentType: undefined,
    contentEncoding: undefined,
    body: { kind: 'none' },
    ...members,
  };
}

function body(text: string): Partial<Call> {
  return { body: new ReceivedBytes(Buffer.from(text)) };
}

/** The numbers of the rules that decide some calls; undefined where none does. */
function deciders(
  rules: readonly Rule[],
  calls: readonly Call[],
  seed = 1,
): (number | undefined)[] {
  const counted = new Rules(ruleBook(rules), seed);
  return calls.map((it) => counted.decide(it)?.rule?.number);
}

const times = (count: number, it = call()): Call[] => Array.from({ length: count }, () => it);

describe('rules', () => {
  test('are tried in their order, and the first that matches decides', () => {
    expect(deciders([rule(1), rule(2)], [call()])).toEqual([1]);
  });

  test('are for their operations only', () => {
    expect(deciders([rule(1, { on: ['listPets'] })], [call()])).toEqual([undefined]);
    expect(deciders([rule(1, { on: ['listPets', 'getPet'] })], [call()])).toEqual([1]);
  });

  test('decide the calls that they are for, counted from 1', () => {
    const calls = [
      { from: 2, to: 2 },
      { from: 4, to: Number.POSITIVE_INFINITY },
    ];
    expect(deciders([rule(1, { calls })], times(5))).toEqual([undefined, 1, undefined, 1, 1]);
  });

  test('count a call that another rule decides', () => {
    const first = rule(1, { calls: [{ from: 1, to: 1 }] });
    const second = rule(2, { calls: [{ from: 2, to: 2 }] });
    expect(deciders([first, second], times(3))).toEqual([1, 2, undefined]);
  });

  test('count no call that their `where` does not match', () => {
    const where = { ...ANYTHING, inputs: new Map([['petId', [2]]]) };
    const second = rule(1, { where, calls: [{ from: 1, to: 1 }] });
    const other = call('getPet', { pathId: '2' });
    expect(deciders([second], [call(), call(), other, other])).toEqual([
      undefined,
      undefined,
      1,
      undefined,
    ]);
  });

  test.each<[string, Partial<Where>, Call, boolean]>([
    ['an id in the path', { inputs: new Map([['petId', [1]]]) }, call(), true],
    ['another id in the path', { inputs: new Map([['petId', [11]]]) }, call(), false],
    [
      'an id that no double holds',
      { inputs: new Map([['petId', [9007199254740993n]]]) },
      call('getPet', { pathId: '9007199254740993' }),
      true,
    ],
    ['one of several values', { inputs: new Map([['petId', [3, 1]]]) }, call(), true],
    [
      'a query parameter',
      { inputs: new Map([['limit', [20]]]) },
      call('getPet', { query: [['limit', '20']] }),
      true,
    ],
    ['a parameter that is not there', { inputs: new Map([['limit', [20]]]) }, call(), false],
    ['null where nothing is there', { inputs: new Map([['limit', [null]]]) }, call(), true],
    [
      'a field of the body',
      { inputs: new Map([['name', ['Rex']]]) },
      call('getPet', body('{"name":"Rex"}')),
      true,
    ],
    [
      'a field of the body of another type',
      { inputs: new Map([['quantity', [3]]]) },
      call('getPet', body('{"quantity":"3"}')),
      false,
    ],
    [
      'an exact field of the body',
      { inputs: new Map([['categoryId', [9007199254740993n]]]) },
      call('getPet', body('{"categoryId":9007199254740992}')),
      false,
    ],
    [
      'a body that is no JSON',
      { inputs: new Map([['name', ['Rex']]]) },
      call('getPet', body('{"name":')),
      false,
    ],
    [
      'a name that every object has',
      { inputs: new Map([['constructor', [null]]]) },
      call('getPet', body('{}')),
      true,
    ],
    [
      'a header',
      { headers: new Map([['user-agent', ['curl']]]) },
      call('getPet', { headers: { 'user-agent': 'curl' } }),
      true,
    ],
    ['a header that is not there', { headers: new Map([['user-agent', ['curl']]]) }, call(), false],
    ['a key', { keys: ['demo-key'] }, call(), true],
    ['another key', { keys: ['other'] }, call(), false],
    ['every part at once', { inputs: new Map([['petId', [1]]]), keys: ['other'] }, call(), false],
  ])('match %s', (_what, where, it, expected) => {
    const rules = [rule(1, { where: { ...ANYTHING, ...where } })];
    expect(deciders(rules, [it])).toEqual([expected ? 1 : undefined]);
  });

  test('draw their chance and their delay from the seed and the count alone', () => {
    const chancy = rule(1, { chance: 0.3, delay: { kind: 'log-normal', median: 100, sigma: 0.5 } });
    const decide = (seed: number) => {
      const rules = new Rules(ruleBook([chancy]), seed);
      return times(50).map((it) => rules.decide(it)?.delay);
    };
    expect(decide(1)).toEqual(decide(1));
    expect(decide(1)).not.toEqual(decide(2));
  });

  test('fire about as often as their chance says', () => {
    const fired = deciders([rule(1, { chance: 0.1 })], times(10_000)).filter((it) => it === 1);
    expect(fired.length).toBeGreaterThan(900);
    expect(fired.length).toBeLessThan(1100);
  });

  test('hold a reply back as long as they say', () => {
    fc.assert(
      fc.property(fc.integer(), fc.nat(1000), fc.nat(1000), (seed, min, more) => {
        const uniform = { kind: 'uniform', min, max: min + more } as const;
        const rules = new Rules(ruleBook([rule(1, { delay: uniform })]), seed);
        for (const it of times(5)) {
          const delay = rules.decide(it)?.delay ?? -1;
          expect(delay).toBeGreaterThanOrEqual(min);
          expect(delay).toBeLessThanOrEqual(min + more);
        }
      }),
    );
  });

  test('share a book and count apart', () => {
    const book = ruleBook([rule(1, { calls: [{ from: 1, to: 1 }] })]);
    const [one, other] = [new Rules(book, 1), new Rules(book, 1)];
    expect(one.decide(call())?.rule?.number).toBe(1);
    expect(one.decide(call())).toBeUndefined();
    expect(other.decide(call())?.rule?.number).toBe(1);
  });
});

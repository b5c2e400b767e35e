import { describe, expect, test } from 'vitest';
import type { OperationId } from '../../../src/core/contract/operations.ts';
import { LIMITS } from '../../../src/core/limits.ts';
import type { Rule } from '../../../src/core/scenario/rule-shape.ts';
import {
  CallCounter,
  createRuleBook,
  matchRules,
  NO_COUNTS,
  type RuleBook,
  type RuleMatch,
} from '../../../src/core/scenario/rules.ts';
import { readScenario } from '../../../src/core/scenario/scenario-shape.ts';
import type { Call } from '../../../src/core/service/input.ts';
import { callOf } from '../../helpers/call.ts';

/** Members of rules; each resets calls of `getPet` unless it says otherwise. */
type Rules = readonly object[];

const call = (operation: OperationId = 'getPet', members: Partial<Call> = {}): Call => ({
  ...callOf(operation),
  pathId: '1',
  authorization: 'Bearer demo-key',
  ...members,
});

const withHeaders = (...headers: string[]) => call('getPet', { headers });
const createPet = (text: string) => callOf('createPet', Buffer.from(text));
const updateInventory = (text: string) => callOf('updateInventory', Buffer.from(text));

function read(rules: Rules, scenario = 'test'): readonly Rule[] {
  const whole = rules.map((it) => ({ on: 'getPet', fault: 'reset', ...it }));
  const reading = readScenario({ rules: whole }, scenario);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  return reading.value.rules;
}

/** What rules decide about some calls, one after the other. */
function decisions(rules: Rules, calls: readonly Call[], seed = 1): (RuleMatch | undefined)[] {
  return decisionsBy(createRuleBook(read(rules)), calls, seed);
}

function decisionsBy(book: RuleBook, calls: readonly Call[], seed = 1): (RuleMatch | undefined)[] {
  let counts = NO_COUNTS;
  return calls.map((it) => {
    const counter = new CallCounter(counts);
    const match = matchRules(book, counter, it, seed);
    ({ counts } = counter);
    return match;
  });
}

/** The numbers of the rules that decide some calls; undefined if none does. */
function deciders(rules: Rules, calls: readonly Call[]): (number | undefined)[] {
  return decisions(rules, calls).map((it) => it && Number(it.by.split('#')[1]));
}

const times = (count: number): Call[] => Array.from({ length: count }, () => call());

describe('rules', () => {
  test('decide the calls in `calls`, counted from 1', () => {
    expect(deciders([{ calls: '2,4-' }], times(5))).toEqual([undefined, 1, undefined, 1, 1]);
    expect(deciders([{ calls: '1, every 2' }], times(5))).toEqual([1, 1, undefined, 1, undefined]);
  });

  test('count calls that another rule decides', () => {
    expect(deciders([{ calls: 1 }, { calls: 2 }], times(3))).toEqual([1, 2, undefined]);
  });

  test('are counted in one copy, which forgets the longest unused of 2,500', () => {
    const max = LIMITS.counters;
    let counter = new CallCounter(NO_COUNTS);
    for (let name = 0; name < max; name += 1) counter.add(`${name}`);
    const before = counter.counts;
    counter = new CallCounter(before);
    expect([counter.add('0'), counter.add('new'), counter.add('new')]).toEqual([2, 1, 2]);
    expect([counter.counts.size, counter.counts.has('0'), counter.counts.has('1')]).toEqual([
      max,
      true,
      false,
    ]);
    expect([before.size, before.get('0'), before.has('new')]).toEqual([max, 1, false]);
  });

  test('count only calls that match `where`', () => {
    const rules = [{ where: { petId: 2 }, calls: 1 }];
    const other = call('getPet', { pathId: '2' });
    const expected = [undefined, undefined, 1, undefined];
    expect(deciders(rules, [call(), call(), other, other])).toEqual(expected);
  });

  // biome-ignore format: a row for each
  test.each<[string, object, Call, boolean]>([
    ['an id in the path', { petId: 1 }, call(), true],
    ['another id in the path', { petId: 11 }, call(), false],
    ['an id that a double would round', { petId: 9007199254740993n }, call('getPet', { pathId: '9007199254740993' }), true],
    ['a query parameter', { limit: 20 }, call('listPets', { query: [['limit', '20']] }), true],
    ['null for an absent parameter', { limit: null }, call('listPets'), true],
    ['a body field', { name: 'Rex' }, createPet('{"name":"Rex"}'), true],
    ['a body field of another type', { quantity: 3 }, updateInventory('{"quantity":"3"}'), false],
    ['a body field whose exact value differs', { categoryId: 9007199254740993n }, createPet('{"categoryId":9007199254740992}'), false],
    ['a body that is not JSON', { name: 'Rex' }, createPet('{"name":'), false],
    ['a header', { headers: { 'User-Agent': 'curl' } }, withHeaders('user-agent', 'curl'), true],
    ['any of several headers of one name', { headers: { 'X-A': ['c', 'b'] } }, withHeaders('X-A', 'a', 'x-a', 'b'), true],
    ['several headers of one name as a list', { headers: { 'X-A': 'a, b' } }, withHeaders('X-A', 'a', 'X-A', 'b'), true],
    ['null for an absent header that every object inherits', { headers: { constructor: null, ['__proto__']: null } }, call(), true],
    ['a header that every object inherits', { headers: { ['__proto__']: '1', constructor: '2' } }, withHeaders('__proto__', '1', 'constructor', '2'), true],
    ['a header in UTF-8', { headers: { 'X-City': 'Zürich 😀' } }, withHeaders('X-City', Buffer.from('Zürich 😀').toString('latin1')), true],
    ['a header in Latin-1', { headers: { 'X-City': 'Zürich' } }, withHeaders('X-City', 'Zürich'), true],
    ['any value of a repeated parameter', { status: 'sold' }, call('listPets', { query: [['status', 'available'], ['status', 'sold']] }), true],
    ['a body field that is written otherwise', { quantity: 3 }, updateInventory('{"quantity":3.0}'), true],
    ['a key', { key: 'demo-key' }, call(), true],
    ['only one of two conditions', { petId: 1, key: 'other' }, call(), false],
  ])('compare %s', (_what, where, it, expected) => {
    expect(deciders([{ on: it.operation, where }], [it])).toEqual([expected ? 1 : undefined]);
  });

  test.each([
    { min: 50, max: 500 },
    { median: 100, sigma: 0.5 },
  ])('draw chance and a delay of %o only from the seed and the call count', (delay) => {
    const chancy = { chance: 0.3, delay };
    const delays = (seed: number) => decisions([chancy], times(50), seed).map((it) => it?.delay);
    expect(delays(1)).toEqual(delays(1));
    expect(delays(1)).not.toEqual(delays(2));
  });

  test.each<[string, readonly Rule[]]>([
    ['rules of one scenario', read([{ chance: 0.5 }, { chance: 0.5 }])],
    [
      'the first rules of two scenarios',
      ['a', 'b'].flatMap((name) => read([{ chance: 0.5 }], name)),
    ],
  ])('draw apart for %s', (_what, rules) => {
    const firsts = decisionsBy(createRuleBook(rules), times(400)).map((it) => it?.by);
    const counts = [...rules, undefined].map((rule) => {
      const by = rule && `${rule.scenario}#${rule.number}`;
      return firsts.filter((it) => it === by).length;
    });
    expect(counts.map((count) => Math.round(count / 100))).toEqual([2, 1, 1]);
  });

  test('draw apart for two latches, and for a scenario and a preference for it', () => {
    const rules = read([{ chance: 0.5 }]);
    const books = [
      createRuleBook(rules),
      createRuleBook(rules, 'prefer', 'test'),
      createRuleBook(rules, 'latch', 'one'),
      createRuleBook(rules, 'latch', 'other'),
    ];
    const drawn = books.map((book) => decisionsBy(book, times(50)).map(Boolean).join());
    expect(new Set(drawn).size).toBe(4);
  });

  test('draw half of the log-normal delays below the median, and none above the limit', () => {
    const delays = (delay: { median: number; sigma: number }) =>
      decisions([{ delay }], times(1000)).map((it) => it?.delay ?? Number.NaN);
    const typical = delays({ median: 100, sigma: 0.4 }).toSorted((a, b) => a - b);
    expect(typical.filter((it) => it < 100).length).toBeGreaterThan(450);
    expect(typical.filter((it) => it > 100).length).toBeGreaterThan(450);
    // 95 % of the delays lie within two sigmas.
    expect(typical[25]).toBeGreaterThan(35);
    expect(typical[975]).toBeLessThan(280);
    expect(Math.max(...delays({ median: 300_000, sigma: 10 }))).toBe(300_000);
    expect(new Set(delays({ median: 7, sigma: 0 }))).toEqual(new Set([7]));
  });
});

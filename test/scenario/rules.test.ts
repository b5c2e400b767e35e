import { describe, expect, test } from 'vitest';
import type { OperationId } from '../../src/contract/operations.ts';
import type { Rule } from '../../src/scenario/rule-shape.ts';
import { type Decision, decide, NO_COUNTS, ruleBook } from '../../src/scenario/rules.ts';
import type { Condition, WhereValue } from '../../src/scenario/where-shape.ts';
import { BodyBytes, type Call } from '../../src/service/input.ts';

const input = (name: string, ...values: WhereValue[]): Condition => ({ of: 'input', name, values });
const header = (name: string, ...values: string[]): Condition => ({ of: 'header', name, values });
const key = (...values: string[]): Condition => ({ of: 'key', name: 'key', values });

function rule(number: number, members: Partial<Rule> = {}): Rule {
  return {
    scenario: 'test',
    number,
    on: ['getPet'],
    where: [],
    calls: undefined,
    chance: 1,
    delay: undefined,
    reply: undefined,
    fault: { kind: 'reset' },
    hold: undefined,
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
  return { body: new BodyBytes(Buffer.from(text)) };
}

/** What rules decide about some calls, one after the other. */
function decisions(
  rules: readonly Rule[],
  calls: readonly Call[],
  seed = 1,
): (Decision | undefined)[] {
  const book = ruleBook(rules);
  let counts = NO_COUNTS;
  return calls.map((it) => {
    const ruling = decide(book, counts, it, { seed });
    ({ counts } = ruling);
    return ruling.decision;
  });
}

/** The numbers of the rules that decide some calls; undefined if none does. */
function deciders(rules: readonly Rule[], calls: readonly Call[]): (number | undefined)[] {
  return decisions(rules, calls).map((it) => it?.rule?.number);
}

const times = (count: number, it = call()): Call[] => Array.from({ length: count }, () => it);

describe('rules', () => {
  test('decide the calls in `calls`, counted from 1', () => {
    const calls = [
      { from: 2, to: 2 },
      { from: 4, to: Number.POSITIVE_INFINITY },
    ];
    expect(deciders([rule(1, { calls })], times(5))).toEqual([undefined, 1, undefined, 1, 1]);
  });

  test('count calls that another rule decides', () => {
    const first = rule(1, { calls: [{ from: 1, to: 1 }] });
    const second = rule(2, { calls: [{ from: 2, to: 2 }] });
    expect(deciders([first, second], times(3))).toEqual([1, 2, undefined]);
  });

  test('count only calls that match `where`', () => {
    const where = [input('petId', 2)];
    const second = rule(1, { where, calls: [{ from: 1, to: 1 }] });
    const other = call('getPet', { pathId: '2' });
    expect(deciders([second], [call(), call(), other, other])).toEqual([
      undefined,
      undefined,
      1,
      undefined,
    ]);
  });

  test.each<[string, readonly Condition[], Call, boolean]>([
    ['an id in the path', [input('petId', 1)], call(), true],
    ['another id in the path', [input('petId', 11)], call(), false],
    [
      'an id that a double would round',
      [input('petId', 9007199254740993n)],
      call('getPet', { pathId: '9007199254740993' }),
      true,
    ],
    ['a query parameter', [input('limit', 20)], call('getPet', { query: [['limit', '20']] }), true],
    ['null for an absent parameter', [input('limit', null)], call(), true],
    ['a body field', [input('name', 'Rex')], call('getPet', body('{"name":"Rex"}')), true],
    [
      'a body field of another type',
      [input('quantity', 3)],
      call('getPet', body('{"quantity":"3"}')),
      false,
    ],
    [
      'a body field whose exact value differs',
      [input('categoryId', 9007199254740993n)],
      call('getPet', body('{"categoryId":9007199254740992}')),
      false,
    ],
    ['a body that is not JSON', [input('name', 'Rex')], call('getPet', body('{"name":')), false],
    [
      'null for a name that every JavaScript object inherits',
      [input('constructor', null)],
      call('getPet', body('{}')),
      true,
    ],
    [
      'a header',
      [header('user-agent', 'curl')],
      call('getPet', { headers: { 'user-agent': 'curl' } }),
      true,
    ],
    ['a key', [key('demo-key')], call(), true],
    ['only one of two conditions', [input('petId', 1), key('other')], call(), false],
  ])('compare %s', (_what, where, it, expected) => {
    expect(deciders([rule(1, { where })], [it])).toEqual([expected ? 1 : undefined]);
  });

  test('draw chance and delay only from the seed and the call count', () => {
    const chancy = rule(1, { chance: 0.3, delay: { kind: 'log-normal', median: 100, sigma: 0.5 } });
    const delays = (seed: number) => decisions([chancy], times(50), seed).map((it) => it?.delay);
    expect(delays(1)).toEqual(delays(1));
    expect(delays(1)).not.toEqual(delays(2));
  });
});

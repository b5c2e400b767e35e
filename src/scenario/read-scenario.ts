import type { Reading } from '../contract/records.ts';
import { having, mapOf, object, optional } from '../shape/objects.ts';
import {
  convert,
  FLAG,
  integer,
  list,
  oneOrMore,
  readAs,
  type ShapeProblem,
  text,
  type ValueOf,
} from '../shape/shapes.ts';
import { MOST_RECORDS } from '../store/fixture/generate-store.ts';
import { listed } from '../words.ts';
import { ASSUME } from './assume-shape.ts';
import { RULE_SHAPE } from './rule-shape.ts';
import type { Scenario } from './scenario.ts';
import { STATE, UNCHANGED } from './state-shape.ts';
import { EXPIRY, INSTANT } from './time-shapes.ts';

const KEY = text('an API key: visible characters without blanks', /^[!-~]+$/, {
  pattern: '^[!-~]+$',
});

const KEYS = object({
  valid: optional(list(KEY), 'The keys that work, in place of `demo-key`.'),
  readOnly: optional(list(KEY), 'The read-only keys, in place of `demo-read-only-key`.'),
  invalid: optional(list(KEY), 'Keys that are refused, whatever else takes them.'),
  expires: optional(
    mapOf(EXPIRY, {
      expected: 'an object of times by key',
      name: /^[!-~]+$/,
      expectedName: KEY.expected,
    }),
    'Until when keys work: a duration after the start, or an instant. They must be taken besides.',
  ),
});

const COUNT = integer(0, MOST_RECORDS);

const BASE_NAMES = ['fixture', 'generate'] as const;

/** The whole of a scenario file. */
export const SCENARIO = convert(
  object(
    {
      $schema: optional(text('the address of a schema'), 'For editors; it changes nothing.'),
      description: optional(
        text('a line of text', /^[^\n]+$/, { pattern: '^[^\\n]+$' }),
        'What a tester sees, in a line.',
      ),
      extends: optional(
        oneOrMore(text('the name of a scenario, or a path')),
        'Scenarios that come first: names of shipped ones, or paths that start from this file.',
      ),
      fixture: optional(
        text('the name of a fixture, or a path'),
        'The store to start from: the name of a shipped fixture, or a path that starts from this file.',
      ),
      generate: optional(
        object({
          animals: optional(COUNT, 'How many animals, each with an inventory entry.'),
          orders: optional(COUNT, 'How many orders.'),
        }),
        'A store of any size to start from, drawn from the seed.',
      ),
      state: optional(STATE, 'Changes to the store that is started from.'),
      keys: optional(KEYS, 'API keys; each list takes the place of the one before.'),
      assume: optional(ASSUME, 'Options of assumptions.'),
      clock: optional(
        object({
          now: optional(INSTANT, 'The instant to start from, as RFC 3339 writes it.'),
          frozen: optional(FLAG, 'Whether the clock stands still.'),
        }),
        'The clock that everything reads.',
      ),
      rules: optional(
        list(RULE_SHAPE),
        'Tried from top to bottom; the first that matches a call decides.',
      ),
    },
    {
      expected: 'an object with the parts of a scenario',
      schema: { not: having(BASE_NAMES) },
    },
  ),
  (parts, at, tell) => {
    if (parts.fixture === undefined || parts.generate === undefined) return parts;
    const expected = `${listed(BASE_NAMES, 'or')}, to start from one store`;
    tell({ at: [...at, 'generate'], ofName: true, expected, found: 'both' });
    return undefined;
  },
);

/** What a scenario file holds, as `SCENARIO` reads it. */
type ScenarioParts = ValueOf<typeof SCENARIO>;

/**
 * Reads a parsed JSON or YAML value as a scenario.
 *
 * @param name what messages and `Mock-Basis` call it
 */
export function readScenario(value: unknown, name: string): Reading<Scenario, ShapeProblem> {
  const reading = readAs(SCENARIO, value);
  return reading.ok ? { ok: true, value: scenarioOf(reading.value, name) } : reading;
}

/** A scenario of a name, with defaults for the parts that are left out. */
export function scenarioOf(parts: ScenarioParts, name: string): Scenario {
  const { description = '', extends: extended = [], fixture, generate, state = UNCHANGED } = parts;
  const { keys = {}, assume = {}, clock = {}, rules = [] } = parts;
  return {
    name,
    description,
    extends: extended,
    fixture,
    generate,
    state,
    keys,
    assume,
    clock,
    rules: rules.map((rule, index) => ({ scenario: name, number: index + 1, ...rule })),
  };
}

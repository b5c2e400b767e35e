import {
  ASSUMPTION_IDS,
  type AssumptionId,
  assumptionShape,
  type Choices,
  isAssumptionId,
  isOption,
} from '../contract/assumption-table.ts';
import { FIELD_TYPES, type Reading } from '../contract/records.ts';
import type { Expiry } from '../service/keyring.ts';
import { type Member, mapOf, object, optional } from '../shape/objects.ts';
import {
  convert,
  FLAG,
  integer,
  list,
  oneOrMore,
  readAs,
  type Shape,
  type ShapeProblem,
  scalar,
  text,
  type ValueOf,
} from '../shape/shapes.ts';
import { MOST_RECORDS } from '../store/fixture/generate-store.ts';
import { listed } from '../words.ts';
import { DURATION, parseDuration } from './duration.ts';
import { RULE_SHAPE } from './rule-shape.ts';
import type { Scenario } from './scenario.ts';
import { STATE } from './state-shape.ts';

const KEY = text('an API key: visible characters without blanks', /^[!-~]+$/, {
  pattern: '^[!-~]+$',
});

/** What a year of four digits can name, from where JavaScript's time begins. */
const INSTANT: Shape<number> = scalar({
  kinds: ['string'],
  expected: 'an RFC 3339 instant from 1970 to 9999 such as "2030-12-06T00:00:00Z"',
  schema: FIELD_TYPES.dateTime.schema,
  read(value) {
    const instant = Date.parse(FIELD_TYPES.dateTime.read(value) ?? '');
    return instant >= 0 ? instant : undefined;
  },
});

const DURATION_TEXT: Shape<number> = scalar({
  kinds: ['string'],
  expected: 'a duration such as "PT10M"',
  schema: { type: 'string', pattern: DURATION.source },
  read: (value) => (typeof value === 'string' ? parseDuration(value) : undefined),
});

const EXPIRY: Shape<Expiry> = {
  schema: { anyOf: [DURATION_TEXT.schema, INSTANT.schema] },
  expected:
    'a duration after the start such as "PT10M", or an instant such as "2030-12-06T00:00:00Z"',
  likeness: (value) => (typeof value === 'string' ? 1 : 0),
  read(value, at, tell) {
    const milliseconds = DURATION_TEXT.read(value, at, ignore);
    if (milliseconds !== undefined) return { kind: 'after', milliseconds };
    const instant = INSTANT.read(value, at, ({ found }) =>
      tell({ at, expected: EXPIRY.expected, found }),
    );
    return instant === undefined ? undefined : { kind: 'at', instant };
  },
};

function ignore(): void {}

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

/** Options that read as another value where they stand without quotes. */
function optionText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || value === null ? String(value) : undefined;
}

function optionShape(id: AssumptionId): Member<string> {
  const { question, options } = assumptionShape(id);
  const names = options.map(({ name }) => name);
  const unquoted = names.filter((name) => /^(?:\d+|null)$/.test(name)).map((it) => JSON.parse(it));
  const rates = { anyOf: [{ enum: names }, { type: 'string', pattern: '^[1-9]\\d{0,8}/[sm]$' }] };
  const meanings = options.map(({ name, meaning }) => `${name}: ${meaning}`).join('; ');
  const shape = scalar({
    kinds: ['string', 'number', 'null'],
    expected: id === 'rate-limit' ? 'none, or a rate such as 10/s or 600/m' : listed(names, 'or'),
    schema: id === 'rate-limit' ? rates : { enum: [...names, ...unquoted] },
    words: names,
    read(value) {
      const option = optionText(value);
      return option !== undefined && isOption(id, option) ? option : undefined;
    },
  });
  return optional(shape, `${question} ${meanings}.`);
}

const ASSUME: Shape<Partial<Choices>> = convert(
  object<Readonly<Record<string, Member<string>>>>(
    Object.fromEntries(ASSUMPTION_IDS.map((id) => [id, optionShape(id)])),
    {
      expected: 'an object of options by assumption',
      expectedName: 'an assumption that "petstore-mock assumptions" lists',
    },
  ),
  (assume) => (isAssumed(assume) ? assume : undefined),
);

function isAssumed(
  assume: Readonly<Record<string, string | undefined>>,
): assume is Partial<Choices> {
  return Object.entries(assume).every(
    ([id, option]) => isAssumptionId(id) && option !== undefined && isOption(id, option),
  );
}

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
      schema: { not: { required: BASE_NAMES } },
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

const UNCHANGED = {
  animals: { set: [], remove: [] },
  inventory: { set: [], remove: [] },
  orders: { set: [], remove: [] },
};

import { INT64, STORED_RECORDS } from '../contract/records.ts';
import type { Json } from '../json.ts';
import { LIMITS, MAX_RECORDS } from '../limits.ts';
import { createFileProblem, type Reading, type TextProblem } from '../problems.ts';
import type { KeyLists } from '../service/keyring.ts';
import { ASSUME, EXPIRY, INSTANT } from '../service/settings-shapes.ts';
import { dictionary, type ObjectMembers, object, optional } from '../shape/objects.ts';
import { changesOf, eachOf } from '../shape/record-shapes.ts';
import {
  choice,
  convert,
  either,
  FLAG,
  type InputOf,
  integer,
  KEY,
  list,
  oneOrMore,
  pathText,
  readAs,
  type Shape,
  type ShapeProblem,
  text,
  type ValueOf,
  VISIBLE,
} from '../shape/shapes.ts';
import type { LocateProblems } from '../shape/source-text.ts';
import type { StoreChanges } from '../store/merge.ts';
import type { Store } from '../store/store.ts';
import { RULE_SHAPE } from './rule-shape.ts';

const KEY_LIST = list(KEY, { expected: 'an array of API keys' });
const LIST_OR_ALL = either(choice(['all']), KEY_LIST);

const KEYS = convert(
  object({
    valid: optional(KEY_LIST, 'The keys that work, instead of `demo-key`.'),
    readOnly: optional(
      LIST_OR_ALL,
      'The read-only keys, instead of `demo-read-only-key`. `all` makes every key that works read-only.',
    ),
    invalid: optional(
      LIST_OR_ALL,
      'Keys to refuse, even those that `valid` lists; `all` for every key.',
    ),
    expires: optional(
      dictionary(EXPIRY, VISIBLE, {
        expected: 'an object of times by key',
        expectedName: KEY.expected,
      }),
      'When keys that work expire, by key: a duration after the start, or an instant. `all` is for every other key.',
    ),
  }),
  // With `readOnly: all`, a list still makes its keys valid; all valid keys are read-only then.
  ({ readOnly, ...keys }): Omit<KeyLists, 'any'> => {
    if (readOnly === undefined) return keys;
    return readOnly === 'all'
      ? { ...keys, allReadOnly: true }
      : { ...keys, readOnly, allReadOnly: false };
  },
);

const REMOVED = either(choice(['all']), list(INT64), 'all, or an array of ids');

const NO_CHANGES = { set: [], each: [], remove: [] } as const;

/** In place of `{ set: […] }`, a scenario can have just the array. */
function collectionChangesShape<M extends ObjectMembers, Id extends keyof M & string>(
  { members }: { readonly members: M },
  id: Id,
) {
  const records = list(changesOf(members, id));
  return either(
    convert(records, (set) => ({ ...NO_CHANGES, set })),
    convert(
      object({
        set: optional(
          records,
          `Records, merged by \`${id}\`: omitted fields stay unchanged, and null removes an optional one. A new record must be complete.`,
        ),
        remove: optional(REMOVED, 'Ids of records to remove, or `all`. Applied first.'),
        each: optional(
          oneOrMore(eachOf(members, id), { max: LIMITS.each }),
          'Changes to every remaining record, or to those that `where` matches. Applied before `set`; null removes an optional field.',
        ),
      }),
      ({ set = [], each = [], remove = [] }) => ({ set, each, remove }),
    ),
    'an array of records, or an object with `set`, `each` or `remove`',
  );
}

const UNCHANGED: StoreChanges = {
  animals: NO_CHANGES,
  inventory: NO_CHANGES,
  orders: NO_CHANGES,
};

export const CHANGES = convert(
  object({
    animals: optional(
      collectionChangesShape(STORED_RECORDS.animals, 'id'),
      'Removing an animal also removes its inventory entry and orders.',
    ),
    inventory: optional(
      collectionChangesShape(STORED_RECORDS.inventory, 'petId'),
      'Inventory entries.',
    ),
    orders: optional(
      collectionChangesShape(STORED_RECORDS.orders, 'id'),
      'Orders, with their internal `status`.',
    ),
  }),
  ({ animals = NO_CHANGES, inventory = NO_CHANGES, orders = NO_CHANGES }): StoreChanges => ({
    animals,
    inventory,
    orders,
  }),
);

export const SCENARIO = convert(
  object(
    {
      $schema: optional(
        text('the address of a schema'),
        'The schema for your editor. The server ignores it.',
      ),
      description: optional(
        text('a line of text', /^[^\n]+$/, { pattern: '^[^\\n]+$' }),
        'What the scenario does, in one line.',
      ),
      extends: optional(
        oneOrMore(text('the name of a scenario, or a path'), { min: 0 }),
        'Scenarios to apply first: names of shipped ones, or paths relative to this file.',
      ),
      fixture: optional(
        text('the name of a fixture, or a path'),
        'The store to start from: the name of a shipped fixture, or a path relative to this file.',
      ),
      generate: optional(
        object({
          animals: optional(
            integer(0, MAX_RECORDS),
            'Number of animals, each with an inventory entry.',
          ),
          orders: optional(integer(0, MAX_RECORDS), 'Number of orders.'),
        }),
        'Starts from a generated store of this size, drawn from the seed.',
      ),
      state: optional(CHANGES, 'Changes to that store.'),
      keys: optional(KEYS, 'The API keys. Each list replaces the one before it.'),
      assume: optional(ASSUME, 'The options to choose for assumptions.'),
      clock: optional(
        object({
          now: optional(INSTANT, 'The instant to start from, in RFC 3339 format.'),
          frozen: optional(FLAG, 'Stops the clock.'),
        }),
        'The clock of the sandbox.',
      ),
      offContract: optional(
        FLAG,
        'Declares replies that the document does not allow: `validate` does not warn, and no gate counts them.',
      ),
      rules: optional(
        list(RULE_SHAPE, { max: LIMITS.rules }),
        'Tried from top to bottom. The first rule that matches a call decides the reply.',
      ),
    },
    { expected: 'an object with the parts of a scenario' },
  ),
  (parts, at, report) => {
    if (parts.fixture === undefined || parts.generate === undefined) return parts;
    const expected = 'fixture or generate, to start from one store';
    return report({ at: [...at, 'generate'], ofName: true, expected, found: 'both' });
  },
);

/** A scenario that a sandbox has saved, with its text as it was written. */
export interface SavedScenario {
  readonly name: string;
  readonly description: string;
  readonly format: 'json' | 'yaml';
  readonly text: string;
}
/** A scenario in the JSON or YAML of its file. */
export type ScenarioDefinition = InputOf<typeof SCENARIO>;

export interface Scenario extends ReturnType<typeof createScenario> {
  /** The path of its file; undefined if it ships or came in a request. */
  readonly file?: string | undefined;
  /** The store of its `fixture` or `generate`, once that is loaded. */
  readonly base?: Store | undefined;
  /** The parsed JSON from which it was read. */
  readonly definition?: unknown;
  /** Finds the places of problems that are discovered later. */
  readonly locate: LocateProblems;
}

export function scenarioShape(name: string): Shape<Scenario, ScenarioDefinition> {
  return {
    ...SCENARIO,
    read(value, at, report) {
      const parts = SCENARIO.read(value, at, report);
      return parts && { ...createScenario(parts, name), definition: value, locate: locateInBody };
    },
  };
}

/** Places problems of a scenario that was sent as an object in a request's body. */
function locateInBody(problems: readonly ShapeProblem[]): readonly TextProblem[] {
  return problems.map(({ at, expected, found }) =>
    createFileProblem(pathText(['scenario', ...at]), expected, found),
  );
}

export function readScenario(value: unknown, name: string): Reading<Scenario, ShapeProblem> {
  return readAs(scenarioShape(name), value);
}

function createScenario(
  {
    description = '',
    extends: extended = [],
    fixture,
    generate,
    state = UNCHANGED,
    keys = {},
    assume = {},
    clock = {},
    offContract = false,
    rules = [],
  }: ValueOf<typeof SCENARIO>,
  name: string,
) {
  const numbered = rules.map((rule, index) => {
    return { scenario: name, number: index + 1, declared: offContract, ...rule };
  });
  const settings = { state, keys, assume, clock, offContract, rules: numbered };
  return { name, description, extends: extended, fixture, generate, ...settings };
}

export function scenarioSchema(): Json {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'A scenario of petstore-mock',
    description: 'Forces states and replies on top of a fixture.',
    ...SCENARIO.schema,
  };
}

import { OPERATION_IDS, type OperationId, operationShape } from '../contract/operations.ts';
import { LIMITS } from '../limits.ts';
import { writeHeaderText } from '../raw-http.ts';
import { LAG_TIME, MAX_DELAY_MS } from '../service/settings-shapes.ts';
import { dictionary, object, optional, required } from '../shape/objects.ts';
import type { Where } from '../shape/record-shapes.ts';
import {
  ANY,
  choice,
  convert,
  either,
  FLAG,
  type InputOf,
  integer,
  list,
  number,
  oneOrMore,
  type Shape,
  scalar,
  TRUE,
  text,
  type ValueOf,
  withTypes,
} from '../shape/shapes.ts';
import { describe, joinWords } from '../words.ts';
import { FAULT_NAMES, type Fault } from './fault-table.ts';
import { CHANGED_HEADERS, REPLY } from './reply-shape.ts';
import { listInputs, VALUES, WHERE } from './where-shape.ts';

const EVERY = '*' as const;

const ON = either(
  convert(choice([...OPERATION_IDS, EVERY]), (on): readonly OperationId[] =>
    on === EVERY ? OPERATION_IDS : [on],
  ),
  list(choice(OPERATION_IDS), { min: 1 }),
  `${joinWords([...OPERATION_IDS, `"${EVERY}"`], 'or')}, or an array of operations`,
);

const NUMBER = '[1-9]\\d{0,8}';

const RANGE = `(?:${NUMBER}(?:-(?:${NUMBER})?)?|every +${NUMBER})`;

const RANGES = new RegExp(`^${RANGE}(?: *, *${RANGE}){0,${LIMITS.calls - 1}}$`);

const EXPECTED_CALLS = `at most ${LIMITS.calls} calls such as 1, "1-2", "3-", "2,4" or "every 3"`;

const CALL_NUMBER = integer(1, 999_999_999, 'the number of a call, from 1');

const CALLS = either(
  convert(text(EXPECTED_CALLS, RANGES, { pattern: RANGES.source }), (ranges, at, report) => {
    const calls = ranges.split(',').map(readRange);
    const backward = calls.find(({ from, to }) => to < from);
    if (backward === undefined) return calls;
    return report({ at, expected: 'the lower number first', found: describe(ranges) });
  }),
  convert(oneOrMore(CALL_NUMBER, { max: LIMITS.calls }), (calls) =>
    calls.map((call): Calls => ({ from: call, to: call, step: 1 })),
  ),
  EXPECTED_CALLS,
);

/** Every `step`th call of a range, counted from 1. `to` is inclusive, and Infinity if left open. */
export type Calls = Readonly<Record<'from' | 'to' | 'step', number>>;

function readRange(range: string): Calls {
  const [word, every] = range.trim().split(/ +/);
  const [from, to = from] = every ? [every, ''] : (word ?? '').split('-');
  const step = Number(every ?? 1);
  return { from: Number(from), to: to === '' ? Number.POSITIVE_INFINITY : Number(to), step };
}

const CHANCE = scalar(
  'a number above 0, up to 1',
  { type: 'number', exclusiveMinimum: 0, maximum: 1 },
  (value) => (typeof value === 'number' && value > 0 && value <= 1 ? value : undefined),
);

const MILLISECONDS = number(0, MAX_DELAY_MS, `milliseconds from 0 to ${MAX_DELAY_MS}`);

const DELAY = either(
  convert(MILLISECONDS, (milliseconds) => ({ min: milliseconds, max: milliseconds })),
  either(
    convert(
      object({
        min: required(MILLISECONDS, 'The shortest delay, in milliseconds.'),
        max: required(MILLISECONDS, 'The longest delay, in milliseconds.'),
      }),
      ({ min, max }, at, report) => {
        if (min <= max) return { min, max };
        const expected = `at least \`min\`, which is ${min}`;
        return report({ at: [...at, 'max'], expected, found: String(max) });
      },
    ),
    object({
      median: required(MILLISECONDS, 'The median delay, in milliseconds.'),
      sigma: required(
        number(0, 10, 'a number from 0 to 10'),
        'The spread of a log-normal delay: 0 is none, 0.4 is typical of a service, 1 is wide.',
      ),
    }),
    'an object with `min` and `max`, or with `median` and `sigma`',
  ),
  `milliseconds from 0 to ${MAX_DELAY_MS}, or an object with \`min\` and \`max\`, or with \`median\` and \`sigma\``,
);

export type Delay = ValueOf<typeof DELAY>;

const SLOW = { kind: 'slow-body', chunks: 10, over: 2000 } as const;

const FAULT = either(
  convert(choice(FAULT_NAMES), (name): Fault => (name === SLOW.kind ? SLOW : { kind: name })),
  convert(
    object({
      kind: required(choice(['slow-body']), 'The only fault with settings.'),
      chunks: optional(
        integer(1, 10_000),
        `Number of pieces to send the body in; ${SLOW.chunks} by default.`,
      ),
      over: optional(MILLISECONDS, `Milliseconds to spread them over; ${SLOW.over} by default.`),
    }),
    ({ kind, chunks = SLOW.chunks, over = SLOW.over }): Fault => ({ kind, chunks, over }),
  ),
  `${joinWords(FAULT_NAMES, 'or')}, or an object with \`kind: slow-body\``,
);

const LAG = either(
  convert(LAG_TIME, (milliseconds) => ({ milliseconds })),
  object({
    calls: required(
      integer(1, LIMITS.lag, `at most ${LIMITS.lag} calls, from 1`),
      'How many calls ago.',
    ),
  }),
  'a duration such as PT2S, or an object with `calls`',
);

export type Lag = ValueOf<typeof LAG>;

const NAME = /^[\w.-]{1,64}$/;

const EXPECTED_NAME = '1 to 64 of A-Z a-z 0-9 . _ -';

export const HOLD_NAME = text(EXPECTED_NAME, NAME, { pattern: NAME.source });

const HOLD = either(
  convert(TRUE, () => 'default'),
  HOLD_NAME,
  `true, or a name of ${EXPECTED_NAME}`,
);

const WANTED_MEMBERS = convert(
  dictionary(VALUES, /^/, { expected: 'an object of members', expectedName: 'a name' }),
  (members): Where =>
    new Map(Array.from(members, ([name, of]) => [name, new Set(of.map(({ value }) => value))])),
);

const PATCH_ITEM = object({
  where: required(
    WANTED_MEMBERS,
    'Members that a record has; a list matches any of its values, null an absent one.',
  ),
  body: required(ANY, 'A merge patch for these records.'),
});

/** The changes that a rule makes in the reply of the service. */
const PATCH = object(
  {
    status: optional(integer(200, 599, 'a status from 200 to 599'), 'Another status.'),
    headers: optional(
      convert(CHANGED_HEADERS, (headers) =>
        Array.from(headers, ([name, values]) => ({ name, values: values.map(writeHeaderText) })),
      ),
      'Headers by name, in place of those of the reply; null removes one.',
    ),
    body: optional(ANY, 'A merge patch (RFC 7396) for the whole body: null removes a member.'),
    each: optional(ANY, 'A merge patch for each record: of a list, or the only one.'),
    items: optional(
      list(PATCH_ITEM, { min: 1, max: LIMITS.patchItems }),
      'Merge patches for some records, after `each`.',
    ),
  },
  { expected: 'an object with `status`, `headers`, `body`, `each` or `items`', some: true },
);

export type Patch = ValueOf<typeof PATCH>;

const RULE = object({
  on: required(ON, 'The operations that the rule applies to; "*" for all.'),
  where: optional(
    WHERE,
    'Conditions on the call. All must match; a list matches any of its values.',
  ),
  calls: optional(
    CALLS,
    'Which of the calls that match `on` and `where`, counted from 1 in each sandbox: 1, "1-2", "3-", "2,4", every 3.',
  ),
  chance: optional(
    CHANCE,
    'The share of these calls that the rule applies to, drawn from the seed.',
  ),
  delay: optional(
    DELAY,
    'Delays the reply: by milliseconds, evenly between `min` and `max`, or log-normal around a `median`.',
  ),
  reply: optional(REPLY, 'The reply to send instead of the one from the service.'),
  patch: optional(PATCH, 'Changes the reply that the service gives.'),
  lag: optional(LAG, 'Lets reads see the store as it was so many calls, or so long, ago.'),
  fault: optional(FAULT, 'What goes wrong on the wire, instead of the reply or with it.'),
  hold: optional(
    HOLD,
    'Holds the reply back until `POST holds/release` sends it: true, or a name for the hold.',
  ),
  apply: optional(FLAG, 'Runs the operation anyway and discards its reply.'),
});

type ReplyOrPatch = InputOf<typeof RULE> &
  ({ readonly reply?: undefined } | { readonly patch?: undefined });

const WHOLE_RULE = convert(
  RULE,
  ({ where = [], chance = 1, apply = false, ...rule }, at, report) => {
    const { on, delay, reply, patch, lag, fault, hold } = rule;
    let right = true;
    const refuse = (expected: string, found: string, ...member: string[]): void => {
      report({ at: [...at, ...member], ofName: member.length > 0, expected, found });
      right = false;
    };
    const inputs = joinWords([...new Set(on.flatMap(listInputs))], 'or');
    for (const { of, name } of where) {
      if (of !== 'input' || on.some((id) => listInputs(id).includes(name))) continue;
      // No operation in `on` has this input, so the rule could never match.
      const expected = `an input of ${joinWords(on, 'or')}, which has ${inputs || 'none'}`;
      refuse(expected, `"${name}"`, 'where', name);
    }
    if (apply && !reply && !fault) {
      const expected = 'a `reply` or a `fault` for the client';
      refuse(expected, 'neither', 'apply');
    } else if (!reply && !patch && !lag && !fault && !delay && !hold) {
      refuse('`reply`, `patch`, `lag`, `fault`, `delay` or `hold`', 'a rule that does nothing');
    }
    if (reply && lag) refuse('`reply` or `lag`', 'both', 'lag');
    if (lag && on.every((id) => operationShape(id).method !== 'GET')) {
      refuse('an operation that reads in `on`', joinWords(on, 'and'), 'lag');
    }
    if (reply && patch) refuse('`reply` or `patch`', 'both', 'patch');
    if (delay && hold) refuse('`delay` or `hold`', 'both', 'delay');
    return right ? { ...rule, where, chance, apply } : undefined;
  },
);

export const RULE_SHAPE: Shape<ValueOf<typeof WHOLE_RULE>, ReplyOrPatch> = withTypes(WHOLE_RULE);

/** A rule in the JSON or YAML of a scenario. */
export type RuleDefinition = InputOf<typeof RULE_SHAPE>;

export interface Rule extends ValueOf<typeof RULE_SHAPE> {
  readonly scenario: string;
  /** Its position in the scenario, from 1. */
  readonly number: number;
  /** What messages show in place of scenario and number, for a rule that is in no scenario. */
  readonly title?: string;
  /** The `offContract` of its scenario. */
  readonly declared?: boolean | undefined;
}

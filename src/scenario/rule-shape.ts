import { OPERATION_IDS, type OperationId } from '../contract/operations.ts';
import { having, object, optional, required } from '../shape/objects.ts';
import {
  choice,
  convert,
  either,
  FLAG,
  integer,
  list,
  number,
  oneOrMore,
  type Shape,
  scalar,
  text,
} from '../shape/shapes.ts';
import { listed } from '../words.ts';
import { FAULT_NAMES, FAULTS, type Fault } from './fault-table.ts';
import { BODILESS, REPLY } from './reply-shape.ts';
import {
  type CallRange,
  type Delay,
  LONGEST_DELAY,
  type Rule,
  type RuleReply,
  type Where,
} from './scenario.ts';
import { tellForeignInputs, WHERE } from './where-shape.ts';

const EVERY = '*' as const;

const ON: Shape<readonly OperationId[]> = convert(
  either(
    choice([...OPERATION_IDS, EVERY]),
    list(choice(OPERATION_IDS), { min: 1 }),
    `${listed([...OPERATION_IDS, `"${EVERY}"`], 'or')}, or an array of operations`,
  ),
  (on): readonly OperationId[] => {
    if (typeof on !== 'string') return on;
    return on === EVERY ? OPERATION_IDS : [on];
  },
);

const RANGES = /^[1-9]\d{0,8}(?:-(?:[1-9]\d{0,8})?)?(?: *, *[1-9]\d{0,8}(?:-(?:[1-9]\d{0,8})?)?)*$/;

const CALL_NUMBER = integer(1, 999_999_999, 'the number of a call, from 1');

const CALLS: Shape<readonly CallRange[]> = either(
  convert(
    text('calls such as 1, "1-2", "3-" or "2,4"', RANGES, { pattern: RANGES.source }),
    (ranges, at, tell) => {
      const calls = ranges.split(',').map(readRange);
      const backward = calls.find(({ from, to }) => to < from);
      if (backward === undefined) return calls;
      tell({ at, expected: 'the lower number first', found: `"${ranges}"` });
      return undefined;
    },
  ),
  convert(oneOrMore(CALL_NUMBER), (calls) => calls.map((call) => ({ from: call, to: call }))),
  'calls such as 1, "1-2", "3-" or "2,4"',
);

function readRange(range: string): CallRange {
  const [from, to = from] = range.trim().split('-');
  return { from: Number(from), to: to === '' ? Number.POSITIVE_INFINITY : Number(to) };
}

const CHANCE: Shape<number> = scalar({
  kinds: ['number'],
  expected: 'a number above 0, up to 1',
  schema: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
  read: (value) => (typeof value === 'number' && value > 0 && value <= 1 ? value : undefined),
});

const MILLISECONDS = number(0, LONGEST_DELAY, `milliseconds from 0 to ${LONGEST_DELAY}`);

const DELAY: Shape<Delay> = either(
  convert(MILLISECONDS, (milliseconds) => ({ kind: 'fixed', milliseconds })),
  either(
    convert(
      object({
        min: required(MILLISECONDS, 'The shortest delay, in milliseconds.'),
        max: required(MILLISECONDS, 'The longest delay, in milliseconds.'),
      }),
      ({ min, max }, at, tell) => {
        if (min <= max) return { kind: 'uniform', min, max };
        const expected = `at least \`min\`, which is ${min}`;
        tell({ at: [...at, 'max'], expected, found: String(max) });
        return undefined;
      },
    ),
    convert(
      object({
        median: required(MILLISECONDS, 'The median delay, in milliseconds.'),
        sigma: required(
          number(0, 10, 'a number from 0 to 10'),
          'The spread of the delays: 0 is none, 0.4 is typical of a service, 1 is wide.',
        ),
      }),
      (spread) => ({ kind: 'log-normal', ...spread }),
    ),
  ),
  `milliseconds from 0 to ${LONGEST_DELAY}, or an object with \`min\` and \`max\`, or with \`median\` and \`sigma\``,
);

const SLOW = FAULTS['slow-body'].byName;

const FAULT: Shape<Fault> = either(
  convert(choice(FAULT_NAMES), (name) => FAULTS[name].byName),
  convert(
    object({
      kind: required(choice(['slow-body']), 'The only fault with settings.'),
      chunks: optional(
        integer(1, 10_000),
        `Number of pieces to send the body in; ${SLOW.chunks} by default.`,
      ),
      over: optional(MILLISECONDS, `Milliseconds to spread them over; ${SLOW.over} by default.`),
    }),
    ({ kind, chunks = SLOW.chunks, over = SLOW.over }) => ({ kind, chunks, over }),
  ),
  `${listed(FAULT_NAMES, 'or')}, or an object with \`kind: slow-body\``,
);

/** Faults that would not change a reply without a body. */
const NEED_BODY: readonly string[] = FAULT_NAMES.filter((name) => FAULTS[name].needsBody);

const NO_BODY_TO_BREAK = {
  properties: {
    reply: {
      type: 'object',
      anyOf: [{ properties: { status: { enum: BODILESS } } }, having(['empty'])],
    },
    fault: { anyOf: [{ enum: NEED_BODY }, { type: 'object' }] },
  },
  required: ['reply', 'fault'],
};

/** Why a reply has no body; undefined if it can have one. */
function bodilessBy({ status, body }: RuleReply): string | undefined {
  if (BODILESS.includes(status)) return `the status ${status}`;
  return body?.kind === 'none' ? '`empty`' : undefined;
}

const DOES = ['reply', 'fault', 'delay'] as const;

const RULE = object(
  {
    on: required(ON, 'The operations that the rule applies to; "*" for all.'),
    where: optional(
      WHERE,
      'Conditions on the call. All must match; a list matches any of its values.',
    ),
    calls: optional(
      CALLS,
      'Which of the calls that match `on` and `where`, counted from 1 in each sandbox: 1, "1-2", "3-", "2,4".',
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
    fault: optional(FAULT, 'What goes wrong on the wire, instead of the reply or with it.'),
    apply: optional(FLAG, 'Runs the operation anyway and discards its reply.'),
  },
  {
    schema: {
      anyOf: [
        having(['reply']),
        having(['fault']),
        // `apply` needs something to send instead of the reply that it discards.
        having(['delay'], { apply: { const: false } }),
      ],
      not: NO_BODY_TO_BREAK,
    },
  },
);

/** One rule, without its scenario's name and its number. */
export const RULE_SHAPE: Shape<Omit<Rule, 'scenario' | 'number'>> = convert(
  RULE,
  ({ on, where, calls, chance = 1, delay, reply, fault, apply = false }, at, tell) => {
    const { inputs, headers, keys } = where ?? NOWHERE;
    let right = tellForeignInputs([...inputs.keys()], on, [...at, 'where'], tell);
    if (reply === undefined && fault === undefined) {
      if (apply) {
        const expected = 'a `reply` or a `fault` beside it, instead of the discarded reply';
        tell({ at: [...at, 'apply'], expected, found: 'neither' });
      } else if (delay === undefined) {
        tell({
          at,
          expected: listed(
            DOES.map((name) => `\`${name}\``),
            'or',
          ),
          found: 'a rule that does nothing',
        });
      }
      right &&= !apply && delay !== undefined;
    }
    const bodiless = reply && bodilessBy(reply);
    if (fault !== undefined && NEED_BODY.includes(fault.kind) && bodiless !== undefined) {
      const expected = `a reply with a body beside \`${fault.kind}\``;
      tell({ at: [...at, 'fault'], ofName: true, expected, found: bodiless });
      right = false;
    }
    if (!right) return undefined;
    return { on, where: { inputs, headers, keys }, calls, chance, delay, reply, fault, apply };
  },
);

const NOWHERE: Where = { inputs: new Map(), headers: new Map(), keys: undefined };

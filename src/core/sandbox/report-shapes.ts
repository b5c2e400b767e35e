import { DATE_TIME } from '../contract/date-time.ts';
import { OPERATION_IDS } from '../contract/operations.ts';
import { BASIS_KINDS } from '../service/reply.ts';
import { object, optional, required } from '../shape/objects.ts';
import {
  ANY_TEXT,
  choice,
  FLAG,
  integer,
  list,
  number,
  type Shape,
  type ValueOf,
} from '../shape/shapes.ts';
import { rowNames } from '../tables.ts';

/** The codes of findings, with the advice that reports print. */
export const FINDING_CODES = {
  deprecated: 'Migrate before the sunset of the operation.',
  experimental: 'The operation can change without notice; be ready to adapt, or avoid it.',
  'rounded-id': 'A double cannot hold this id exactly; read and write ids as 64-bit integers.',
  'placeholder-key': 'The key is missing or not filled in; check where it is set.',
  'unknown-input': 'The document does not define it, so the service may reject it; remove it.',
  'pointless-retry': 'A retry cannot change this reply; retry only temporary failures.',
  'early-retry': 'The service asked for a longer pause; wait for as long as Retry-After says.',
  'blind-retry':
    'It may have been carried out, though no reply came; read the animals or the orders first.',
  'unknown-preference': 'The Prefer header was ignored; correct or remove it.',
  drift: 'The deployment and the mock disagree; choose the options that `check` finds there.',
  'unreleased-hold': 'No test released the reply; release it, or raise --max-hold.',
  'unexpected-body': 'The operation takes no body, and the service may reject one; send none.',
  unmatched: 'The real service has no such operation; check the base URL, the path and the method.',
} as const satisfies Record<string, string>;

/** The code of a finding, such as `pointless-retry`. */
export type FindingCode = keyof typeof FINDING_CODES;

export const FINDING_CODE_NAMES = rowNames(FINDING_CODES);

export interface FindingText {
  readonly code: FindingCode;
  readonly message: string;
}

export const COUNT = integer(0, Number.MAX_SAFE_INTEGER);

export const CLOCK_MOVED = optional(FLAG, 'Whether that clock was moved.');

export const OPERATION = choice(OPERATION_IDS);
export const BASIS_KIND = choice(BASIS_KINDS);
export const TEXTS = list(ANY_TEXT);

/** An object with a member for each collection. */
export function ofCollections<T, In>(shape: Shape<T, In>, before: string, after: string) {
  return {
    animals: required(shape, `${before} animals ${after}.`),
    inventory: required(shape, `${before} inventory entries ${after}.`),
    orders: required(shape, `${before} orders ${after}.`),
  };
}

const SHARE = object({
  shown: required(COUNT, 'How many were shown.'),
  total: required(COUNT, 'How many there are.'),
  percent: required(integer(0, 100), 'Rounded down.'),
});

const SHOWN_MEMBERS = {
  count: required(COUNT, 'How often it was shown.'),
  first: optional(
    object({
      sandbox: required(ANY_TEXT, 'The sandbox that showed it.'),
      exchange: required(COUNT, 'The number of the exchange.'),
    }),
    'The exchange that showed it first.',
  ),
  by: optional(TEXTS, 'The assumptions that led to it, as `id=option`, or the rules.'),
  upstream: optional(COUNT, 'How often a deployment gave it; left out if never.'),
};

const SHOWN = object(SHOWN_MEMBERS);
/** How often a client was shown something, and the exchange that showed it first. */
export type ShownCount = ValueOf<typeof SHOWN>;

const PLACE_MEMBERS = {
  operation: required(OPERATION, 'The operation.'),
  status: required(COUNT, 'The status of the reply.'),
};

export const REPLY_MEMBERS = {
  ...PLACE_MEMBERS,
  ...SHOWN_MEMBERS,
  description: required(ANY_TEXT, 'What the document says of the reply.'),
  grounds: required(TEXTS, 'The options that lead to it, as `id=option`.'),
};
const REPLY_COVERAGE = object(REPLY_MEMBERS);
export type ReplyCoverage = ValueOf<typeof REPLY_COVERAGE>;

export function coverageShape<Reply, In>(reply: Shape<Reply, In>) {
  return object({
    totals: required(
      object({
        documented: required(SHARE, 'Of the documented replies.'),
        assumed: required(SHARE, 'Of the replies that an assumption adds.'),
      }),
      'How much was shown.',
    ),
    documented: required(list(reply), 'The documented replies.'),
    assumed: required(list(reply), 'The replies that an assumption adds.'),
    offContract: required(
      SHOWN,
      'Replies that rules have made off-contract, but for those of scenarios that declare it.',
    ),
  });
}

/** The replies of the service that clients were shown. */
export type CoverageReport = ValueOf<
  ReturnType<typeof coverageShape<ReplyCoverage, ReplyCoverage>>
>;

export const NOTED_MEMBERS = {
  code: required(choice(FINDING_CODE_NAMES), 'What kind of finding it is.'),
  message: required(ANY_TEXT, 'What the client did.'),
  advice: required(ANY_TEXT, 'What to do about it.'),
};

const FINDING_MEMBERS = {
  ...NOTED_MEMBERS,
  sandbox: required(ANY_TEXT, 'The sandbox that the client called.'),
  exchange: required(COUNT, 'The number of the exchange.'),
  operation: optional(OPERATION, 'The operation that the client called.'),
  method: required(ANY_TEXT, 'The method of the request.'),
  target: required(ANY_TEXT, 'The path and the query of the request.'),
  at: required(DATE_TIME, "When, by the sandbox's clock."),
};

export const FINDING = object(FINDING_MEMBERS);
/** Something a client did that it should not do against the real service. */
export type Finding = ValueOf<typeof FINDING>;

/** Called for each new finding. One that every call of an operation has is reported once. */
export type OnFinding = (finding: Finding) => void;

/** The state of the servers that share sandboxes. */
export const SHARED_STATUS = object({
  fleet: required(ANY_TEXT, 'What the keys of the fleet in Redis begin with.'),
  servers: required(COUNT, 'How many servers were heard of in the last half minute.'),
  sandboxes: required(COUNT, 'How many sandboxes have been used.'),
  calls: required(COUNT, 'How many calls this server has answered and changes it has made.'),
  conflicts: required(COUNT, 'How many of them it made again: another server was faster.'),
  roundTrip: required(
    number(0, Number.MAX_VALUE, 'milliseconds'),
    'The latest round trip to Redis, in milliseconds.',
  ),
});
export type SharedStatus = ValueOf<typeof SHARED_STATUS>;

/** What was found out about an assumption elsewhere. */
export const ASSUMPTION_NOTE = object({
  deployment: required(ANY_TEXT, 'The base URL of the deployment.'),
  at: required(DATE_TIME, 'When it was checked.'),
  verdict: required(ANY_TEXT, 'What was found out.'),
  option: optional(ANY_TEXT, 'The option of the deployment, if it is settled.'),
  why: optional(ANY_TEXT, 'The exchanges that show it, or what was seen or missing instead.'),
});
export type AssumptionNote = ValueOf<typeof ASSUMPTION_NOTE>;

export const EXPECTED_REPLY = object({
  status: required(COUNT, 'The status.'),
  by: required(TEXTS, 'The assumptions that decided it.'),
  why: optional(ANY_TEXT, 'The reason in words.'),
});
export type ExpectedReply = ValueOf<typeof EXPECTED_REPLY>;

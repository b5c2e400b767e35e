import type { Basis } from '../service/reply.ts';
import { internal, object } from '../shape/objects.ts';
import {
  ANY_NUMBER,
  ANY_TEXT,
  convert,
  FLAG,
  list,
  type Shape,
  type ValueOf,
} from '../shape/shapes.ts';
import { FINDING_CODES, type Noted } from './finding-codes.ts';
import {
  BASIS_KIND,
  EXPECTED_REPLY,
  FINDING_MEMBERS,
  OPERATION,
  SHOWN_MEMBERS,
  TEXTS,
} from './report-shapes.ts';

const { given, maybe } = internal;

const BASIS: Shape<Basis> = convert(
  object({ kind: given(BASIS_KIND), by: maybe(TEXTS) }),
  ({ kind, by = [] }) => {
    if (kind === 'assumed') return { kind, by };
    return kind === 'forced' ? { kind, by: by[0] ?? '' } : { kind };
  },
);

function basisValue(basis: Basis): object {
  return 'by' in basis ? { ...basis, by: [basis.by].flat() } : basis;
}

/** An exchange as another server records it. Holds credentials in full. */
const EXCHANGE_VALUE = object({
  at: given(ANY_NUMBER),
  duration: given(ANY_NUMBER),
  delay: given(ANY_NUMBER),
  method: given(ANY_TEXT),
  target: given(ANY_TEXT),
  operation: maybe(OPERATION),
  status: maybe(ANY_NUMBER),
  basis: given(BASIS),
  fault: maybe(ANY_TEXT),
  why: given(TEXTS),
  authorization: maybe(ANY_TEXT),
  requestHeaders: given(TEXTS),
  /** The bytes as Latin-1 characters. */
  requestBody: maybe(ANY_TEXT),
  requestCut: given(FLAG),
  replyHeaders: given(TEXTS),
  replyBody: maybe(ANY_TEXT),
  replyCut: given(FLAG),
  expected: maybe(EXPECTED_REPLY),
});

export type ExchangeValue = ValueOf<typeof EXCHANGE_VALUE>;

const NOTED: Shape<Noted> = convert(
  object({ code: FINDING_MEMBERS.code, message: FINDING_MEMBERS.message }),
  (noted) => ({ ...noted, advice: FINDING_CODES[noted.code] }),
);

const ATTEMPT = object({
  /** Equal for equal calls. */
  mark: given(ANY_TEXT),
  /** The status of the reply; undefined if the client was sent none. */
  status: maybe(ANY_NUMBER),
  /** Whether asking again would get the same reply. */
  final: given(FLAG),
  /** The seconds that the reply asks to wait for. */
  wait: maybe(ANY_NUMBER),
  /** When the reply was decided, by the sandbox's clock. */
  at: given(ANY_NUMBER),
  /** When the reply left, in milliseconds since 1970. */
  leftAt: given(ANY_NUMBER),
});

/** A call that may be a retry, and what its reply says of the same call after it. */
export type Attempt = ValueOf<typeof ATTEMPT>;

/** One exchange, and what it adds to coverage and findings. */
export const EXCHANGE_EVIDENCE = object({
  exchange: given(EXCHANGE_VALUE),
  /** The new facts of a reply that coverage counts; undefined if it does not count. */
  facts: maybe(ANY_NUMBER),
  findings: maybe(list(NOTED)),
  attempt: maybe(ATTEMPT),
});

export type ExchangeEvidence = ValueOf<typeof EXCHANGE_EVIDENCE>;

/** The JSON value that `EXCHANGE_EVIDENCE` reads. */
export function evidenceValue({ exchange, findings, ...rest }: ExchangeEvidence): object {
  return {
    exchange: { ...exchange, basis: basisValue(exchange.basis) },
    findings: findings?.map(({ code, message }) => ({ code, message })),
    ...rest,
  };
}

const JOURNAL_STATE = object({
  number: given(ANY_NUMBER),
  taken: given(ANY_NUMBER),
  droppedUntil: maybe(ANY_NUMBER),
});

const COVERAGE_STATE = list(
  object({
    slot: given(ANY_NUMBER),
    count: given(ANY_NUMBER),
    exchange: given(ANY_NUMBER),
    facts: given(ANY_NUMBER),
    by: maybe(TEXTS),
    upstream: given(ANY_NUMBER),
  }),
);

const FINDING_COUNTS = list(object({ code: FINDING_MEMBERS.code, count: given(ANY_NUMBER) }));

/** Its code tells the advice. */
const { advice: _, ...PAST_FINDING } = FINDING_MEMBERS;
/** Its sandbox is the one whose state it is in. */
const { sandbox: _own, ...OWN_FINDING } = PAST_FINDING;

const FINDINGS_STATE = object({
  counts: given(FINDING_COUNTS),
  findings: given(list(object(OWN_FINDING))),
  attempts: given(list(ATTEMPT)),
});

/** The evidence of sandboxes that were reset or deleted. */
export const PAST_STATE = object({
  coverage: given(list(object({ slot: given(ANY_NUMBER), ...SHOWN_MEMBERS }))),
  counts: given(FINDING_COUNTS),
  findings: given(list(object(PAST_FINDING))),
});

export type PastState = ValueOf<typeof PAST_STATE>;

/** The evidence of a sandbox, without the exchanges that the journal keeps. */
export const EVIDENCE_STATE = object({
  journal: given(JOURNAL_STATE),
  coverage: given(COVERAGE_STATE),
  findings: given(FINDINGS_STATE),
});

export type JournalState = ValueOf<typeof JOURNAL_STATE>;
export type CoverageState = ValueOf<typeof COVERAGE_STATE>;
export type FindingsState = ValueOf<typeof FINDINGS_STATE>;
export type EvidenceState = ValueOf<typeof EVIDENCE_STATE>;

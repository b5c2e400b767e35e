import { OPERATION_IDS } from '../contract/operations.ts';
import { BASIS_KINDS, type Basis } from '../service/reply.ts';
import { internal, object } from '../shape/objects.ts';
import {
  ANY_NUMBER,
  ANY_TEXT,
  choice,
  convert,
  FLAG,
  list,
  type Shape,
  type ValueOf,
} from '../shape/shapes.ts';
import { FINDING_CODE_NAMES, FINDING_CODES, type Noted } from './finding-codes.ts';

const { given, maybe } = internal;
const TEXTS = list(ANY_TEXT);
const OPERATION = choice(OPERATION_IDS);
const CODE = choice(FINDING_CODE_NAMES);

const BASIS: Shape<Basis> = convert(
  object({ kind: given(choice(BASIS_KINDS)), by: maybe(TEXTS) }),
  ({ kind, by = [] }) => {
    if (kind === 'assumed') return { kind, by };
    return kind === 'forced' ? { kind, by: by[0] ?? '' } : { kind };
  },
);

function basisValue(basis: Basis): object {
  return 'by' in basis ? { ...basis, by: [basis.by].flat() } : basis;
}

const EXPECTED_REPLY = object({
  status: given(ANY_NUMBER),
  /** The assumptions that decided it. */
  by: given(TEXTS),
  why: maybe(ANY_TEXT),
});

/** What the mock would have answered in place of a deployment. */
export type ExpectedReply = ValueOf<typeof EXPECTED_REPLY>;

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
  object({ code: given(CODE), message: given(ANY_TEXT) }),
  (noted) => ({ ...noted, advice: FINDING_CODES[noted.code] }),
);

const ATTEMPT = object({
  mark: given(ANY_TEXT),
  status: maybe(ANY_NUMBER),
  final: given(FLAG),
  wait: maybe(ANY_NUMBER),
  at: given(ANY_NUMBER),
  leftAt: given(ANY_NUMBER),
});

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

const FINDING_COUNTS = list(object({ code: given(CODE), count: given(ANY_NUMBER) }));

const FINDING = {
  code: given(CODE),
  message: given(ANY_TEXT),
  exchange: given(ANY_NUMBER),
  operation: given(OPERATION),
  method: given(ANY_TEXT),
  target: given(ANY_TEXT),
  at: given(ANY_TEXT),
};

const FINDINGS_STATE = object({
  counts: given(FINDING_COUNTS),
  findings: given(list(object(FINDING))),
  attempts: given(list(ATTEMPT)),
});

/** The evidence of sandboxes that were reset or deleted. */
export const PAST_STATE = object({
  coverage: given(
    list(
      object({
        slot: given(ANY_NUMBER),
        count: given(ANY_NUMBER),
        first: maybe(object({ sandbox: given(ANY_TEXT), exchange: given(ANY_NUMBER) })),
        by: maybe(TEXTS),
      }),
    ),
  ),
  counts: given(FINDING_COUNTS),
  findings: given(list(object({ ...FINDING, sandbox: given(ANY_TEXT) }))),
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

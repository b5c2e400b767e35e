import { FAULTS } from '../scenario/fault-table.ts';
import type { Decision, Outcome } from '../scenario/rules.ts';
import type { Instant } from '../service/clock.ts';
import type { World } from '../service/operation.ts';
import { type Basis, decidersOf, type Reply } from '../service/reply.ts';
import { cut, roundDuration } from '../words.ts';
import { shownBy } from './coverage.ts';
import { type Exchange, KEPT_TEXT, type RequestRecord } from './exchange.ts';
import { findingsOfCall } from './findings.ts';
import type { ExpectedReply } from './report-shapes.ts';
import { attemptOf } from './retries.ts';
import type { Evidence } from './sandbox-evidence.ts';

/** Kept characters of a reply's body and of all headers, and kept bytes of a request's body. */
const KEPT = 4096;

/** What an exchange is made of, besides the request and the outcome. */
export interface ExchangeContext {
  /** The world before the call. */
  readonly world: World;
  readonly now: Instant;
  /** Whether the sandbox's clock is frozen: all durations are 0 then. */
  readonly frozen: boolean;
  readonly evidence: Pick<Evidence, 'totals' | 'journal' | 'mayRetry'>;
  /** Whether the evidence has every exchange before this one. */
  readonly isNext: boolean;
}

export function exchangeOf(
  request: RequestRecord,
  outcome: Outcome,
  { world, now, frozen, evidence, isNext }: ExchangeContext,
): Exchange {
  const { call, method, target, authorization, headers, traceparent } = request;
  const { reply, decision, delay, hold } = outcome;
  if (hold !== undefined) hold.since = now.wall;
  const isShown = outcome.kind === 'reply' || FAULTS[outcome.fault.kind] !== 'replaces';
  const shown = isShown ? reply : undefined;
  const duration = delay + (frozen ? 0 : now.steady - request.receivedAt);
  const body = call?.body.kind === 'bytes' ? call.body.bytes : undefined;
  const text = reply?.body.kind === 'json' ? reply.body.text : undefined;
  const isKept = text !== undefined && text.length <= KEPT;
  const basis = reply?.basis ?? (decision ? { kind: 'forced', by: decision.by } : DOCUMENTED);
  const { mayRetry, totals, journal } = evidence;
  const isRefusal = shown !== undefined && shown.status >= 400;
  // Nobody knows when a held reply will leave.
  const isAttempt = call !== undefined && hold === undefined && (isRefusal || mayRetry);
  const attempt = isAttempt
    ? attemptOf(request, call, shown, { now, delay, at: world.now })
    : undefined;
  // Most requests repeat the headers of the one before: equal lists share memory.
  const previous = journal.latest;
  return {
    number: 0,
    at: world.now,
    duration: roundDuration(duration),
    method,
    target: cut(target, KEPT_TEXT),
    operation: call?.operation,
    traceId: traceparent === undefined ? undefined : traceIdOf(traceparent),
    status: shown?.status,
    basis,
    fault: outcome.kind === 'fault' ? outcome.fault.kind : undefined,
    delay,
    hold,
    findings: call === undefined ? NONE : findingsOfCall(call, shown, world),
    shows:
      call === undefined
        ? NONE
        : shownBy(request, call, outcome, world, isNext ? totals : undefined),
    attempt,
    authorization:
      authorization === previous?.authorization
        ? previous?.authorization
        : authorization && cut(authorization, KEPT_TEXT),
    requestHeaders: reuseEqual(firstHeaders(headers), previous?.requestHeaders),
    requestBody: body?.toString('latin1', 0, KEPT),
    requestCut: body !== undefined && body.length > KEPT,
    replyHeaders: reuseEqual(
      firstHeaders(keptHeaders(reply, request, world)),
      previous?.replyHeaders,
    ),
    replyBody: isKept ? text.toString() : undefined,
    replyCut: reply !== undefined && reply.body.kind !== 'none' && !isKept,
    expected: expectedOf(reply),
    decision: decision && decisionText(decision),
    reason: reply?.reason && cut(reply.reason, KEPT_TEXT),
  };
}

const DOCUMENTED: Basis = { kind: 'documented' };
const NONE: readonly never[] = [];

/** The earlier of two equal lists. */
function reuseEqual(
  list: readonly string[],
  earlier: readonly string[] | undefined,
): readonly string[] {
  if (earlier === undefined || list.length !== earlier.length) return list;
  for (let at = 0; at < list.length; at += 1) if (list[at] !== earlier[at]) return list;
  return earlier;
}

/**
 * A reply's own headers, and those that the assumptions of its time add to it. Headers that follow from
 * the rest of the exchange are added when it is read.
 */
function keptHeaders(
  reply: Reply | undefined,
  { crossOrigin }: RequestRecord,
  { choices }: World,
): readonly string[] {
  if (reply === undefined) return NONE;
  const { headers, body, basis } = reply;
  if (basis.kind === 'upstream') return headers;
  const charset = choices['json-charset'] === 'utf-8' ? '; charset=utf-8' : '';
  const mediaType = body.kind === 'json' ? body.mediaType : undefined;
  const isTyped = body.kind !== 'none' && (mediaType !== undefined || charset !== '');
  const isShared = crossOrigin && choices.cors === 'allowed';
  if (!isTyped && !isShared) return headers;
  return [
    ...(isTyped ? ['Content-Type', (mediaType ?? 'application/json') + charset] : []),
    ...(isShared ? ['Access-Control-Allow-Origin', '*'] : []),
    ...headers,
  ];
}

function firstHeaders(headers: readonly string[]): readonly string[] {
  let length = 0;
  for (let at = 0; at < headers.length; at += 1) {
    length += headers[at]?.length ?? 0;
    // Whole pairs of a name and a value.
    if (length > KEPT) return headers.slice(0, at - (at % 2));
  }
  return headers;
}

function expectedOf(reply: Reply | undefined): ExpectedReply | undefined {
  const { expected } = reply?.comparison ?? {};
  if (expected === undefined) return undefined;
  return {
    status: expected.status,
    by: decidersOf(expected.basis),
    why: expected.reason && cut(expected.reason, KEPT_TEXT),
  };
}

function decisionText({ rule, call }: Decision): string {
  if (rule === undefined) return 'the request asked for it with Prefer';
  const { scenario, number, calls } = rule;
  const name = `scenario ${scenario}, rule ${number}`;
  if (calls === undefined) return name;
  const last = Math.max(...calls.map(({ to }) => to));
  return Number.isFinite(last) ? `${name}, call ${call} of ${last}` : `${name}, call ${call}`;
}

/** W3C Trace Context. Ids are not zero, and only versions after 00 may have more fields. */
const TRACEPARENT =
  /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

/** The trace that a `traceparent` names; undefined if it is malformed. */
function traceIdOf(traceparent: unknown): string | undefined {
  return typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined;
}

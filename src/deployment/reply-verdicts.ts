import { DOCUMENTED_REPLIES } from '../contract/cases.ts';
import { parseInt64 } from '../contract/int64.ts';
import { type OperationId, operationShape } from '../contract/operations.ts';
import { isPrescribed, REQUESTS, ruledReply } from './check-requests.ts';
import type { CheckTranscript, ProbeReply } from './check-transcript.ts';
import { hasPassedSunset } from './probes/animal-probes.ts';
import { createdEntry } from './probes/inventory-probes.ts';
import { isDue } from './probes/order-probes.ts';
import { type Difference, isBreak, replyDifferences } from './reply-differences.ts';
import { REQUEST_NAMES } from './request-names.ts';

/** Whether a deployment follows what the document says of a reply. */
export interface ReplyVerdict {
  readonly operation: OperationId;
  readonly status: number;
  readonly verdict: 'as-documented' | 'different' | 'not-tried';
  /** How it differs, and values that the document does not list. */
  readonly differences?: readonly Difference[];
  /** Why no request got a reply that could be judged, if any was sent. */
  readonly why?: string;
}

/** Judges every documented reply, and the Errors with other statuses that break the document. */
export function replyVerdicts(check: CheckTranscript): ReplyVerdict[] {
  const documented = DOCUMENTED_REPLIES.map(({ operation, status }) =>
    verdictOn(check, operation, status),
  );
  return [...documented, ...otherErrors(check)];
}

function verdictOn(check: CheckTranscript, operation: OperationId, status: number): ReplyVerdict {
  const names = REQUEST_NAMES.filter((name) => isPrescribed(REQUESTS[name], operation, status));
  const replies = check.everything.filter(
    (it) => it.definition.operation === operation && it.status === status,
  );
  const differences = distinct([
    ...check.all(...names).flatMap((it) => wrongStatus(it, check)),
    ...replies.flatMap((it) => [...replyDifferences(it, operation), ...fractions(it)]),
    ...check.everything.flatMap((it) =>
      ruledReply(it.definition) === `${operation} ${status}` ? brokenRules(it, check) : [],
    ),
  ]);
  const verdict = { operation, status, ...(differences.length > 0 && { differences }) };
  if (differences.some(isBreak)) return { ...verdict, verdict: 'different' };
  if (replies.length > 0) return { ...verdict, verdict: 'as-documented' };
  const why = check.failuresOf(names).join('; ');
  return { ...verdict, verdict: 'not-tried', ...(why !== '' && { why }) };
}

function brokenRules(reply: ProbeReply, check: CheckTranscript): Difference[] {
  const { rules = [] } = reply.definition;
  return rules.flatMap((rule) => rule(reply, check).map((it) => ({ ...it, exchange: `${reply}` })));
}

/** Strings, and numbers that are whole but not written as integers. */
const FRACTION = /"(?:[^"\\]|\\.)*"|(-?\d+(?:\.0+)?(?:[eE][+-]?\d+)?)/g;

/** Integers that are written with a fraction or an exponent, which many clients cannot read. */
function fractions(reply: ProbeReply): Difference[] {
  if (reply.json === undefined) return [];
  const numbers = [...reply.reply.body.toString().matchAll(FRACTION)].map(([, number]) => number);
  const found = numbers.find((number) => number !== undefined && /\D/.test(number.slice(1)));
  if (found === undefined) return [];
  const expected = 'integers without a fraction or an exponent';
  return [{ where: 'type', at: '$', expected, found, exchange: String(reply) }];
}

/** A status that neither the document prescribes nor an assumption explains. */
function wrongStatus(reply: ProbeReply, check: CheckTranscript): Difference[] {
  const { status, definition } = reply;
  if (status === definition.status || isExcused(reply, check)) return [];
  const expected = String(definition.status);
  return [{ where: 'status', expected, found: `${status}`, exchange: String(reply) }];
}

function isExcused(
  { name, definition, status, order, request }: ProbeReply,
  check: CheckTranscript,
): boolean {
  switch (definition.operation) {
    case 'getPet':
      return (
        ((status === 410 || status === 404) && hasPassedSunset(check)) ||
        (status === 404 && isRounded(check, request.path))
      );
    case 'updateInventory':
      return status === 404 && createdEntry(check, 'createPending') === undefined;
    case 'cancelOrder': {
      const canBeDue = check.list('orders') === undefined || isDue(check, order);
      return name === 'cancel' && (status === 404 || (status === 409 && canBeDue));
    }
    default:
      return false;
  }
}

/** Whether a path has a rounded id of an animal. That breaks the reply that the id was taken from. */
function isRounded(check: CheckTranscript, path: string): boolean {
  const id = parseInt64(path.slice(path.lastIndexOf('/') + 1));
  return check.roundedTwin('petsAgain', id) !== undefined;
}

/** Errors with a status that the document does not show. They must still have its Error object. */
function otherErrors(check: CheckTranscript): ReplyVerdict[] {
  const found = new Map<string, ReplyVerdict & { differences: Difference[] }>();
  for (const reply of check.everything) {
    const operation = undocumentedFor(reply);
    const differences = operation === undefined ? [] : replyDifferences(reply, operation);
    if (operation === undefined || differences.length === 0) continue;
    const { status } = reply;
    const key = `${operation} ${status}`;
    const known = found.get(key) ?? { operation, status, verdict: 'different', differences: [] };
    known.differences.push(...differences);
    found.set(key, known);
  }
  return [...found.values()].map((it) => ({ ...it, differences: distinct(it.differences) }));
}

/** The operation that a reply is reported with; undefined if the verdict of a documented one covers it. */
function undocumentedFor({ definition, status }: ProbeReply): OperationId | undefined {
  const { operation, beside } = definition;
  if (operation === undefined) return status >= 400 ? beside : undefined;
  const isCovered = definition.status !== undefined || status in operationShape(operation).replies;
  return isCovered ? undefined : operation;
}

/** The first of those that differ only in the request. */
function distinct(differences: readonly Difference[]): Difference[] {
  const kept = new Map<string, Difference>();
  for (const it of differences) {
    const kind = `${it.where} ${it.at} ${it.expected} ${it.where === 'type' ? '' : it.found}`;
    if (!kept.has(kind)) kept.set(kind, it);
  }
  return [...kept.values()];
}

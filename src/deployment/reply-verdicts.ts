import { DOCUMENTED_REPLIES } from '../contract/cases.ts';
import { parseInt64 } from '../contract/int64.ts';
import type { OperationId } from '../contract/operations.ts';
import { ASKS, type AskName } from './asks.ts';
import { ruleDifferences } from './document-rules.ts';
import { asksFor } from './probe-table.ts';
import { hasPassedSunset } from './probes/animal-probes.ts';
import { createdEntry } from './probes/inventory-probes.ts';
import { isDue } from './probes/order-probes.ts';
import { type Difference, isBreak, replyDifferences } from './reply-differences.ts';
import { type Exchange, roundedTwin, type Seen } from './seen.ts';

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
export function replyVerdicts(seen: Seen): ReplyVerdict[] {
  const documented = DOCUMENTED_REPLIES.map(({ operation, status }) =>
    verdictOf(seen, operation, status),
  );
  return [...documented, ...otherErrors(seen)];
}

function verdictOf(seen: Seen, operation: OperationId, status: number): ReplyVerdict {
  const replies = repliesOf(seen, operation).filter((it) => it.status === status);
  const differences = distinct([
    ...asksFor(operation, status).flatMap((name) => misses(seen, name, status)),
    ...replies.flatMap((it) => replyDifferences(it, operation)),
    ...replies.flatMap(fractions),
    ...ruleDifferences(seen, operation, status),
  ]);
  const told = differences.length > 0 ? { differences } : {};
  if (differences.some(isBreak)) return { operation, status, verdict: 'different', ...told };
  if (replies.length > 0) return { operation, status, verdict: 'as-documented', ...told };
  const failures = asksFor(operation, status).flatMap((name) => seen.failureOf(name) ?? []);
  const why = failures.length > 0 ? { why: [...new Set(failures)].join('; ') } : {};
  return { operation, status, verdict: 'not-tried', ...told, ...why };
}

function repliesOf(seen: Seen, operation: OperationId): readonly Exchange[] {
  return seen.everything.filter(({ name }) => ASKS[name].operation === operation);
}

/** Strings, and numbers that are whole but not written as integers. */
const FRACTION = /"(?:[^"\\]|\\.)*"|(-?\d+(?:\.0+)?(?:[eE][+-]?\d+)?)/g;

/** Integers that are written with a fraction or an exponent, which many clients cannot read. */
function fractions(exchange: Exchange): Difference[] {
  if (exchange.json === undefined) return [];
  const numbers = [...exchange.reply.body.toString().matchAll(FRACTION)].map(
    ([, number]) => number,
  );
  const found = numbers.find((number) => number !== undefined && /\D/.test(number.slice(1)));
  if (found === undefined) return [];
  const expected = 'integers without a fraction or an exponent';
  return [{ where: 'type', at: '$', expected, found, exchange: String(exchange) }];
}

/** The requests that got another status than the document prescribes. */
function misses(seen: Seen, name: AskName, status: number): Difference[] {
  const expected = String(status);
  return seen
    .all(name)
    .filter((it) => it.status !== status && !isExcused(seen, it))
    .map((it) => ({ where: 'status', expected, found: `${it.status}`, exchange: String(it) }));
}

/** Whether an assumption explains another status than the document prescribes. */
function isExcused(seen: Seen, { name, status, order, request }: Exchange): boolean {
  switch (ASKS[name].operation) {
    case 'getPet':
      return (
        ((status === 410 || status === 404) && hasPassedSunset(seen)) ||
        (status === 404 && isMisnamed(seen, request.path))
      );
    case 'updateInventory':
      return status === 404 && createdEntry(seen, 'createPending') === undefined;
    case 'cancelOrder':
      return name === 'cancel' && (status === 404 || (status === 409 && canBeDue(seen, order)));
    default:
      return false;
  }
}

/** Whether the ship date of an order has passed, or is unknown. */
function canBeDue(seen: Seen, order: bigint | undefined): boolean {
  return seen.list('orders') === undefined || isDue(seen, order);
}

/** Whether a path has a rounded id of an animal. That breaks the reply that the id was taken from. */
function isMisnamed(seen: Seen, path: string): boolean {
  const id = parseInt64(path.slice(path.lastIndexOf('/') + 1));
  return roundedTwin(seen, 'petsAgain', id) !== undefined;
}

/** Errors with a status that the document does not show. They must still have its Error object. */
function otherErrors(seen: Seen): ReplyVerdict[] {
  const found = new Map<string, ReplyVerdict & { differences: Difference[] }>();
  for (const exchange of seen.everything) {
    const operation = toldWith(exchange);
    const differences = operation === undefined ? [] : replyDifferences(exchange, operation);
    if (operation === undefined || differences.length === 0) continue;
    const { status } = exchange;
    const key = `${operation} ${status}`;
    const known = found.get(key) ?? { operation, status, verdict: 'different', differences: [] };
    known.differences.push(...differences);
    found.set(key, known);
  }
  return [...found.values()].map((it) => ({ ...it, differences: distinct(it.differences) }));
}

/** The operation that a reply is told with; undefined if the verdict of a documented one covers it. */
function toldWith({ name, status }: Exchange): OperationId | undefined {
  const { operation, beside } = ASKS[name];
  if (operation === undefined) return status >= 400 ? beside : undefined;
  const covers = DOCUMENTED_REPLIES.some(
    (it) =>
      it.operation === operation &&
      (it.status === status || asksFor(operation, it.status).includes(name)),
  );
  return covers ? undefined : operation;
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

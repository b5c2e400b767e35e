import {
  checkBody,
  checkStatus,
  type Deviation,
  deviationText,
  isViolation,
} from '../contract/check-reply.ts';
import type { OperationId } from '../contract/operations.ts';
import { tryParseJson } from '../json.ts';
import { LIMITS } from '../limits.ts';
import { isDelivered } from '../scenario/fault-table.ts';
import type { RuleMatch } from '../scenario/rules.ts';
import { allHeaders, type Reply } from '../service/reply.ts';
import { firstProblems } from '../words.ts';
import { bodyText } from './exchange.ts';

/** A reply that a rule has made or changed, with what the document does not allow in it. */
export function markOffContract(
  reply: Reply,
  operation: OperationId,
  { by, reply: forced, fault, isMeant = false }: RuleMatch,
  own: Reply | undefined,
): Reply {
  if (!isDelivered(fault)) return reply;
  // Without content of its own, a rule has the body of the service.
  const isOwnBody = forced !== undefined && forced.content === undefined;
  const known = new Set(own === undefined ? [] : checkWhole(own, operation).map(deviationText));
  const found = (isOwnBody ? checkStatus(reply.status, operation) : checkWhole(reply, operation))
    .map(deviationText)
    .filter((text) => !known.has(text));
  if (found.length === 0) return reply;
  const offContract = { problems: firstProblems(found, String), isMeant };
  return { ...reply, basis: { kind: 'forced', by, offContract } };
}

/** What the document does not allow in a reply. */
export function checkWhole(reply: Reply, operation: OperationId): readonly Deviation[] {
  const { status, size } = reply;
  const found = checkStatus(status, operation);
  if (size > LIMITS.patchedBody) return found;
  const body = bodyText(reply);
  const json = body === undefined ? undefined : tryParseJson(body);
  const inBody = checkBody({ status, headers: allHeaders(reply), body, json }, operation);
  return [...found, ...inBody.filter(isViolation)];
}

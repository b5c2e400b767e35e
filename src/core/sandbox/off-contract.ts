import {
  checkBody,
  checkStatus,
  type Deviation,
  deviationText,
  isViolation,
} from '../contract/check-reply.ts';
import { type OperationId, operationShape } from '../contract/operations.ts';
import { exampleOf, RECORDS } from '../contract/records.ts';
import { type Json, tryParseJson, writeJson } from '../json.ts';
import { LIMITS } from '../limits.ts';
import { isDelivered } from '../scenario/fault-table.ts';
import type { Patch } from '../scenario/patch-shape.ts';
import type { RuleReply } from '../scenario/reply-shape.ts';
import type { RuleMatch } from '../scenario/rules.ts';
import type { Scenario } from '../scenario/scenario-shape.ts';
import { allHeaders, createReply, jsonBody, type Reply } from '../service/reply.ts';
import { reportInto, type ShapeProblem } from '../shape/shapes.ts';
import { firstProblems } from '../words.ts';
import { bodyText } from './exchange.ts';
import { patchReply } from './patch-reply.ts';

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

function checkWhole(reply: Reply, operation: OperationId): readonly Deviation[] {
  const { status, size } = reply;
  const found = checkStatus(status, operation);
  if (size > LIMITS.patchedBody) return found;
  const body = bodyText(reply);
  const json = body === undefined ? undefined : tryParseJson(body);
  const inBody = checkBody({ status, headers: allHeaders(reply), body, json }, operation);
  return [...found, ...inBody.filter(isViolation)];
}

/** What the document does not allow in the replies of the rules of a scenario. */
export function checkRules({ rules, offContract }: Scenario): readonly ShapeProblem[] {
  const problems: ShapeProblem[] = [];
  const report = reportInto(problems);
  const seen = new Set<string>();
  for (const [index, { on, reply, patch, fault }] of offContract ? [] : rules.entries()) {
    for (const operation of isDelivered(fault) ? on : []) {
      const parts = [
        ...(reply ? checkReply(reply, operation) : []),
        ...checkPatch(patch, operation),
      ];
      for (const [at, { where, at: place = where, expected, found }] of parts) {
        const path = ['rules', index, reply ? 'reply' : 'patch', ...at];
        const problem = { at: path, expected: `${expected} as ${place} of ${operation}`, found };
        const key = writeJson([path, expected, found]);
        if (!seen.has(key)) report(problem);
        seen.add(key);
      }
    }
  }
  return problems;
}

type Part = readonly [at: readonly (string | number)[], deviation: Deviation];

const DOCUMENTED = { kind: 'documented' } as const;

function checkReply({ status, headers, content }: RuleReply, operation: OperationId): Part[] {
  const reply = createReply(DOCUMENTED, status, content, headers);
  const found =
    content === undefined ? checkStatus(status, operation) : checkWhole(reply, operation);
  const memberOf = { status: 'status', header: 'headers' };
  return found.map((one) => [[Object(memberOf)[one.where] ?? 'body'], one]);
}

/** Applied to the success that the document shows, or an item to an Error if only that can match. */
function checkPatch(
  { status, headers, body, each, items = [] }: Patch = {},
  operation: OperationId,
): Part[] {
  const { replies } = operationShape(operation);
  const [success] = Object.entries(replies).filter(([code]) => Number(code) < 400);
  const [code = '200', { body: shown } = { body: undefined }] = success ?? [];
  const record = shown && exampleOf(RECORDS[shown.record].members);
  const sample = (of: object | undefined, from = Number(code)): Reply =>
    createReply(DOCUMENTED, from, of && jsonBody(writeJson(shown?.list && from < 400 ? [of] : of)));
  const check = (own: Reply, part: Patch, ...at: (string | number)[]): Part[] =>
    checkWhole(patchReply(own, part, DOCUMENTED), operation).map((one) => [at, one]);
  const members = [{ status }, { headers }, { body }, { each }] as const;
  return [
    ...members.flatMap((part) => {
      const [name = '', value] = Object.entries(part).flat();
      return value === undefined ? [] : check(sample(record), part, String(name));
    }),
    ...items.flatMap((item, index) => {
      const wanted = item.where.flatMap(([name, [first]]) => [[name, first?.value ?? undefined]]);
      const matching = (of: object): Json => ({ ...of, ...Object.fromEntries(wanted) });
      const error = matching(exampleOf(RECORDS.Error.members));
      const candidates = [
        ...(record ? [sample(matching(record))] : []),
        sample(error, Number(error.status) || 404),
      ];
      const own = candidates.find((one) => checkWhole(one, operation).length === 0);
      return own === undefined ? [] : check(own, { items: [item] }, 'items', index);
    }),
  ];
}

import { checkStatus, type Deviation } from '../core/contract/check-reply.ts';
import { type OperationId, operationShape } from '../core/contract/operations.ts';
import { exampleOf, RECORDS } from '../core/contract/records.ts';
import { type Json, writeJson } from '../core/json.ts';
import { checkWhole, patchReply } from '../core/sandbox/forced-reply.ts';
import { effectOf } from '../core/scenario/fault-table.ts';
import type { RuleReply } from '../core/scenario/reply-shape.ts';
import type { Patch } from '../core/scenario/rule-shape.ts';
import type { Scenario } from '../core/scenario/scenario-shape.ts';
import { createReply, jsonBody, type Reply } from '../core/service/reply.ts';
import { reportInto, type ShapeProblem } from '../core/shape/shapes.ts';

/** What the document does not allow in the replies of the rules of a scenario. */
export function checkRules({ rules, offContract }: Scenario): readonly ShapeProblem[] {
  const problems: ShapeProblem[] = [];
  const report = reportInto(problems);
  const seen = new Set<string>();
  for (const [index, { on, reply, patch, fault }] of offContract ? [] : rules.entries()) {
    for (const operation of effectOf(fault).isDelivered ? on : []) {
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
      const wanted = Array.from(item.where, ([name, [first]]) => [name, first ?? undefined]);
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

import { ASSUMPTION_IDS, type AssumptionId } from '../../../../core/contract/assumption-table.ts';
import { operationShape } from '../../../../core/contract/operations.ts';
import { DEFAULTS } from '../../../../core/limits.ts';
import { SAFE_METHODS } from '../../transport.ts';
import { ANIMAL_QUESTIONS } from './animals.ts';
import { CREATION_QUESTIONS } from './creations.ts';
import { QUESTION_NAMES, type QuestionName } from './names.ts';
import { ORDER_QUESTIONS } from './orders.ts';
import { OVERALL_SETTLEMENTS, PROTOCOL_QUESTIONS } from './protocol.ts';
import type { CheckOptions, Question, Settlement } from './question.ts';
import { STOCK_QUESTIONS } from './stock.ts';

export const QUESTIONS: Readonly<Record<QuestionName, Question>> = {
  ...ANIMAL_QUESTIONS,
  ...CREATION_QUESTIONS,
  ...STOCK_QUESTIONS,
  ...ORDER_QUESTIONS,
  ...PROTOCOL_QUESTIONS,
};

const SETTLEMENTS: readonly Settlement[] = [
  ...QUESTION_NAMES.flatMap((name) => {
    const question = QUESTIONS[name];
    if (question.settles === undefined) return [];
    return { ...question, by: question.by ?? (question.from ? [] : [name]) };
  }),
  ...OVERALL_SETTLEMENTS,
];

export function findSettlement(id: AssumptionId): Settlement {
  const settlement = SETTLEMENTS.find(({ settles }) => settles === id);
  if (settlement === undefined) throw new Error(`No question settles ${id}.`);
  return settlement;
}

export function listQuestions({
  by = [],
  from = [],
  also = [],
}: Settlement): readonly QuestionName[] {
  return [...from, ...by, ...also];
}

export function replyName(reply: Pick<Question, 'operation' | 'status'>): string {
  return `${reply.operation} ${reply.status}`;
}

export function ruledReply({ operation, rules }: Question): string | undefined {
  if (operation === undefined || rules === undefined) return undefined;
  return `${operation} ${Object.keys(operationShape(operation).replies)[0]}`;
}

export type PlannedRequest = ReturnType<typeof planCheck>[number];

/** The requests of a check, in order. Those whose needs the flags do not meet are left out. */
export function planCheck(options: CheckOptions) {
  const names = QUESTION_NAMES.filter((name) => listNeeds(name, options).length === 0);
  return names.flatMap((name) => {
    const { method, path, body, key, times = 1, why, each, needs } = QUESTIONS[name];
    // Descriptions in braces stand for what only the deployment can tell.
    const values = each === undefined ? [`{${needs?.description}}`] : (options[each] ?? []);
    return values.map((value) => ({
      name,
      method,
      path: path.replace('{}', `${value}`),
      body: body?.replace(/ +$/, ({ length }) => ` and ${length} spaces`),
      key,
      times,
      why,
      purposes: listPurposes(name),
    }));
  });
}

function listPurposes(name: QuestionName): string[] {
  const question = QUESTIONS[name];
  const prescribed = question.status === undefined ? undefined : replyName(question);
  const replies = [prescribed, ruledReply(question)].filter((reply) => reply !== undefined);
  const assumptions = ASSUMPTION_IDS.filter((id) =>
    listQuestions(findSettlement(id)).includes(name),
  );
  return [...new Set([...replies, ...assumptions])];
}

export function listNeeds(name: QuestionName, options: CheckOptions): string[] {
  const { method, each, key, times = 1, needs } = QUESTIONS[name];
  const { writes, readOnlyKey, invalidKey, rate = DEFAULTS.deploymentRate } = options;
  const all = [
    ...(needs?.after === undefined ? [] : listNeeds(needs.after, options)),
    ...(writes || SAFE_METHODS.test(method) ? [] : ['--writes']),
    ...(each === undefined || options[each]?.length ? [] : [`--${each} ID`]),
    ...(key === 'read-only' && readOnlyKey === undefined ? ['--read-only-key KEY'] : []),
    ...(key === 'invalid' && invalidKey === undefined ? ['--invalid-key KEY'] : []),
    ...(times > rate ? [`--rate ${times} or more`] : []),
  ];
  return [...new Set(all)];
}

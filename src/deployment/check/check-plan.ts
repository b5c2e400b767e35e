import { ASSUMPTION_IDS, type AssumptionId } from '../../contract/assumption-table.ts';
import { operationShape } from '../../contract/operations.ts';
import { DEFAULTS } from '../../defaults.ts';
import { SAFE } from '../transport.ts';
import { ANIMAL_QUESTIONS } from './animal-questions.ts';
import {
  type CheckOptions,
  QUESTION_NAMES,
  type Question,
  type QuestionName,
  type Settlement,
} from './check-transcript.ts';
import { CREATION_QUESTIONS } from './creation-questions.ts';
import { ORDER_QUESTIONS } from './order-questions.ts';
import { OVERALL_SETTLEMENTS, PROTOCOL_QUESTIONS } from './protocol-questions.ts';
import { STOCK_QUESTIONS } from './stock-questions.ts';

/** Every question of a check. */
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

/** @throws Error for an assumption that no question settles */
export function settlementOf(id: AssumptionId): Settlement {
  const settlement = SETTLEMENTS.find(({ settles }) => settles === id);
  if (settlement === undefined) throw new Error(`No question settles ${id}.`);
  return settlement;
}

/** The questions that an assumption is judged by. */
export function questionsOf({
  by = [],
  from = [],
  also = [],
}: Settlement): readonly QuestionName[] {
  return [...from, ...by, ...also];
}

/** What a reply of an operation is called. */
export function replyName(reply: Pick<Question, 'operation' | 'status'>): string {
  return `${reply.operation} ${reply.status}`;
}

/** The documented reply that a question has rules for. */
export function ruledReply({ operation, rules }: Question): string | undefined {
  if (operation === undefined || rules === undefined) return undefined;
  return `${operation} ${Object.keys(operationShape(operation).replies)[0]}`;
}

/** A request that a check sends, before what it depends on is known. */
export type PlannedRequest = ReturnType<typeof planCheck>[number];

/** The requests that a check sends, in order. Requests whose needs stay unknown are left out. */
export function planCheck(options: CheckOptions) {
  return QUESTION_NAMES.filter((name) => missing(name, options).length === 0).flatMap((name) => {
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
      purposes: purposesOf(name),
    }));
  });
}

/** What a question is for. */
function purposesOf(name: QuestionName): string[] {
  const question = QUESTIONS[name];
  const prescribed = question.status && replyName(question);
  const replies = [prescribed, ruledReply(question)].flatMap((it) => it || []);
  const assumptions = ASSUMPTION_IDS.filter((id) => questionsOf(settlementOf(id)).includes(name));
  return [...new Set([...replies, ...assumptions])];
}

/** What the user would have to give before a request can be sent. */
export function missing(name: QuestionName, options: CheckOptions): string[] {
  const { method, each, key, times = 1, needs } = QUESTIONS[name];
  const { writes, readOnlyKey, invalidKey, rate = DEFAULTS.deploymentRate } = options;
  const all = [
    ...(needs?.after === undefined ? [] : missing(needs.after, options)),
    ...(writes || SAFE.test(method) ? [] : ['--writes']),
    ...(each === undefined || options[each]?.length ? [] : [`--${each} ID`]),
    ...(key === 'read-only' && readOnlyKey === undefined ? ['--read-only-key KEY'] : []),
    ...(key === 'invalid' && invalidKey === undefined ? ['--invalid-key KEY'] : []),
    ...(times > rate ? [`--rate ${times} or more`] : []),
  ];
  return [...new Set(all)];
}

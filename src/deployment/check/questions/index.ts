import type { AssumptionId } from '../../../contract/assumption-table.ts';
import { operationShape } from '../../../contract/operations.ts';
import { ANIMAL_QUESTIONS } from './animals.ts';
import { CREATION_QUESTIONS } from './creations.ts';
import { QUESTION_NAMES, type QuestionName } from './names.ts';
import { ORDER_QUESTIONS } from './orders.ts';
import { OVERALL_SETTLEMENTS, PROTOCOL_QUESTIONS } from './protocol.ts';
import type { Question, Settlement } from './question.ts';
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

/** @throws Error for an assumption that no question settles */
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

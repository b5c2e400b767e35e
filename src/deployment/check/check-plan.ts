import { ASSUMPTION_IDS } from '../../contract/assumption-table.ts';
import { DEFAULTS } from '../../limits.ts';
import { SAFE } from '../transport.ts';
import {
  findSettlement,
  listQuestions,
  QUESTIONS,
  replyName,
  ruledReply,
} from './questions/index.ts';
import { QUESTION_NAMES, type QuestionName } from './questions/names.ts';
import type { CheckOptions } from './questions/question.ts';

export type PlannedRequest = ReturnType<typeof planCheck>[number];

/** The requests that a check sends, in order. Requests whose needs stay unknown are left out. */
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
      most: isRepeatable(name, false) ? 2 : times,
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

/**
 * Whether a request is sent twice in a row, as a deployment of unlike servers answers it in two ways.
 * No write is repeated that was accepted or that is meant to be.
 */
export function isRepeatable(name: QuestionName, accepted: boolean): boolean {
  const { method, each, times, isShown, isAffected } = QUESTIONS[name];
  if (times !== undefined || each !== undefined || (isShown ?? isAffected)) return false;
  return SAFE.test(method) || !accepted;
}

/** What the user would have to give before a request can be sent. */
export function listNeeds(name: QuestionName, options: CheckOptions): string[] {
  const { method, each, key, times = 1, needs } = QUESTIONS[name];
  const { writes, readOnlyKey, invalidKey, rate = DEFAULTS.deploymentRate } = options;
  const all = [
    ...(needs?.after === undefined ? [] : listNeeds(needs.after, options)),
    ...(writes || SAFE.test(method) ? [] : ['--writes']),
    ...(each === undefined || options[each]?.length ? [] : [`--${each} ID`]),
    ...(key === 'read-only' && readOnlyKey === undefined ? ['--read-only-key KEY'] : []),
    ...(key === 'invalid' && invalidKey === undefined ? ['--invalid-key KEY'] : []),
    ...(times > rate ? [`--rate ${times} or more`] : []),
  ];
  return [...new Set(all)];
}

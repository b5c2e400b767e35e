import { ASSUMPTION_IDS, type AssumptionId } from '../../contract/assumption-table.ts';
import { operationShape } from '../../contract/operations.ts';
import { SAFE } from '../transport.ts';
import {
  type CheckRequest,
  type NamedOrders,
  REQUEST_NAMES,
  type RequestName,
} from './check-transcript.ts';
import { INPUT_QUESTIONS, WIRE_QUESTIONS } from './protocol-questions.ts';
import { type Question, requestsOf } from './question.ts';
import { READ_REQUESTS } from './read-requests.ts';
import { ANIMAL_QUESTIONS, INVENTORY_QUESTIONS, ORDER_QUESTIONS } from './record-questions.ts';
import { WRITE_REQUESTS } from './write-requests.ts';

/** What settles each assumption. */
export const QUESTIONS: Readonly<Record<AssumptionId, Question>> = {
  ...INPUT_QUESTIONS,
  ...ANIMAL_QUESTIONS,
  ...INVENTORY_QUESTIONS,
  ...ORDER_QUESTIONS,
  ...WIRE_QUESTIONS,
};

/** Every request of a check. */
export const REQUESTS: Readonly<Record<RequestName, CheckRequest>> = {
  ...READ_REQUESTS,
  ...WRITE_REQUESTS,
};

/** The documented reply that a request has rules for, as an operation with a status. */
export function ruledReply(name: RequestName): string | undefined {
  const { operation, rules = [] } = REQUESTS[name];
  if (operation === undefined || rules.length === 0) return undefined;
  return `${operation} ${Object.keys(operationShape(operation).replies)[0]}`;
}

/** What a check may do, and what the user says about the deployment. */
export interface CheckOptions {
  readonly writes: boolean;
  readonly orders: NamedOrders;
  readonly readOnlyKey?: string | undefined;
  readonly invalidKey?: string | undefined;
  /** Requests per second. */
  readonly rate: number;
}

/** A request that a check sends, before what it depends on is known. */
export type PlannedRequest = ReturnType<typeof planCheck>[number];

/** The requests that a check sends, in order. Requests whose needs stay unknown are left out. */
export function planCheck(options: CheckOptions) {
  return REQUEST_NAMES.filter((name) => missing(name, options).length === 0).flatMap((name) => {
    const { method, path, body, key, times = 1, why, each, needs } = REQUESTS[name];
    // Descriptions in braces stand for what only the deployment can tell.
    const values = each === undefined ? [`{${needs?.description}}`] : options.orders[each];
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

/** What a request is for. */
function purposesOf(name: RequestName): string[] {
  const request = REQUESTS[name];
  const prescribed = request.status && `${request.operation} ${request.status}`;
  const replies = [prescribed, ruledReply(name)].flatMap((it) => it || []);
  const assumptions = ASSUMPTION_IDS.filter((id) => requestsOf(QUESTIONS[id]).includes(name));
  return [...new Set([...replies, ...assumptions])];
}

/** What the user would have to give before a request can be sent. */
export function missing(name: RequestName, options: CheckOptions): string[] {
  const { method, each, key, times = 1, needs } = REQUESTS[name];
  const { writes, orders, readOnlyKey, invalidKey, rate } = options;
  const all = [
    ...(needs?.after === undefined ? [] : missing(needs.after, options)),
    ...(writes || SAFE.test(method) ? [] : ['--writes']),
    ...(each === undefined || orders[each].length > 0 ? [] : [`--${each} ID`]),
    ...(key === 'read-only' && readOnlyKey === undefined ? ['--read-only-key KEY'] : []),
    ...(key === 'invalid' && invalidKey === undefined ? ['--invalid-key KEY'] : []),
    ...(times > rate ? [`--rate ${times} or more`] : []),
  ];
  return [...new Set(all)];
}

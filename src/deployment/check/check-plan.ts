import { ASSUMPTION_IDS, type AssumptionId } from '../../contract/assumption-table.ts';
import { operationShape } from '../../contract/operations.ts';
import { SAFE } from '../deployment-client.ts';
import { ANIMAL_QUESTIONS } from './animal-questions.ts';
import type { CheckRequest } from './check-transcript.ts';
import { INPUT_QUESTIONS } from './input-questions.ts';
import { INVENTORY_QUESTIONS, ORDER_QUESTIONS } from './order-questions.ts';
import type { NamedOrders } from './probe-reply.ts';
import { REQUEST_NAMES, type RequestName } from './probe-reply.ts';
import type { Question } from './question.ts';
import { READ_REQUESTS } from './read-requests.ts';
import { WIRE_QUESTIONS } from './wire-questions.ts';
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
export interface PlannedRequest {
  readonly name: RequestName;
  readonly method: string;
  /** With descriptions in braces for what only the deployment can tell. */
  readonly path: string;
  /** Spaces at its end are counted instead of shown. */
  readonly body: string | undefined;
  readonly key: CheckRequest['key'];
  readonly times: number;
  readonly why: string;
  /** The assumptions and documented replies that it is for. */
  readonly purposes: readonly string[];
}

/** The requests that a check sends, in order. Requests whose facts stay unknown are left out. */
export function planCheck(options: CheckOptions): PlannedRequest[] {
  return REQUEST_NAMES.filter((name) => missing(name, options).length === 0).flatMap((name) => {
    const { method, path, body, key, times = 1, why, each, needs } = REQUESTS[name];
    const values = each === undefined ? [`{${needs?.description}}`] : options.orders[each];
    return values.map((value) => ({
      name,
      method,
      path: path.replace('{}', `${value}`),
      body: body === undefined ? undefined : bodyText(body),
      key,
      times,
      why,
      purposes: purposesOf(name),
    }));
  });
}

function bodyText(body: string): string {
  const shown = body.trimEnd();
  const spaces = body.length - shown.length;
  return spaces === 0 ? shown : `${shown} and ${spaces} spaces`;
}

/** What a request is for. */
function purposesOf(name: RequestName): string[] {
  const request = REQUESTS[name];
  const prescribed = request.status && `${request.operation} ${request.status}`;
  const replies = [prescribed, ruledReply(name)].flatMap((it) => it || []);
  const assumptions = ASSUMPTION_IDS.filter((id) => {
    const { by, also = [] } = QUESTIONS[id];
    return by.includes(name) || also.includes(name);
  });
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

import { ADDED_REPLIES, ASSUMPTION_IDS, assumptionShape } from './assumption-table.ts';
import { codesOf, errorShape } from './error-codes.ts';
import type { Json } from './json.ts';
import { jsonContent, ref, withoutUndefined } from './openapi-schemas.ts';
import {
  type DocumentedReply,
  OPERATION_IDS,
  type OperationId,
  operationShape,
} from './operations.ts';

/** Every status that an operation has by the document or an assumption. */
export function statusesOf(id: OperationId): number[] {
  const documented = Object.keys(operationShape(id).replies).map(Number);
  const assumed = ADDED_REPLIES.filter(({ operation }) => operation === id);
  return [...new Set([...documented, ...assumed.map(({ status }) => status)])];
}

/** The name of a reply that all operations with its status share, such as `Forbidden403`. */
export function sharedName(id: OperationId, status: number): string | undefined {
  const [code, ...others] = codesOf(id, status);
  if (code === undefined || others.length > 0 || errorShape(code).on !== undefined)
    return undefined;
  const name = code.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  return `${name}${status}`;
}

/** The replies with shared names. */
export function sharedReplies(): Json {
  const replies: Record<string, Json> = {};
  for (const id of OPERATION_IDS) {
    for (const status of statusesOf(id)) {
      const name = sharedName(id, status);
      if (name !== undefined) replies[name] ??= replyObject(id, status);
    }
  }
  return replies;
}

/** An OpenAPI response object. */
export function replyObject(id: OperationId, status: number): Json {
  const documented = operationShape(id).replies[status];
  const assumed = ADDED_REPLIES.filter((it) => it.operation === id && it.status === status);
  const descriptions = new Set(assumed.map(({ description }) => description));
  const basis = documented
    ? { 'x-mock-basis': 'documented' }
    : assumedBy(...assumed.map(({ ground }) => ground));
  return withoutUndefined({
    description: documented?.description ?? [...descriptions].join(' '),
    ...basis,
    headers: { 'Mock-Basis': ref('headers', 'MockBasis'), ...assumedHeaders(id, status) },
    content: documented ? documentedContent(id, status, documented) : errorContent(id, status),
  });
}

function assumedHeaders(id: OperationId, status: number): Json {
  const headers: Record<string, Json> = {};
  for (const assumption of ASSUMPTION_IDS) {
    const { options, touches } = assumptionShape(assumption);
    if (!touches.includes(id)) continue;
    for (const { name: option, headers: added } of options) {
      if (!added?.statuses.includes(status)) continue;
      const marks = assumedBy(`${assumption}=${option}`);
      for (const [name, description] of Object.entries(added.describe)) {
        headers[name] = { description, ...marks, schema: { type: 'string' } };
      }
    }
  }
  return headers;
}

function assumedBy(...grounds: readonly string[]): Json {
  return { 'x-mock-basis': 'assumed', 'x-mock-assumptions': grounds };
}

function documentedContent(
  id: OperationId,
  status: number,
  { body, bodyNotShown }: DocumentedReply,
): Json | undefined {
  if (bodyNotShown) {
    return {
      ...errorContent(id, status, assumedBy('conflict-body=error')),
      'application/problem+json': {
        ...assumedBy('conflict-body=problem'),
        schema: ref('schemas', 'Problem'),
      },
    };
  }
  if (body === undefined) return undefined;
  if (body.record === 'Error') return errorContent(id, status);
  const schema = ref('schemas', body.record);
  return jsonContent(body.list ? { type: 'array', items: schema } : schema);
}

/** An Error with an example for each code of the reply. */
function errorContent(id: OperationId, status: number, marks: Json = {}): Json {
  const examples = codesOf(id, status).map((code) => [
    code,
    { value: { code, message: code.replaceAll('_', ' '), status } },
  ]);
  return jsonContent(ref('schemas', 'Error'), { ...marks, examples: Object.fromEntries(examples) });
}

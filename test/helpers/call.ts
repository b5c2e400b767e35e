import type { OperationId } from '../../src/contract/operations.ts';
import type { Call } from '../../src/service/input.ts';
import { ReceivedBytes } from '../../src/service/received-body.ts';

/** A call of an operation that says nothing more, but for a body. */
export function callOf(operation: OperationId, body?: Buffer): Call {
  return {
    operation,
    path: '/v1',
    pathId: undefined,
    query: [],
    headers: {},
    authorization: undefined,
    contentType: undefined,
    contentEncoding: undefined,
    body: body === undefined ? { kind: 'none' } : new ReceivedBytes(body),
  };
}

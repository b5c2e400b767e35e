import type { OperationId } from '../../src/core/contract/operations.ts';
import type { ServiceRequest } from '../../src/core/sandbox/exchange.ts';
import { BodyBytes, type Call } from '../../src/core/service/input.ts';

/** A call of an operation that says nothing more, but for a body. */
export function callOf(operation: OperationId, body?: Buffer): Call {
  return {
    operation,
    path: '/v1',
    pathId: undefined,
    query: [],
    headers: [],
    authorization: undefined,
    contentType: undefined,
    contentEncoding: undefined,
    body: body === undefined ? { kind: 'none' } : new BodyBytes(body),
  };
}

/** The request of a call, as the journal records it. */
export function requestOf(call: Call, members: Partial<ServiceRequest> = {}): ServiceRequest {
  const { path: target, authorization } = call;
  return {
    method: 'GET',
    target,
    authorization,
    headers: [],
    origin: undefined,
    call,
    port: undefined,
    receivedAt: 0,
    ...members,
  };
}

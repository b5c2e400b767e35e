import { OPTION_REPLIES } from './assumption-table.ts';
import { OPERATION_IDS, type OperationId, operationShape } from './operations.ts';

export interface PossibleReply {
  readonly operation: OperationId;
  readonly status: number;
  readonly description: string;
  /** The options that lead to it, as `id=option`; none if the document prescribes it. */
  readonly grounds: readonly string[];
}

export const DOCUMENTED_REPLIES: readonly PossibleReply[] = OPERATION_IDS.flatMap((operation) =>
  Object.entries(operationShape(operation).replies).map(([status, { description }]) => ({
    operation,
    status: Number(status),
    description,
    grounds: [],
  })),
);

export const ASSUMED_REPLIES: readonly PossibleReply[] = OPERATION_IDS.flatMap((operation) => {
  const added = OPTION_REPLIES.filter((reply) => reply.operation === operation);
  const statuses = new Set(added.map(({ status }) => status));
  return [...statuses]
    .sort((a, b) => a - b)
    .map((status) => {
      const here = added.filter((reply) => reply.status === status);
      const [{ description = '' } = {}] = here;
      return { operation, status, description, grounds: here.map(({ ground }) => ground) };
    });
});

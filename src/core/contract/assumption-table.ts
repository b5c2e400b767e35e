import { rowNames } from '../tables.ts';
import type { AssumptionShape } from './assumptions/assumption-shape.ts';
import { INPUT, WIRE } from './assumptions/protocol-assumptions.ts';
import { ANIMALS, INVENTORY, ORDERS } from './assumptions/record-assumptions.ts';
import { OPERATION_IDS, type OperationId, operationShape } from './operations.ts';

const TOPICS: Readonly<Record<string, object>> = {
  Input: INPUT,
  Animals: ANIMALS,
  Inventory: INVENTORY,
  Orders: ORDERS,
  'Keys, errors and wire format': WIRE,
};

export const ASSUMPTIONS = { ...INPUT, ...ANIMALS, ...INVENTORY, ...ORDERS, ...WIRE } as const;

/** The id of an assumption, such as `cancel-again`. */
export type AssumptionId = keyof typeof ASSUMPTIONS;

type TableOption<Id extends AssumptionId> = (typeof ASSUMPTIONS)[Id]['options'][number]['name'];

/** An option of an assumption. `rate-limit` also accepts any other rate, such as `5/s`. */
export type AssumptionOption<Id extends AssumptionId> =
  | TableOption<Id>
  | (Id extends 'rate-limit' ? `${number}/${'s' | 'm'}` : never);

export type Choices = { readonly [Id in AssumptionId]: AssumptionOption<Id> };

export const ASSUMPTION_IDS = rowNames(ASSUMPTIONS);

export function assumptionShape(id: AssumptionId): AssumptionShape {
  return ASSUMPTIONS[id];
}

export function assumptionTopic(id: AssumptionId): string {
  return Object.keys(TOPICS).find((topic) => Object.hasOwn(TOPICS[topic] ?? {}, id)) ?? '';
}

export function optionsOf(id: AssumptionId): string[] {
  return assumptionShape(id).options.map(({ name }) => name);
}

/** The replies that options add. `ground` is the option, such as `cancel-again=404`. */
export const OPTION_REPLIES = ASSUMPTION_IDS.flatMap((assumption) => {
  const { replies = {}, touches } = assumptionShape(assumption);
  return optionsOf(assumption).flatMap((option) => {
    const { [option]: reply } = replies;
    if (reply === undefined) return [];
    const ground = `${assumption}=${option}`;
    return touches.map((operation) => ({ ...reply, operation, assumption, option, ground }));
  });
});

const RATE = /^[1-9]\d{0,8}\/[sm]$/;

export function choicePattern(id: AssumptionId): string {
  const names = [...optionsOf(id), ...(id === 'rate-limit' ? [RATE.source.slice(1, -1)] : [])];
  return `(?:${names.join('|')})`;
}

export function isOptionOf<Id extends AssumptionId>(
  id: Id,
  option: string,
): option is AssumptionOption<Id> {
  if (id === 'rate-limit' && RATE.test(option)) return true;
  return ASSUMPTIONS[id].options.some(({ name }) => name === option);
}

export function chooseOptions(overrides: Partial<Choices> = {}): Choices {
  const choices = Object.fromEntries(
    ASSUMPTION_IDS.map((id) => [id, overrides[id] ?? ASSUMPTIONS[id].options[0].name] as const),
  );
  if (!isChoices(choices)) throw new TypeError('an assumption has no such option');
  return choices;
}

export function assumptionState(id: AssumptionId, choices: Choices) {
  const { question, options: all, touches: operations } = assumptionShape(id);
  const options = all.map(({ name, meaning }) => ({ name, meaning }));
  const [topic, chosen, fallback] = [assumptionTopic(id), choices[id], all[0]?.name ?? ''];
  return { id, topic, question, operations, options, chosen, default: fallback };
}

/** The query parameters that an operation reads: documented, or of a chosen option. */
export function queryNames(id: OperationId, choices: Choices): readonly string[] {
  const { parameters, assumedInputs = [] } = operationShape(id);
  const chosen: Readonly<Record<string, string>> = choices;
  const assumed = assumedInputs.filter(({ by, option }) => chosen[by] === option);
  return [...parameters, ...assumed].flatMap((input) => (input.in === 'query' ? input.name : []));
}

function isChoices(choices: Readonly<Record<string, string>>): choices is Choices {
  return ASSUMPTION_IDS.every((id) => isOptionOf(id, choices[id] ?? ''));
}

export interface PossibleReply {
  readonly operation: OperationId;
  readonly status: number;
  readonly description: string;
  /** The options that lead to this reply, as `id=option`; empty if it is documented. */
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

import type { OperationId, Way } from '../operations.ts';

/** What an option adds to the document of the operations that its assumption touches. */
interface Additions {
  readonly reply?: { readonly status: number; readonly description: string; readonly way: Way };
  readonly headers?: {
    readonly statuses: readonly number[];
    readonly describe: Readonly<Record<string, string>>;
  };
}

/** What a client was shown. `by` is a reply whose status an assumption decided. */
export type Sign =
  | OperationId
  | `${OperationId} ${number}`
  | `a ${'call' | 'body' | 401 | 409}`
  | 'an error'
  | `by ${string}`;

export interface AssumptionShape {
  readonly question: string;
  /** The first option is the default. */
  readonly options: readonly ({ readonly name: string; readonly meaning: string } & Additions)[];
  readonly touches: readonly OperationId[];
  /** Any of these shows the choice too, besides a status that it decided; of a nested list, all. */
  readonly seenIn?: readonly (Sign | readonly Sign[])[];
}

export const WITH_BODY = ['createPet', 'updateInventory'] as const;

export function option<const Name extends string>(
  name: Name,
  meaning: string,
  adds: Additions = {},
) {
  return { name, meaning, ...adds };
}

/** A reply with an Error. */
export function addsReply(status: number, description: string, way: Way) {
  return { reply: { status, description, way } } satisfies Additions;
}

export function addsHeaders(
  statuses: readonly number[],
  describe: Readonly<Record<string, string>>,
) {
  return { headers: { statuses, describe } } satisfies Additions;
}

import type { OperationId, Way } from '../operations.ts';

/** Something a client has seen: a call, a reply, or one that an assumption decided (`by`). */
export type Sign =
  | OperationId
  | `${OperationId} ${number}`
  | `a ${'call' | 'body' | 401 | 409}`
  | 'an error'
  | `by ${string}`;

export interface AssumptionShape {
  readonly question: string;
  /** The first option is the default. */
  readonly options: readonly { readonly name: string; readonly meaning: string }[];
  /** The error reply that an option adds to each operation in `touches`. */
  readonly replies?: Readonly<Record<string, ReturnType<typeof addedError>>>;
  readonly headers?: Readonly<Record<string, AddedHeaders>>;
  readonly touches: readonly OperationId[];
  /** Other replies that show a client the chosen option. A nested list means "all of". */
  readonly seenIn?: readonly (Sign | readonly Sign[])[];
}

interface AddedHeaders {
  readonly statuses: readonly number[];
  readonly describe: Readonly<Record<string, string>>;
}

export const WITH_BODY = ['createPet', 'updateInventory'] as const;

export function option<const Name extends string>(name: Name, meaning: string) {
  return { name, meaning };
}

export function addedError(status: number, description: string, way: Way) {
  return { status, description, way };
}

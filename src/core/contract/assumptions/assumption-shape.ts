import type { OperationId, Way } from '../operations.ts';

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
  readonly options: readonly { readonly name: string; readonly meaning: string }[];
  /** The Error that each option adds to the operations that the assumption touches. */
  readonly replies?: Readonly<Record<string, ReturnType<typeof addedError>>>;
  readonly headers?: Readonly<Record<string, AddedHeaders>>;
  readonly touches: readonly OperationId[];
  /** Any of these shows the choice too, besides a status that it decided; of a nested list, all. */
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

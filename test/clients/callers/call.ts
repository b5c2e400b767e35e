/** An id; a bigint beyond 2^53. */
export type Id = number | bigint;

/** One call of an operation, as a client makes it. */
export type Call =
  | { readonly operation: 'listPets'; readonly limit: number; readonly status: string }
  | { readonly operation: 'createPet'; readonly name: string; readonly categoryId: Id }
  | { readonly operation: 'getPet'; readonly petId: Id }
  | { readonly operation: 'listInventory' }
  | { readonly operation: 'updateInventory'; readonly petId: Id; readonly quantity: number }
  | { readonly operation: 'listOrders' }
  | { readonly operation: 'cancelOrder'; readonly orderId: Id };

export interface Service {
  readonly url: string;
  readonly key: string;
  /** Whether the client is set up so that no id loses a digit, or is left as it comes. */
  readonly exact: boolean;
}

/** `body` is undefined if there was none. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export type Caller = (service: Service, call: Call) => Promise<Answer>;

import { ASSUMPTION_IDS, type AssumptionId } from '../../contract/assumption-table.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { Observer } from '../../evidence/observed-exchange.ts';

/** Which assumptions could have changed what a run was shown. */
export class AssumptionTracker {
  readonly #signs = new Set<string>();
  #calls = 0;

  readonly observe: Observer = (_sandbox, { operation, status, basis }) => {
    this.#calls += 1;
    const signs: Sign[] = ['a call'];
    if (operation !== undefined) signs.push(operation, `${operation} ${status ?? 0}`);
    if (status === 401 || status === 409) signs.push(`a ${status}`);
    if (status !== undefined && status >= 400) signs.push('an error');
    if (status !== undefined && status !== 204) signs.push('a body');
    for (const sign of signs) this.#signs.add(sign);
    if (basis.kind !== 'assumed') return;
    for (const by of basis.by) this.#signs.add(by.slice(0, by.indexOf('=')));
  };

  get calls(): number {
    return this.#calls;
  }

  /** The assumptions whose other options could have changed what the client was shown. */
  get assumptions(): AssumptionId[] {
    return ASSUMPTION_IDS.filter((id) =>
      [id, ...SIGNS[id]].some((all) => [all].flat().every((sign) => this.#signs.has(sign))),
    );
  }
}

/** Something that a run saw. The id of an assumption means a reply whose status it decided. */
type Sign =
  | OperationId
  | `${OperationId} ${number}`
  | `a ${'call' | 'body' | 401 | 409}`
  | 'an error'
  | AssumptionId;

/** Any of these signs; a nested list requires all of its signs. */
type Signs = readonly (Sign | readonly Sign[])[];

/**
 * The signs of each assumption: replies that would differ under another option. A reply whose status
 * the assumption decided is always a sign.
 *
 * `check-order` and `rate-limit` have no other sign, although they could replace a documented reply:
 * a client may rely on documented replies, and the number of calls in a second depends on the machine.
 */
const SIGNS: Record<AssumptionId, Signs> = {
  'invalid-input': [],
  'limit-out-of-range': [],
  'status-filter': [],
  'animal-status-values': ['status-filter'],
  'name-limits': [],
  'id-on-create': [],
  'unknown-body-fields': [],
  'unknown-query': [],
  'negative-quantity': [],
  'media-type': [],
  'body-limit': [],
  'check-order': [],
  'unknown-pet': [],
  'pets-order': ['listPets 200'],
  'pets-paging': ['listPets 200'],
  'created-status': ['createPet 201'],
  'assigned-ids': ['createPet 201'],
  'deprecation-headers': ['getPet'],
  'after-sunset': [],
  'inventory-on-create': [
    ['createPet 201', 'listInventory'],
    ['createPet 201', 'updateInventory'],
  ],
  'inventory-missing-entry': [],
  'inventory-status': ['updateInventory 200'],
  'animal-follows-stock': [
    ['updateInventory 200', 'listPets'],
    ['updateInventory 200', 'getPet'],
  ],
  'order-status-field': ['listOrders 200'],
  'cancelled-orders': ['listOrders 200'],
  'cancel-again': [],
  'conflict-body': ['a 409'],
  'order-shipping': ['listOrders 200'],
  'cancel-restocks': [['cancelOrder 204', 'listInventory']],
  'read-only-keys': [],
  'auth-challenge': ['a 401'],
  'error-codes': ['an error'],
  'rate-limit': [],
  'unknown-method': [],
  'absent-optionals': ['listPets 200', 'listOrders 200', 'createPet 201', 'getPet 200'],
  'date-format': ['listOrders 200'],
  'json-charset': ['a body'],
  cors: ['a call'],
};

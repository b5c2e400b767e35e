import { ASSUMPTION_IDS, type AssumptionId } from '../../contract/assumption-table.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { Observer } from '../../evidence/journal.ts';

/** Which assumptions a run touched: those that could have changed its replies. */
export class Touched {
  readonly #noted = new Set<string>();
  readonly #answered = new Map<OperationId, Set<number>>();
  readonly #statuses = new Set<number>();
  #calls = 0;

  readonly observe: Observer = (_sandbox, { operation, status, basis }) => {
    this.#calls += 1;
    if (basis.kind === 'assumed') {
      for (const by of basis.by) this.#noted.add(by.slice(0, by.indexOf('=')));
    }
    if (status !== undefined) this.#statuses.add(status);
    if (operation === undefined) return;
    const statuses = this.#answered.get(operation) ?? new Set();
    if (status !== undefined) statuses.add(status);
    this.#answered.set(operation, statuses);
  };

  /** The assumptions whose other options could have changed what the client was shown. */
  get assumptions(): AssumptionId[] {
    return ASSUMPTION_IDS.filter((id) => RULES[id](this, id));
  }

  get calls(): number {
    return this.#calls;
  }

  /** Whether another option would have changed the status of a reply. */
  noted(id: AssumptionId): boolean {
    return this.#noted.has(id);
  }

  used(...operations: readonly OperationId[]): boolean {
    return operations.some((it) => this.#answered.has(it));
  }

  answered(operation: OperationId, status: number): boolean {
    return this.#answered.get(operation)?.has(status) ?? false;
  }

  saw(isMeant: (status: number) => boolean): boolean {
    return [...this.#statuses].some(isMeant);
  }
}

type Rule = (run: Touched, id: AssumptionId) => boolean;

const noted: Rule = (run, id) => run.noted(id);
const listedAnimals: Rule = (run) => run.answered('listPets', 200);
const listedOrders: Rule = (run) => run.answered('listOrders', 200);
const created: Rule = (run) => run.answered('createPet', 201);
const restocked: Rule = (run) => run.answered('updateInventory', 200);
const always: Rule = (run) => run.calls > 0;

/**
 * When an assumption is touched. One that decides a status is noted with the reply, under each of
 * its options; one that changes what a reply carries is touched by each such reply.
 *
 * Two could turn a documented reply into another one, and count only where they were noted: a client
 * may rely on what is documented. A key that is missing yields 401, so `check-order` is touched by
 * what else bars a bad input. And how fast a command calls is a matter of the machine it runs on, so
 * `rate-limit` is touched by a 429, not by many calls.
 */
const RULES: Record<AssumptionId, Rule> = {
  'invalid-input': noted,
  'limit-out-of-range': noted,
  'status-filter': noted,
  'animal-status-values': (run, id) => run.noted(id) || run.noted('status-filter'),
  'name-limits': noted,
  'id-on-create': noted,
  'unknown-body-fields': noted,
  'unknown-query': noted,
  'negative-quantity': noted,
  'media-type': noted,
  'body-limit': noted,
  'check-order': noted,
  'unknown-pet': noted,
  'pets-order': listedAnimals,
  'pets-paging': listedAnimals,
  'created-status': created,
  'assigned-ids': created,
  'deprecation-headers': (run) => run.used('getPet'),
  'after-sunset': noted,
  'inventory-on-create': (run, id) =>
    created(run, id) && run.used('listInventory', 'updateInventory'),
  'inventory-missing-entry': noted,
  'inventory-status': restocked,
  'animal-follows-stock': (run, id) => restocked(run, id) && run.used('listPets', 'getPet'),
  'order-status-field': listedOrders,
  'cancelled-orders': listedOrders,
  'cancel-again': noted,
  'conflict-body': (run) => run.saw((status) => status === 409),
  'order-shipping': (run, id) => run.noted(id) || listedOrders(run, id),
  'cancel-restocks': (run) => run.answered('cancelOrder', 204) && run.used('listInventory'),
  'read-only-keys': noted,
  'auth-challenge': (run) => run.saw((status) => status === 401),
  'error-codes': (run) => run.saw((status) => status >= 400),
  'rate-limit': noted,
  'unknown-method': noted,
  'absent-optionals': (run, id) =>
    listedAnimals(run, id) ||
    listedOrders(run, id) ||
    created(run, id) ||
    run.answered('getPet', 200),
  'date-format': listedOrders,
  'json-charset': (run) => run.saw((status) => status !== 204),
  cors: always,
};

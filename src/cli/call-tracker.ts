import {
  ASSUMPTION_IDS,
  type AssumptionId,
  assumptionShape,
} from '../core/contract/assumption-table.ts';
import type { Sign } from '../core/contract/assumptions/assumption-shape.ts';
import type { OperationId } from '../core/contract/operations.ts';
import type { Exchange } from '../core/sandbox/exchange.ts';

/** Counts the calls of a run, and notes what they have shown of assumptions. */
export class CallTracker {
  calls = 0;
  /** Replies that a scenario or the request itself asked for. */
  forced = 0;
  readonly counts = new Map<OperationId, number>();
  /** The first call of each operation that succeeded, counted from 1. */
  readonly succeeded = new Map<OperationId, number>();
  readonly #signs = new Set<Sign>();

  add({ operation, status, basis }: Exchange): void {
    this.calls += 1;
    this.#signs.add('a call');
    if (operation !== undefined) {
      const count = (this.counts.get(operation) ?? 0) + 1;
      this.counts.set(operation, count);
      const isSuccess = status !== undefined && status < 300;
      if (isSuccess && !this.succeeded.has(operation)) this.succeeded.set(operation, count);
      this.#signs.add(operation).add(`${operation} ${status ?? 0}`);
    }
    if (status === 401 || status === 409) this.#signs.add(`a ${status}`);
    if (status !== undefined && status >= 400) this.#signs.add('an error');
    if (status !== undefined && status !== 204) this.#signs.add('a body');
    if (basis.kind === 'forced') this.forced += 1;
    if (basis.kind !== 'assumed') return;
    for (const ground of basis.by) this.#signs.add(`by ${ground.slice(0, ground.indexOf('='))}`);
  }

  /** The assumptions whose other options could have changed what the client was shown. */
  get assumptions(): AssumptionId[] {
    const isSeen = (sign: Sign): boolean => this.#signs.has(sign);
    return ASSUMPTION_IDS.filter((id) => {
      const signs = [`by ${id}`, ...(assumptionShape(id).seenIn ?? [])] as const;
      return signs.some((sign) => (typeof sign === 'string' ? isSeen(sign) : sign.every(isSeen)));
    });
  }
}

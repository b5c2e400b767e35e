import type { OperationId } from '../contract/operations.ts';
import type { Basis } from '../service/reply.ts';
import type { Exchange } from './exchange.ts';
import type { ServerContext } from './sandbox.ts';

/** Durations in ascending order, in seconds. Longer ones are counted in a last class of their own. */
export const DURATION_BOUNDS = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30] as const;

/** How often exchanges of an operation ended alike. */
interface EndingCount {
  /** Undefined if the client was sent no reply. */
  readonly status: number | undefined;
  readonly basis: Basis['kind'] | undefined;
  count: number;
}

/** The exchanges of one operation, or those without an operation. */
export class OperationMeter {
  /** For each bound, what took at most as long and longer than the bound before; then the rest. */
  readonly counts: number[] = Array.from({ length: DURATION_BOUNDS.length + 1 }, () => 0);
  /** How long all took, in seconds. */
  seconds = 0;
  /** Few: there are a handful of statuses and four kinds of basis. */
  readonly endings: EndingCount[] = [];

  add({ status, basis: { kind }, duration }: Exchange): void {
    const seconds = duration / 1000;
    const first = DURATION_BOUNDS.findIndex((bound) => seconds <= bound);
    const at = first < 0 ? DURATION_BOUNDS.length : first;
    this.counts[at] = (this.counts[at] ?? 0) + 1;
    this.seconds += seconds;
    const basis = status === undefined ? undefined : kind;
    const known = this.endings.find((it) => it.status === status && it.basis === basis);
    if (known === undefined) this.endings.push({ status, basis, count: 1 });
    else known.count += 1;
  }
}

/** Counts the exchanges that a server answers, whatever their sandbox. */
export class Meter {
  readonly operations = new Map<OperationId | undefined, OperationMeter>();

  constructor(events: ServerContext['events']) {
    events.add(({ kind, exchange }) => {
      if (kind !== 'exchange') return;
      const meter = this.operations.get(exchange.operation) ?? new OperationMeter();
      this.operations.set(exchange.operation, meter);
      meter.add(exchange);
    });
  }
}

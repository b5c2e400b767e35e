import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { DURATION_BOUNDS, type Durations, type LogMeter, type Meter } from '../evidence/meter.ts';

/** What metrics tell about. */
export interface Measured {
  readonly exchanges: Meter;
  readonly log: LogMeter;
  readonly sandboxes: number;
}

/** Writes the metrics of a server in the text format of Prometheus. */
export function metricsText({ exchanges, log, sandboxes }: Measured): Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  const count = (name: string, help: string, value: number) =>
    new Counter({ name: `petstore_mock_${name}`, help, registers }).inc(value);
  const show = (name: string, help: string, value: number) =>
    new Gauge({ name: `petstore_mock_${name}`, help, registers }).set(value);

  const ended = new Counter({
    name: 'petstore_mock_exchanges_total',
    help: 'Exchanges that this server has answered.',
    labelNames: ['operation', 'status', 'basis'],
    registers,
  });
  const took = new CountedDurations({
    name: 'petstore_mock_exchange_duration_seconds',
    help: 'Time from a request to its reply, delays included.',
    registers,
  });
  for (const [operation = 'none', { durations, endings }] of exchanges.operations) {
    took.counted.push({ labels: { operation }, durations });
    for (const { status = 'none', basis = 'none', count: times } of endings) {
      ended.inc({ operation, status, basis }, times);
    }
  }
  show('sandboxes', 'Sandboxes that this server has in memory.', sandboxes);
  const appends = new CountedDurations({
    name: 'petstore_mock_log_append_duration_seconds',
    help: 'Time that appends to change logs took. Requests that wait together share one.',
    registers,
  });
  appends.counted.push({ labels: {}, durations: log.appends });
  count('log_changes_total', 'Changes that change logs have taken.', log.changes);
  count(
    'log_conflicts_total',
    'Appends that the change of another server preceded.',
    log.conflicts,
  );
  count('log_failures_total', 'Appends and reads that failed.', log.failures);
  show('log_lag_changes', 'Changes that the latest append or read was behind.', log.behind);
  return registry.metrics();
}

interface Counted {
  readonly labels: { readonly operation?: string };
  readonly durations: Durations;
}

/** A histogram of what was counted elsewhere: its own `observe` would cost each request more. */
class CountedDurations extends Histogram<'operation'> {
  readonly counted: Counted[] = [];
  // The types of prom-client leave these out.
  declare readonly name: string;
  declare readonly help: string;

  /** What a registry writes for a histogram. */
  getForPromString() {
    const { name, help } = this;
    const values = this.counted.flatMap(({ labels, durations: { counts, sum } }) => {
      let count = 0;
      const buckets = counts.map((more, index) => {
        count += more;
        const le = DURATION_BOUNDS[index] ?? '+Inf';
        return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    });
    return { name, help, type: 'histogram', values };
  }
}

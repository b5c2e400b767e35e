import { DURATION_BOUNDS, type OperationMeter } from '../sandbox/meter.ts';
import type { Sandboxes } from '../sandbox/sandboxes.ts';

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** What follows the name of a metric: a suffix and labels, then a value. */
type Sample = readonly [name: string, value: number];

export function writeMetrics({ meter, size }: Sandboxes): string {
  const endings: Sample[] = [];
  const durations: Sample[] = [];
  for (const [operation = 'none', exchanges] of meter.operations) {
    durations.push(...createHistogram(exchanges, { operation }));
    for (const { status = 'none', basis = 'none', count } of exchanges.endings) {
      endings.push([writeLabels({ operation, status, basis }), count]);
    }
  }
  const metrics: readonly (readonly [typed: string, help: string, samples: readonly Sample[]])[] = [
    ['exchanges_total counter', 'Exchanges that this server has answered.', endings],
    ['exchange_duration_seconds histogram', 'Time to a reply, delays included.', durations],
    ['sandboxes gauge', 'Sandboxes that this server has in memory.', [['', size]]],
  ];
  const lines = metrics.flatMap(([typed, help, samples]) => {
    const name = `petstore_mock_${typed.replace(/ .*/, '')}`;
    const values = samples.map(([suffix, value]) => `${name}${suffix} ${value}`);
    return [`# HELP ${name} ${help}`, `# TYPE petstore_mock_${typed}`, ...values];
  });
  return `${lines.join('\n')}\n`;
}

/** Labels hold no character that needs an escape. */
type Labels = Readonly<Record<string, string | number>>;

function createHistogram({ counts, seconds }: OperationMeter, labels: Labels): readonly Sample[] {
  let count = 0;
  const buckets = counts.map((more, index): Sample => {
    count += more;
    return [`_bucket${writeLabels({ le: DURATION_BOUNDS[index] ?? '+Inf', ...labels })}`, count];
  });
  return [
    ...buckets,
    [`_sum${writeLabels(labels)}`, seconds],
    [`_count${writeLabels(labels)}`, count],
  ];
}

function writeLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

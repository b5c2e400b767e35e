import { DURATION_BOUNDS, type Durations } from '../evidence/meter.ts';
import { serviceOpenApi } from '../openapi/service-openapi.ts';
import { packageVersion } from '../package.ts';
import type { Sandboxes } from '../sandbox/sandboxes.ts';
import { object, required } from '../shape/objects.ts';
import { ANY_TEXT, choice } from '../shape/shapes.ts';
import { controlOpenApi } from './control-openapi.ts';
import { ANY_OBJECT } from './control-shapes.ts';
import {
  type Endpoint,
  type EndpointDefinition,
  endpoint,
  json,
  ofType,
  refuse,
  serviceUrl,
  type Tag,
} from './endpoint.ts';
import { HOLD_ENDPOINTS } from './journal/hold-endpoints.ts';
import { COVERAGE_ENDPOINTS, REQUEST_ENDPOINTS } from './journal/journal-endpoints.ts';
import { RECORD_ENDPOINTS } from './records/record-endpoints.ts';
import { SANDBOX_ENDPOINTS } from './state/sandbox-endpoints.ts';
import { SCENARIO_ENDPOINTS } from './state/scenario-endpoints.ts';
import {
  ASSUMPTION_ENDPOINTS,
  CLOCK_ENDPOINTS,
  STATUS_ENDPOINTS,
  UPSTREAM_ENDPOINTS,
} from './state/settings-endpoints.ts';
import { SNAPSHOT_ENDPOINTS, STATE_ENDPOINTS } from './state/state-endpoints.ts';

const HEALTH = object({
  status: required(choice(['ok']), 'Always `ok`: a server that is not ready does not answer.'),
  version: required(ANY_TEXT, 'The version of petstore-mock.'),
});

const PEM = 'application/x-pem-file';

/** The text format of Prometheus. */
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

const DOCUMENT = { 200: ['The document.', ANY_OBJECT] } as const;

const MOCK_ENDPOINTS: readonly EndpointDefinition[] = [
  endpoint('getHealth', 'get /health', {
    summary: 'Check that the mock is ready',
    open: true,
    replies: {
      200: ['The mock is ready.', HEALTH],
      503: 'The mock cannot reach the Redis of `--shared`.',
    },
    handle: ({ parts }) => {
      const problem = parts.problem?.();
      if (problem !== undefined) return refuse('service_unavailable', 503, problem);
      return json({ status: 'ok', version: packageVersion() });
    },
  }),
  endpoint('getCertificate', 'get /certificate.pem', {
    summary: 'Read the certificate of the server, for clients to trust',
    open: true,
    replies: {
      200: ['The certificate.', ANY_TEXT, { mediaType: PEM }],
      404: 'The server speaks plain HTTP.',
    },
    handle: ({ parts: { certificate } }) =>
      certificate === undefined
        ? refuse('route_not_found', 404, 'this server speaks plain HTTP: start it with --tls')
        : ofType(PEM, certificate),
  }),
  endpoint('getMetrics', 'get /metrics', {
    summary: 'Read the metrics of this server in the text format of Prometheus',
    description:
      'Exchanges are counted from the first call on, or from the start with `--metrics`.',
    defaultOnly: true,
    replies: { 200: ['The metrics.', ANY_TEXT, { mediaType: METRICS_TYPE }] },
    handle: ({ parts: { sandboxes } }) => ofType(METRICS_TYPE, metricsText(sandboxes)),
  }),
  endpoint('getServiceDocument', 'get /service.openapi.json', {
    summary: 'Read the OpenAPI document of the service',
    replies: DOCUMENT,
    handle: ({ url }) =>
      json(serviceOpenApi({ serverUrl: serviceUrl(url), version: packageVersion() })),
  }),
  endpoint('getControlDocument', 'get /openapi.json', {
    summary: 'Read the OpenAPI document of the control API',
    replies: DOCUMENT,
    handle: ({ url, sandbox, parts }) => {
      const isDefault = sandbox === parts.sandboxes.default;
      const endpoints = ENDPOINTS.filter(({ defaultOnly }) => isDefault || defaultOnly !== true);
      return json(controlOpenApi(endpoints, { serverUrl: url, version: packageVersion() }));
    },
  }),
];

/** The whole control API. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...tagged('Mock', [...MOCK_ENDPOINTS, ...STATUS_ENDPOINTS]),
  ...tagged('State', STATE_ENDPOINTS),
  ...tagged('Records', RECORD_ENDPOINTS),
  ...tagged('Snapshots', SNAPSHOT_ENDPOINTS),
  ...tagged('Scenarios', SCENARIO_ENDPOINTS),
  ...tagged('Assumptions', ASSUMPTION_ENDPOINTS),
  ...tagged('Clock', CLOCK_ENDPOINTS),
  ...tagged('Journal', [...REQUEST_ENDPOINTS, ...HOLD_ENDPOINTS, ...COVERAGE_ENDPOINTS]),
  ...tagged('Sandboxes', SANDBOX_ENDPOINTS),
  ...tagged('Upstream', UPSTREAM_ENDPOINTS),
];

function tagged(tag: Tag, endpoints: readonly EndpointDefinition[]): Endpoint[] {
  return endpoints.map((it) => ({ ...it, tag }));
}

/** Labels hold no character that needs an escape. */
type Labels = Readonly<Record<string, string | number>>;

/** What follows the name of a metric: a suffix and labels, then a value. */
type Sample = readonly [name: string, value: number];

/** The metrics of a server. */
function metricsText({ meter, logMeter: log, size }: Sandboxes): string {
  const endings: Sample[] = [];
  const durations: Sample[] = [];
  for (const [operation = 'none', exchanges] of meter.operations) {
    durations.push(...histogram(exchanges.durations, { operation }));
    for (const { status = 'none', basis = 'none', count } of exchanges.endings) {
      endings.push([labelled({ operation, status, basis }), count]);
    }
  }
  const metrics: readonly (readonly [name: string, help: string, samples: readonly Sample[]])[] = [
    ['exchanges_total counter', 'Exchanges that this server has answered.', endings],
    ['exchange_duration_seconds histogram', 'Time to a reply, delays included.', durations],
    ['sandboxes gauge', 'Sandboxes that this server has in memory.', [['', size]]],
    ['log_append_duration_seconds histogram', 'Time of an append.', histogram(log.appends, {})],
    ['log_changes_total counter', 'Changes that change logs have taken.', [['', log.changes]]],
    ['log_conflicts_total counter', 'Appends behind another server.', [['', log.conflicts]]],
    ['log_failures_total counter', 'Appends and reads that failed.', [['', log.failures]]],
    ['log_lag_changes gauge', 'Changes that the latest read was behind.', [['', log.behind]]],
  ];
  return metrics
    .map(([name, help, samples]) => metricText(`petstore_mock_${name}`, help, samples))
    .join('');
}

/** @param typed the name and the type of a metric */
function metricText(typed: string, help: string, samples: readonly Sample[]): string {
  const [name = ''] = typed.split(' ');
  const lines = samples.map(([suffix, value]) => `${name}${suffix} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${typed}\n${lines.join('')}`;
}

function histogram({ counts, sum }: Durations, labels: Labels): readonly Sample[] {
  let count = 0;
  const buckets = counts.map((more, index): Sample => {
    count += more;
    return [`_bucket${labelled({ le: DURATION_BOUNDS[index] ?? '+Inf', ...labels })}`, count];
  });
  return [...buckets, [`_sum${labelled(labels)}`, sum], [`_count${labelled(labels)}`, count]];
}

function labelled(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`);
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

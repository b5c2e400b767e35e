import { serviceOpenApi } from '../openapi/service-openapi.ts';
import { packageVersion } from '../package.ts';
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
import { METRICS_TYPE, metricsText } from './metrics.ts';
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

import { serviceOpenApi } from '../contract/service-openapi.ts';
import { packageVersion } from '../package.ts';
import { object, required } from '../shape/objects.ts';
import { ANY, ANY_TEXT, choice, type Shape } from '../shape/shapes.ts';
import { controlOpenApi } from './control-openapi.ts';
import { ERROR } from './control-shapes.ts';
import { type Endpoint, json, refuse, serviceUrl } from './endpoint.ts';
import { COVERAGE_ENDPOINTS } from './journal/coverage-endpoints.ts';
import { REQUEST_ENDPOINTS } from './journal/request-endpoints.ts';
import { RECORD_ENDPOINTS } from './records/record-endpoints.ts';
import { ASSUMPTION_ENDPOINTS } from './state/assumption-endpoints.ts';
import { CLOCK_ENDPOINTS } from './state/clock-endpoints.ts';
import { SANDBOX_ENDPOINTS } from './state/sandbox-endpoints.ts';
import { SCENARIO_ENDPOINTS } from './state/scenario-endpoints.ts';
import { SCENARIO_TEXT_ENDPOINTS } from './state/scenario-text-endpoints.ts';
import { SNAPSHOT_ENDPOINTS } from './state/snapshot-endpoints.ts';
import { STATE_ENDPOINTS } from './state/state-endpoints.ts';

const HEALTH = object({
  status: required(choice(['ok']), 'Always `ok`: a server that is not ready does not answer.'),
  version: required(ANY_TEXT, 'The version of petstore-mock.'),
});

const PEM = 'application/x-pem-file';

const DOCUMENT: Shape<unknown> = { ...ANY, schema: { type: 'object' } };

const MOCK_ENDPOINTS: readonly Endpoint[] = [
  {
    id: 'getHealth',
    method: 'get',
    path: '/health',
    tag: 'Mock',
    summary: 'Check that the mock is ready',
    open: true,
    replies: {
      200: { description: 'The mock is ready.', shape: HEALTH },
    },
    handle: () => json({ status: 'ok', version: packageVersion() }),
  },
  {
    id: 'getCertificate',
    method: 'get',
    path: '/certificate.pem',
    tag: 'Mock',
    summary: 'Read the certificate of the server, for clients to trust',
    open: true,
    replies: {
      200: { description: 'The certificate.', shape: ANY_TEXT, mediaType: PEM },
      404: { description: 'The server speaks plain HTTP.', shape: ERROR },
    },
    handle: ({ parts: { certificate } }) =>
      certificate === undefined
        ? refuse('route_not_found', 404, 'this server speaks plain HTTP: start it with --tls')
        : {
            status: 200,
            body: { kind: 'stream', mediaType: PEM, open: (reply) => reply.end(certificate) },
          },
  },
  {
    id: 'getServiceDocument',
    method: 'get',
    path: '/service.openapi.json',
    tag: 'Mock',
    summary: 'Read the OpenAPI document of the service',
    replies: { 200: { description: 'The document.', shape: DOCUMENT } },
    handle: ({ url }) =>
      json(serviceOpenApi({ serverUrl: serviceUrl(url), version: packageVersion() })),
  },
  {
    id: 'getControlDocument',
    method: 'get',
    path: '/openapi.json',
    tag: 'Mock',
    summary: 'Read the OpenAPI document of the control API',
    replies: { 200: { description: 'The document.', shape: DOCUMENT } },
    handle: ({ url, sandbox, parts }) => {
      const isDefault = sandbox === parts.sandboxes.default;
      const endpoints = ENDPOINTS.filter(({ defaultOnly }) => isDefault || defaultOnly !== true);
      return json(controlOpenApi(endpoints, { serverUrl: url, version: packageVersion() }));
    },
  },
];

/** The whole control API. */
export const ENDPOINTS: readonly Endpoint[] = [
  ...MOCK_ENDPOINTS,
  ...STATE_ENDPOINTS,
  ...RECORD_ENDPOINTS,
  ...SNAPSHOT_ENDPOINTS,
  ...SCENARIO_ENDPOINTS,
  ...SCENARIO_TEXT_ENDPOINTS,
  ...ASSUMPTION_ENDPOINTS,
  ...CLOCK_ENDPOINTS,
  ...REQUEST_ENDPOINTS,
  ...COVERAGE_ENDPOINTS,
  ...SANDBOX_ENDPOINTS,
];

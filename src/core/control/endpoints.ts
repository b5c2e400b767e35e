import { object, optional, required } from '../shape/objects.ts';
import { ANY_TEXT, choice } from '../shape/shapes.ts';
import { type Endpoint, type EndpointTypes, endpoint, type TaggedEndpoint } from './endpoint.ts';
import { JOURNAL_ENDPOINTS } from './journal/journal-endpoints.ts';
import { ANY_OBJECT, json, refuse } from './reply.ts';
import { SANDBOX_ENDPOINTS } from './sandbox-endpoints.ts';
import { SCENARIO_ENDPOINTS } from './settings/scenario-endpoints.ts';
import {
  ASSUMPTION_ENDPOINTS,
  CLOCK_ENDPOINTS,
  STATUS_ENDPOINT,
} from './settings/settings-endpoints.ts';
import { RECORD_ENDPOINTS } from './store/record-endpoints.ts';
import { SNAPSHOT_ENDPOINTS, STATE_ENDPOINTS } from './store/store-endpoints.ts';

const HEALTH = object({
  status: required(choice(['ok']), 'Always `ok`: a server that is not ready does not answer.'),
  version: required(ANY_TEXT, 'The version of petstore-mock.'),
  notice: optional(ANY_TEXT, 'What happened in the last minute, such as that Redis lost its data.'),
});

const PEM = 'application/x-pem-file';

const MOCK_ENDPOINTS = [
  endpoint('getHealth', 'GET /health', {
    summary: 'Check that the mock is ready',
    unguarded: true,
    replies: { 200: HEALTH, 503: 'What keeps the sandboxes cannot be reached.' },
    handle: async ({ parts }) => {
      const problem = parts.persistence.problem;
      if (problem !== undefined) return refuse('service_unavailable', 503, problem);
      const { notice } = parts.persistence;
      return json({ status: 'ok', version: parts.version, notice });
    },
  }),
  endpoint('getCertificate', 'GET /certificate.pem', {
    summary: 'Read the certificate of the server, for clients to trust',
    unguarded: true,
    replies: { 200: ANY_TEXT, 404: 'The server speaks plain HTTP.' },
    mediaType: PEM,
    handle: async ({ parts: { certificate } }) =>
      certificate === undefined
        ? refuse('route_not_found', 404, 'this server speaks plain HTTP: start it with --tls')
        : { status: 200, mediaType: PEM, content: certificate },
  }),
  endpoint('getServiceDocument', 'GET /service.openapi.json', {
    summary: 'Read the OpenAPI document of the service',
    replies: { 200: ANY_OBJECT },
  }),
  endpoint('getControlDocument', 'GET /openapi.json', {
    summary: 'Read the OpenAPI document of the control API',
    replies: { 200: ANY_OBJECT },
  }),
  STATUS_ENDPOINT,
];

type TopicRow = readonly [description: string, rows: readonly Endpoint[]];

const TOPICS = {
  Mock: ['The mock itself.', MOCK_ENDPOINTS],
  State: ['All records of a sandbox at once.', STATE_ENDPOINTS],
  Records: ['Single records of a sandbox, and lists of them.', RECORD_ENDPOINTS],
  Snapshots: ['Saved copies of the store.', SNAPSHOT_ENDPOINTS],
  Scenarios: ['Files that force states and replies.', SCENARIO_ENDPOINTS],
  Assumptions: ['The open questions, and the chosen options.', ASSUMPTION_ENDPOINTS],
  Clock: ['The clock of a sandbox.', CLOCK_ENDPOINTS],
  Journal: ['The exchanges, and what they show about the client.', JOURNAL_ENDPOINTS],
  Sandboxes: ['Isolated copies of the service on one server.', SANDBOX_ENDPOINTS],
} as const;

/** All endpoints that clients know. A server without some feature lacks those of that feature. */
export const ENDPOINTS: readonly TaggedEndpoint[] = Object.entries<TopicRow>(TOPICS).flatMap(
  ([name, [description, rows]]) => rows.map((row) => ({ ...row, tag: { name, description } })),
);

type TypesOf<Row> = Row extends Endpoint<infer Types extends EndpointTypes> ? Types : never;

export type ControlApi = {
  readonly [Types in TypesOf<
    (typeof TOPICS)[keyof typeof TOPICS][1][number]
  > as Types['route']]: Types;
};

import { replyObject, sharedName, sharedReplies, statusesOf } from './openapi-replies.ts';
import {
  bodyExample,
  EXAMPLE_ID,
  type Json,
  jsonContent,
  ref,
  schemas,
  withoutUndefined,
} from './openapi-schemas.ts';
import {
  BASE_PATH,
  OPERATION_IDS,
  type OperationId,
  type OperationShape,
  operationShape,
} from './operations.ts';
import { FIELD_TYPES } from './records.ts';

/** The version that the interface description carries, whatever the mock's own is. */
const INTERFACE_VERSION = '1.0.0';

const DESCRIPTION = `The pet store service, as \`petstore-mock\` answers for it.

A reply with \`x-mock-basis: documented\` is one that the interface document prescribes. One with \`x-mock-basis: assumed\` fills a gap in it: \`x-mock-assumptions\` names the assumptions and the options that lead to it. The same marks on a header or a body tell where only that is assumed. \`x-seen-values\` are values that the document has seen in a list it calls incomplete.`;

const TAGS: Readonly<Record<OperationShape['tag'], string>> = {
  Animals: 'The animals of the store.',
  Inventory: 'How many of each animal are in stock.',
  Orders: 'What has been ordered, until it ships.',
};

/**
 * Makes the OpenAPI 3.1 document of the service from the contract's tables. It is plain JSON.
 *
 * Replies that several operations share word for word stand under `components`, so that code
 * generators make one type of each. An assumed reply is there with all options that can lead to
 * it, whether or not they are chosen, so that the document is the same for every run.
 *
 * @param options.serverUrl where the service is mounted, `/v1` included
 * @param options.version the mock's own version
 */
export function serviceOpenApi(options: { serverUrl: string; version: string }): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pet store service',
      version: INTERFACE_VERSION,
      description: DESCRIPTION,
      contact: { name: 'petstore-mock' },
      license: { name: 'MIT', identifier: 'MIT' },
      'x-mock-version': options.version,
    },
    servers: servers(options.serverUrl),
    security: [{ apiKey: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: paths(),
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key. How one is issued is not documented.',
        },
      },
      headers: {
        MockBasis: {
          description: 'What the reply rests on, a structured field (RFC 9651); not with --plain.',
          schema: { type: 'string', examples: ['documented', 'assumed;by="cancel-again=409"'] },
        },
      },
      responses: sharedReplies(),
      schemas: schemas(),
    },
  };
}

/** The given server first, then the staging deployment beside it. */
function servers(serverUrl: string): Json[] {
  const url = serverUrl.replace(/\/+$/, '');
  const base = url.endsWith(BASE_PATH) ? url.slice(0, -BASE_PATH.length) : url;
  const staging = `${base.replace(/\/~[^/]*$/, '')}/~staging${BASE_PATH}`;
  const deployments = [{ url: staging, description: 'Staging.' }];
  if (url !== staging) deployments.unshift({ url, description: 'The mock.' });
  return deployments;
}

function paths(): Json {
  const items: Record<string, Record<string, Json>> = {};
  for (const id of OPERATION_IDS) {
    const { method, path } = operationShape(id);
    items[path] = { ...items[path], [method.toLowerCase()]: operationObject(id) };
  }
  return items;
}

function operationObject(id: OperationId): Json {
  const { tag, summary, description, parameters, body, sunset, stability } = operationShape(id);
  const responses = statusesOf(id).map((status) => {
    const name = sharedName(id, status);
    return [status, name === undefined ? replyObject(id, status) : ref('responses', name)];
  });
  return withoutUndefined({
    operationId: id,
    tags: [tag],
    summary,
    description,
    deprecated: sunset === undefined ? undefined : true,
    'x-sunset': sunset,
    'x-stability': stability,
    parameters: parameters.map(({ type, minimum, maximum, default: fallback, ...parameter }) => {
      const bounds = withoutUndefined({ minimum, maximum, default: fallback });
      const schema = { ...FIELD_TYPES[type].schema, ...bounds };
      const inPath = parameter.in === 'path';
      return { ...parameter, required: inPath, schema, ...(inPath && { example: EXAMPLE_ID }) };
    }),
    requestBody: body && {
      required: true,
      content: jsonContent(ref('schemas', body.name), { example: bodyExample(id) }),
    },
    responses: Object.fromEntries(responses),
  });
}

import type { Json } from './json.ts';
import { replyObject, sharedName, sharedReplies, statusesOf } from './openapi-replies.ts';
import {
  bodyExample,
  EXAMPLE_ID,
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

/** The version of the interface description, not of the mock. */
const INTERFACE_VERSION = '1.0.0';

const DESCRIPTION = `The pet store service, as \`petstore-mock\` answers for it.

The interface document prescribes replies with \`x-mock-basis: documented\`. Replies with \`x-mock-basis: assumed\` fill gaps in it: \`x-mock-assumptions\` names the assumptions and options that lead to them. On a header or a body, the same marks mean that only this part is assumed. \`x-seen-values\` are values that the document has seen; it calls their list incomplete.`;

const TAGS: Readonly<Record<OperationShape['tag'], string>> = {
  Animals: 'The animals of the store.',
  Inventory: 'The stock of each animal.',
  Orders: 'The orders of the store.',
};

/**
 * Makes the OpenAPI 3.1 document of the service, as plain JSON.
 *
 * Replies that operations share are under `components`, so that code generators make one type of
 * each. Assumed replies list all options that can lead to them, chosen or not, so that the document
 * is the same for every run.
 *
 * @param options.serverUrl the URL of the service, including `/v1`
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
          description:
            'What the reply rests on; a structured field (RFC 9651). Absent with --plain.',
          schema: { type: 'string', examples: ['documented', 'assumed;by="cancel-again=409"'] },
        },
      },
      responses: sharedReplies(),
      schemas: schemas(),
    },
  };
}

/** The given server and the staging deployment. */
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

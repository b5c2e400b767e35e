import { type Json, jsonContent, ref } from '../contract/openapi-schemas.ts';
import { type Endpoint, type ReplyShape, TAGS } from './endpoint.ts';
import { controlSchemas } from './schemas.ts';

const DESCRIPTION = `What is asked of \`petstore-mock\` itself, not of the service that it stands in for.

There is one for each sandbox: at \`/__mock\` for the default one and at \`/~NAME/__mock\` for another, which comes into being at its first use. Ids are int64, and exact. A refused change changes nothing.

Where the mock listens on loopback only, no token is needed; else the one that it was given or has printed at its start.`;

const PARAMETER = /\{(\w+)\}/g;

/**
 * Makes the OpenAPI 3.1 document of the control API from its table.
 *
 * @param options.serverUrl where the control API is mounted, `/__mock` included
 */
export function controlOpenApi(
  endpoints: readonly Endpoint[],
  { serverUrl, version }: { serverUrl: string; version: string },
): object {
  const paths: Record<string, Record<string, Json>> = {};
  for (const endpoint of endpoints) {
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method]: operationOf(endpoint) };
  }
  const used = new Set(endpoints.map(({ tag }) => tag));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Control API of petstore-mock',
      version,
      description: DESCRIPTION,
      contact: { name: 'petstore-mock' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: serverUrl, description: 'The mock.' }],
    security: [{}, { controlToken: [] }],
    tags: Object.entries(TAGS)
      .filter(([name]) => [...used].some((tag) => tag === name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: {
        controlToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'The control token; not on loopback.',
        },
      },
      responses: Object.fromEntries(
        Object.entries(SHARED).map(([name, { description }]) => [
          name,
          replyOf({ description, schema: ref('schemas', 'Error') }),
        ]),
      ),
      schemas: usedSchemas(paths),
    },
  };
}

/** The Errors that most endpoints can answer with. */
const SHARED = {
  Invalid: { status: 400, description: 'The input, or the name of the sandbox, is invalid.' },
  Unauthorized: { status: 401, description: 'The control token is missing or wrong.' },
  Forbidden: { status: 403, description: 'The request may come from a page of another site.' },
  TooLarge: { status: 413, description: 'The body is too large.' },
  NotJson: { status: 415, description: 'There is a body that does not say that it is JSON.' },
  Unavailable: {
    status: 503,
    description: 'There are as many sandboxes as there may be, or the change could not be saved.',
  },
} as const;

function operationOf(endpoint: Endpoint): Json {
  const { id, tag, summary, description, path, parameters = [], body } = endpoint;
  const inPath = [...path.matchAll(PARAMETER)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description: name === 'id' ? 'The id of the record.' : 'The name.',
    schema: name === 'id' ? { type: 'integer', format: 'int64' } : { type: 'string' },
  }));
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: description ?? `${summary}.`,
    ...(endpoint.open && { security: [] }),
    parameters: [...inPath, ...parameters.map((it) => ({ in: 'query', required: false, ...it }))],
    ...(body && {
      requestBody: { required: body.optional !== true, content: jsonContent(body.schema) },
    }),
    responses: repliesOf(endpoint),
  };
}

function repliesOf({ replies, open, body }: Endpoint): Json {
  const all: Record<string, Json> = {};
  for (const [status, shape] of Object.entries(replies)) all[status] = replyOf(shape);
  for (const [name, { status }] of Object.entries(SHARED)) {
    if (open && name !== 'NotJson') continue;
    if (body === undefined && name === 'TooLarge') continue;
    all[status] ??= ref('responses', name);
  }
  return all;
}

function replyOf({ description, schema, mediaType, headers = {} }: ReplyShape): Json {
  const described = Object.entries(headers).map(([name, meaning]) => [
    name,
    { description: meaning, schema: { type: 'string' } },
  ]);
  return {
    description,
    ...(described.length > 0 && { headers: Object.fromEntries(described) }),
    ...(schema && {
      content: mediaType === undefined ? jsonContent(schema) : { [mediaType]: { schema } },
    }),
  };
}

/** The schemas that are referred to, by each other too. */
function usedSchemas(paths: Json): Json {
  const all = controlSchemas();
  const used: Record<string, Json> = {};
  const take = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      const schema = all[name];
      if (schema === undefined || used[name] !== undefined) continue;
      used[name] = schema;
      take(schema);
    }
  };
  take(paths);
  take(ref('schemas', 'Error'));
  return used;
}

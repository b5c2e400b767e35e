import { reasonPhrase } from '../../core/contract/reason-phrase.ts';
import { type Endpoint, type TaggedEndpoint, YAML_TYPE } from '../../core/control/endpoint.ts';
import { readProperties } from '../../core/control/read-input.ts';
import { ERROR } from '../../core/control/reply.ts';
import type { Json } from '../../core/json.ts';
import { jsonContent, ref, withRefs } from './service-openapi.ts';

const DESCRIPTION = `Controls \`petstore-mock\` itself: its records, scenarios, clock and journal.

Each sandbox has its own control API: \`/__mock\` for the default sandbox, \`/~NAME/__mock\` for another one. The first call or change under a name creates its sandbox. Ids are exact int64 numbers. A refused change changes nothing.

A mock that listens on loopback needs no token. Otherwise, send the token from \`--control-token\`, or the one that the mock printed at its start.`;

const PATH_PARAMETERS: Readonly<Record<string, Json>> = {
  id: { description: 'The id of the record.', schema: { type: 'integer', format: 'int64' } },
  number: { description: 'The number of the exchange.', schema: { type: 'integer', minimum: 1 } },
  name: { description: 'The name.', schema: { type: 'string' } },
};

/** @param options.serverUrl the URL including `/__mock` */
export function createControlOpenApi(
  endpoints: readonly TaggedEndpoint[],
  { serverUrl, version }: { serverUrl: string; version: string },
): object {
  const schemas: Record<string, unknown> = {};
  const paths: Record<string, Record<string, unknown>> = {};
  for (const endpoint of endpoints) {
    const operation = withRefs(createOperation(endpoint), schemas);
    paths[endpoint.path] = { ...paths[endpoint.path], [endpoint.method]: operation };
  }
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
    tags: [...new Map(endpoints.map(({ tag }) => [tag.name, tag])).values()],
    paths,
    components: {
      securitySchemes: {
        controlToken: {
          type: 'http',
          scheme: 'bearer',
          description: 'The control token. Not needed on loopback.',
        },
      },
      responses: Object.fromEntries(
        Object.entries(SHARED).map(([name, { status, description }]) => [
          name,
          withRefs(describeReply(String(status), description), schemas),
        ]),
      ),
      schemas,
    },
  };
}

const SHARED = {
  Invalid: { status: 400, description: 'The input or the name of the sandbox is invalid.' },
  Unauthorized: { status: 401, description: 'The control token is missing or wrong.' },
  Forbidden: { status: 403, description: 'The request may come from a page of another website.' },
  TooLarge: { status: 413, description: 'The body is too large.' },
  NotJson: { status: 415, description: 'The media type of the body is missing or not supported.' },
  Unavailable: { status: 503, description: 'Too many sandboxes, or the change was not saved.' },
} as const;

function createOperation(endpoint: TaggedEndpoint): Json {
  const { id, tag, summary, description, path, query, body, example = {} } = endpoint;
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    ...PATH_PARAMETERS[name],
    example: example.path,
  }));
  const properties = Object.entries(query ? readProperties(query.schema) : {});
  const inQuery = properties.map(([name, { description: meaning, ...schema }]) => {
    const given = example.query?.[name];
    const sample = given !== undefined && { example: given };
    return { name, in: 'query', required: false, description: meaning, schema, ...sample };
  });
  return {
    operationId: id,
    tags: [tag.name],
    summary,
    description: description ?? `${summary}.`,
    ...(endpoint.unguarded && { security: [] }),
    parameters: [...inPath, ...inQuery],
    ...(body && {
      requestBody: {
        required: body.optional !== true,
        content: {
          ...jsonContent(body.shape.schema, { example: example.body }),
          ...(body.asText && { [YAML_TYPE]: { schema: { type: 'string' } } }),
        },
      },
    }),
    responses: createReplies(endpoint),
  };
}

function createReplies({ replies, unguarded, body, ...details }: Endpoint): Json {
  const all: Record<string, Json> = {};
  for (const [status, reply] of Object.entries(replies)) {
    all[status] = describeReply(status, reply, details);
  }
  for (const [name, { status }] of Object.entries(SHARED)) {
    if (unguarded && name !== 'NotJson') continue;
    if (body === undefined && name === 'TooLarge') continue;
    all[status] ??= ref('responses', name);
  }
  return all;
}

function describeReply(
  status: string,
  reply: Endpoint['replies'][number],
  { mediaType = 'application/json', headers }: Pick<Endpoint, 'mediaType' | 'headers'> = {},
): Json {
  if (typeof reply === 'string') {
    const isError = Number(status) >= 400;
    return { description: reply, ...(isError && { content: jsonContent(ERROR.schema) }) };
  }
  const { schema } = reply;
  const described = Object.entries(headers ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  return {
    description: reasonPhrase(Number(status)),
    ...(headers && { headers: Object.fromEntries(described) }),
    content: Object.fromEntries([mediaType].flat().map((type) => [type, { schema }])),
  };
}

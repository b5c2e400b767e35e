import {
  ASSUMPTION_IDS,
  assumptionShape,
  type Choices,
  chooseOptions,
  OPTION_REPLIES,
} from '../../core/contract/assumption-table.ts';
import { errorShape, findErrorCodes, spellCode } from '../../core/contract/error-codes.ts';
import {
  type DocumentedReply,
  OPERATION_IDS,
  type OperationId,
  type OperationShape,
  operationShape,
} from '../../core/contract/operations.ts';
import { exampleOf, INTEGER, RECORDS } from '../../core/contract/records.ts';
import { formatServiceUrl, parseAddress } from '../../core/contract/target.ts';
import { readProperties } from '../../core/control/read-input.ts';
import { isObject, type Json } from '../../core/json.ts';
import { STAGING_SANDBOX } from '../../core/limits.ts';
import type { ObjectShape } from '../../core/shape/objects.ts';

/** The version of the interface description, not of the mock. */
const INTERFACE_VERSION = '1.0.0';

const DESCRIPTION = `The pet store service, as \`petstore-mock\` answers for it.

The interface document prescribes replies with \`x-mock-basis: documented\`. Replies with \`x-mock-basis: assumed\` fill gaps in it: \`x-mock-assumptions\` names the assumptions and options that lead to them. On a header, a body or an example, the same marks mean that only this part is assumed. \`x-seen-values\` are values that the document has seen; it calls their list incomplete. So a status is any string here, also where the mock refuses others (\`animal-status-values=seen\`). How absent fields are written, and the body of a 409, follow the assumptions of the sandbox.`;

const TAGS: Readonly<Record<OperationShape['tag'], string>> = {
  Animals: 'The animals of the store.',
  Inventory: 'The stock of each animal.',
  Orders: 'The orders of the store.',
};

/**
 * The OpenAPI 3.1 document of the service. Shared replies are components, so that generators make
 * one type of each. Assumed replies list their options. Bodies follow the chosen options.
 *
 * @param options.serverUrl the URL including `/v1`
 * @param options.version the version of the mock
 */
export function createServiceOpenApi(options: {
  serverUrl: string;
  version: string;
  choices?: Choices;
}): Json {
  const { choices = chooseOptions() } = options;
  const paths: Record<string, Json> = {};
  const responses: Record<string, Json> = {};
  const schemas: Record<string, unknown> = {};
  for (const id of OPERATION_IDS) {
    const { method, path } = operationShape(id);
    paths[path] = {
      ...paths[path],
      [method.toLowerCase()]: operationObject(id, choices, responses),
    };
  }
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
    security: [{ bearerAuth: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: withRefs(paths, schemas),
    components: {
      securitySchemes: {
        bearerAuth: {
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
      responses: withRefs(responses, schemas),
      schemas,
    },
  };
}

function servers(serverUrl: string): Json[] {
  const url = serverUrl.replace(/\/+$/, '');
  const { root } = parseAddress(url);
  const staging = formatServiceUrl({ root, sandbox: STAGING_SANDBOX });
  const deployments = [{ url: staging, description: 'Staging.' }];
  if (url !== staging) deployments.unshift({ url, description: 'The mock.' });
  return deployments;
}

/** @param shared collects the replies that operations share */
function operationObject(id: OperationId, choices: Choices, shared: Record<string, Json>): Json {
  const { tag, summary, description, parameters, body, replies, sunset, stability } =
    operationShape(id);
  const assumed = OPTION_REPLIES.filter(({ operation }) => operation === id);
  const statuses = new Set([
    ...Object.keys(replies).map(Number),
    ...assumed.map(({ status }) => status),
  ]);
  const responses = [...statuses].map((status) => {
    const name = sharedName(id, status);
    const reply = replyObject(id, status, choices);
    if (name === undefined) return [status, reply];
    shared[name] ??= reply;
    return [status, ref('responses', name)];
  });
  const example = body && exampleOf(body.shape.members);
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(sunset && { deprecated: true, 'x-sunset': sunset }),
    ...(stability && { 'x-stability': stability }),
    parameters: parameters.map((parameter) => {
      const {
        name,
        in: place,
        description: meaning,
        shape,
        example: sample,
        finds: _,
        ...bounds
      } = parameter;
      const schema = { ...shape.schema, ...bounds };
      const required = place === 'path';
      return { name, in: place, description: meaning, required, schema, example: sample };
    }),
    ...(body && {
      requestBody: {
        required: true,
        content: jsonContent(recordSchema(body.name, body.shape), { example }),
      },
    }),
    responses: Object.fromEntries(responses),
  };
}

/** The name of a shared reply, such as `Forbidden403`; undefined if only this operation has it. */
function sharedName(id: OperationId, status: number): string | undefined {
  if (operationShape(id).sunset !== undefined) return undefined;
  const [code, ...others] = findErrorCodes(id, status);
  if (code === undefined || others.length > 0 || errorShape(code).on !== OPERATION_IDS)
    return undefined;
  const name = code.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  return `${name}${status}`;
}

function replyObject(id: OperationId, status: number, choices: Choices): Json {
  const documented = operationShape(id).replies[status];
  const assumed = OPTION_REPLIES.filter(
    (reply) => reply.operation === id && reply.status === status,
  );
  const descriptions = new Set(assumed.map(({ description }) => description));
  const content = documented
    ? documentedContent(id, status, documented, choices)
    : errorContent(id, status, choices);
  return {
    description: documented?.description ?? [...descriptions].join(' '),
    ...(documented
      ? { 'x-mock-basis': 'documented' }
      : assumedBy(...assumed.map(({ ground }) => ground))),
    headers: { 'Mock-Basis': ref('headers', 'MockBasis'), ...assumedHeaders(id, status) },
    ...(content && { content }),
  };
}

function assumedHeaders(id: OperationId, status: number): Json {
  const headers: Record<string, Json> = {};
  for (const assumption of ASSUMPTION_IDS) {
    const { headers: byOption = {}, touches } = assumptionShape(assumption);
    if (!touches.includes(id)) continue;
    for (const [option, added] of Object.entries(byOption)) {
      if (!added.statuses.includes(status)) continue;
      const marks = assumedBy(`${assumption}=${option}`);
      for (const [name, description] of Object.entries(added.describe)) {
        headers[name] = { description, ...marks, schema: { type: 'string' } };
      }
    }
  }
  return headers;
}

function assumedBy(...decidedBy: readonly string[]): Json {
  return { 'x-mock-basis': 'assumed', 'x-mock-assumptions': decidedBy };
}

function documentedContent(
  id: OperationId,
  status: number,
  { body, bodyNotShown }: DocumentedReply,
  choices: Choices,
): Json | undefined {
  if (bodyNotShown) return conflictContent(id, status, choices);
  if (body === undefined) return undefined;
  if (body.record === 'Error') return errorContent(id, status, choices);
  const record = recordSchema(body.record, RECORDS[body.record]);
  const schema = choices['absent-optionals'] === 'null' ? withNulls(record) : record;
  return jsonContent(body.list ? { type: 'array', items: schema } : schema);
}

function conflictContent(id: OperationId, status: number, choices: Choices): Json | undefined {
  const choice = choices['conflict-body'];
  const marks = assumedBy(`conflict-body=${choice}`);
  switch (choice) {
    case 'error':
      return errorContent(id, status, choices, marks);
    case 'empty':
      return undefined;
    case 'problem':
      return { 'application/problem+json': { ...marks, schema: PROBLEM } };
  }
}

/** Makes optional fields nullable, as they are under `absent-optionals=null`. */
function withNulls(record: Json): Json {
  const required: readonly unknown[] = Array.isArray(record.required) ? record.required : [];
  const properties = Object.entries(readProperties(record)).map(([name, property]) => [
    name,
    required.includes(name) ? property : { ...property, type: [property.type, 'null'] },
  ]);
  return { ...record, properties: Object.fromEntries(properties) };
}

/** The document prescribes no `code`, so examples follow `error-codes`. */
function errorContent(id: OperationId, status: number, choices: Choices, marks: Json = {}): Json {
  const spelling = choices['error-codes'];
  const basis = assumedBy(`error-codes=${spelling}`);
  const examples = findErrorCodes(id, status).map((name) => {
    const code = spellCode(name, status, spelling);
    return [code, { ...basis, value: { code, message: name.replaceAll('_', ' '), status } }];
  });
  // The examples belong to the reply: Prism would prefer an example of the schema.
  const schema = { title: ERROR_SCHEMA, ...RECORDS.Error.schema };
  return jsonContent(schema, { ...marks, examples: Object.fromEntries(examples) });
}

/** Not `Error`, because generators would export a type that hides JavaScript's own. */
export const ERROR_SCHEMA = 'ServiceError';

/** A problem of RFC 9457, with the code of the Error. */
const PROBLEM: Json = {
  title: 'Problem',
  'x-mock-basis': 'assumed',
  type: 'object',
  description: 'A problem of HTTP (RFC 9457), if assumed in place of the Error.',
  required: ['type', 'title', 'status'],
  properties: {
    type: { type: 'string', format: 'uri-reference' },
    title: { type: 'string' },
    status: INTEGER.schema,
    detail: { type: 'string' },
    code: { type: 'string', description: RECORDS.Error.members.code.description },
  },
};

function recordSchema(title: string, { schema, members }: ObjectShape): Json {
  return { title, ...schema, examples: [exampleOf(members)] };
}

export function jsonContent(schema: Json, more: Json = {}): Json {
  return { 'application/json': { ...more, schema } };
}

export function ref(kind: 'headers' | 'responses' | 'schemas', name: string): Json {
  return { $ref: `#/components/${kind}/${name}` };
}

/** Moves named schemas to `schemas`, and puts references in their places. */
export function withRefs(part: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(part)) return part.map((item) => withRefs(item, schemas));
  if (!isObject(part)) return part;
  const entries = Object.entries(part).map(([name, member]) => [name, withRefs(member, schemas)]);
  const { title, description, ...schema } = Object.fromEntries(entries);
  if (typeof title !== 'string') return Object.fromEntries(entries);
  schemas[title] ??= schema;
  return { ...(description !== undefined && { description }), ...ref('schemas', title) };
}

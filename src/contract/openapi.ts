import { ASSUMPTION_IDS, ASSUMPTIONS, type AssumptionId } from './assumptions.ts';
import { ERROR_CODES, type ErrorCode } from './errors.ts';
import {
  BASE_PATH,
  type DocumentedReply,
  OPERATION_IDS,
  type OperationId,
  type OperationShape,
  operationShape,
} from './operations.ts';
import { FIELD_TYPES, type Field, type Fields, RECORDS, type RecordName } from './records.ts';

type Json = Readonly<Record<string, unknown>>;

/** Headers that an option adds to the replies with one status, of the operations it touches. */
interface AssumedHeaders {
  readonly by: readonly [AssumptionId, string];
  readonly status: number;
  /** What each is for, by name. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The version that the interface description carries, whatever the mock's own is. */
const INTERFACE_VERSION = '1.0.0';

const DESCRIPTION = `The pet store service, as \`petstore-mock\` answers for it.

A reply with \`x-mock-basis: documented\` is one that the interface document prescribes. One with \`x-mock-basis: assumed\` fills a gap in it: \`x-mock-assumptions\` names the assumptions and the options that lead to it. The same marks on a header or a body tell where only that is assumed. \`x-seen-values\` are values that the document has seen in a list it calls incomplete.`;

const TAGS: Readonly<Record<OperationShape['tag'], string>> = {
  Animals: 'The animals of the store.',
  Inventory: 'How many of each animal are in stock.',
  Orders: 'What has been ordered, until it ships.',
};

/** An Error's stand with the replies: Prism would take one here in their place. */
const EXAMPLES: Readonly<Partial<Record<RecordName, Json>>> = {
  Animal: { id: 1, name: 'Rex', categoryId: 1, status: 'available' },
  InventoryEntry: { petId: 1, quantity: 12, status: 'available' },
  Order: { id: 1, petId: 1, quantity: 2, shipDate: '2031-01-15T09:30:00Z', complete: false },
};

/** RFC 9457, with the code that the Error would have. */
const PROBLEM: Json = {
  type: 'object',
  description: 'A problem of HTTP (RFC 9457), in place of the Error where so assumed.',
  required: ['type', 'title', 'status'],
  properties: {
    type: { type: 'string', format: 'uri-reference' },
    title: { type: 'string' },
    status: FIELD_TYPES.integer.schema,
    detail: { type: 'string' },
    code: fieldSchema(RECORDS.Error.code),
  },
};

const ASSUMED_HEADERS: readonly AssumedHeaders[] = [
  {
    by: ['auth-challenge', 'sent'],
    status: 401,
    headers: { 'WWW-Authenticate': 'The challenge of RFC 6750.' },
  },
  {
    by: ['rate-limit', '10/s'],
    status: 429,
    headers: { 'Retry-After': 'The seconds until the next request may be made.' },
  },
  {
    by: ['deprecation-headers', 'sent'],
    status: 200,
    headers: {
      Deprecation: 'Since when the operation is deprecated (RFC 9745).',
      Sunset: 'When the operation may go away (RFC 8594).',
      Link: 'Leads to what is said about its successor.',
    },
  },
  {
    by: ['pets-paging', 'cursor'],
    status: 200,
    headers: { Link: 'Leads to the next page, with rel="next"; absent on the last one.' },
  },
  {
    by: ['pets-paging', 'offset'],
    status: 200,
    headers: { 'X-Total-Count': 'How many animals there are on all pages.' },
  },
];

/** The operations of a code that stands for their own trouble, not for one that all can have. */
const OPERATIONS_OF_CODE: Readonly<Partial<Record<ErrorCode, readonly OperationId[]>>> = {
  pet_not_found: ASSUMPTIONS['unknown-pet'].touches,
  inventory_entry_not_found: ASSUMPTIONS['inventory-missing-entry'].touches,
  order_not_found: ASSUMPTIONS['cancel-again'].touches,
  order_already_cancelled: ASSUMPTIONS['cancel-again'].touches,
  ids_exhausted: ASSUMPTIONS['assigned-ids'].touches,
  gone: ASSUMPTIONS['after-sunset'].touches,
  route_not_found: [],
};

const CODES = Object.keys(ERROR_CODES).filter((code): code is ErrorCode =>
  Object.hasOwn(ERROR_CODES, code),
);

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
export function serviceOpenApi({
  serverUrl = `http://127.0.0.1:4010${BASE_PATH}`,
  version,
}: {
  serverUrl?: string;
  version: string;
}): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Pet store service',
      version: INTERFACE_VERSION,
      description: DESCRIPTION,
      contact: { name: 'petstore-mock' },
      license: { name: 'MIT', identifier: 'MIT' },
      'x-mock-version': version,
    },
    servers: servers(serverUrl),
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
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    ...(sunset === undefined ? {} : { deprecated: true, 'x-sunset': sunset }),
    ...(stability === undefined ? {} : { 'x-stability': stability }),
    parameters: parameters.map(({ type, minimum, maximum, default: fallback, ...parameter }) => ({
      ...parameter,
      required: parameter.in === 'path',
      schema: withoutUndefined({
        ...FIELD_TYPES[type].schema,
        minimum,
        maximum,
        default: fallback,
      }),
    })),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: jsonContent(ref('schemas', body.name)) } }),
    responses: Object.fromEntries(
      statusesOf(id).map((status) => {
        const name = sharedName(id, status);
        const reply = name === undefined ? replyObject(id, status) : ref('responses', name);
        return [status, reply];
      }),
    ),
  };
}

/** Every status that the document or an assumption gives the operation. */
function statusesOf(id: OperationId): number[] {
  const documented = Object.keys(operationShape(id).replies).map(Number);
  return [...new Set([...documented, ...assumedReplies(id).map(({ status }) => status)])];
}

function assumedReplies(
  id: OperationId,
): { ground: string; status: number; description: string }[] {
  return ASSUMPTION_IDS.flatMap((assumption) =>
    ASSUMPTIONS[assumption].options.flatMap((option) => {
      if (!('reply' in option)) return [];
      const { status, description, on } = option.reply;
      const touches = on.some((operation) => operation === id);
      return touches ? [{ ground: `${assumption}=${option.name}`, status, description }] : [];
    }),
  );
}

/** The name of a reply that every operation which has its status shares, such as `Forbidden403`. */
function sharedName(id: OperationId, status: number): string | undefined {
  const [code, ...others] = codesOf(id, status);
  if (code === undefined || others.length > 0 || Object.hasOwn(OPERATIONS_OF_CODE, code)) {
    return undefined;
  }
  const name = code.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
  return `${name}${status}`;
}

function sharedReplies(): Json {
  const replies: Record<string, Json> = {};
  for (const id of OPERATION_IDS) {
    for (const status of statusesOf(id)) {
      const name = sharedName(id, status);
      if (name !== undefined) replies[name] ??= replyObject(id, status);
    }
  }
  return replies;
}

function replyObject(id: OperationId, status: number): Json {
  const documented = operationShape(id).replies[status];
  const assumed = assumedReplies(id).filter((reply) => reply.status === status);
  return {
    description:
      documented?.description ??
      [...new Set(assumed.map(({ description }) => description))].join(' '),
    ...(documented === undefined
      ? assumedBy(...assumed.map(({ ground }) => ground))
      : { 'x-mock-basis': 'documented' }),
    headers: { 'Mock-Basis': ref('headers', 'MockBasis'), ...assumedHeaders(id, status) },
    ...withoutUndefined({
      content: documented ? documentedContent(id, status, documented) : errorContent(id, status),
    }),
  };
}

function assumedHeaders(id: OperationId, status: number): Json {
  const headers: Record<string, Json> = {};
  for (const { by, status: theirs, headers: described } of ASSUMED_HEADERS) {
    const [assumption, option] = by;
    const { touches } = ASSUMPTIONS[assumption];
    if (theirs !== status || !touches.some((operation) => operation === id)) continue;
    for (const [name, description] of Object.entries(described)) {
      headers[name] = {
        description,
        ...assumedBy(`${assumption}=${option}`),
        schema: { type: 'string' },
      };
    }
  }
  return headers;
}

function assumedBy(...grounds: readonly string[]): Json {
  return { 'x-mock-basis': 'assumed', 'x-mock-assumptions': grounds };
}

function documentedContent(
  id: OperationId,
  status: number,
  { body, bodyNotShown }: DocumentedReply,
): Json | undefined {
  if (bodyNotShown) {
    return {
      ...errorContent(id, status, assumedBy('conflict-body=error')),
      'application/problem+json': {
        ...assumedBy('conflict-body=problem'),
        schema: ref('schemas', 'Problem'),
      },
    };
  }
  if (body === undefined) return undefined;
  if (body.record === 'Error') return errorContent(id, status);
  const schema = ref('schemas', body.record);
  return jsonContent(body.list ? { type: 'array', items: schema } : schema);
}

/** The Error, with an example for each code that it can have here. */
function errorContent(id: OperationId, status: number, marks: Json = {}): Json {
  const examples = codesOf(id, status).map((code) => [
    code,
    { value: { code, message: code.replaceAll('_', ' '), status } },
  ]);
  return jsonContent(ref('schemas', 'Error'), { ...marks, examples: Object.fromEntries(examples) });
}

function codesOf(id: OperationId, status: number): ErrorCode[] {
  return CODES.filter((code) => {
    const statuses: readonly number[] = ERROR_CODES[code].statuses;
    return statuses.includes(status) && (OPERATIONS_OF_CODE[code]?.includes(id) ?? true);
  });
}

function jsonContent(schema: Json, more: Json = {}): Json {
  return { 'application/json': { ...more, schema } };
}

function ref(kind: 'headers' | 'responses' | 'schemas', name: string): Json {
  return { $ref: `#/components/${kind}/${name}` };
}

/** The records and the request bodies. The example of a body is what the reply to it shows. */
function schemas(): Json {
  const all: Record<string, Json> = { Problem: PROBLEM };
  for (const id of OPERATION_IDS) {
    const { body, replies } = operationShape(id);
    for (const { body: shown } of Object.values(replies)) {
      if (shown === undefined) continue;
      all[shown.record] ??= objectSchema(RECORDS[shown.record], EXAMPLES[shown.record]);
      if (body === undefined || shown.record === 'Error') continue;
      all[body.name] = objectSchema(body.fields, EXAMPLES[shown.record]);
    }
  }
  return all;
}

function objectSchema(fields: Fields, example: Json | undefined): Json {
  const entries = Object.entries(fields);
  const required = entries.filter(([, field]) => field.required).map(([name]) => name);
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(entries.map(([name, field]) => [name, fieldSchema(field)])),
    ...(example === undefined
      ? {}
      : { examples: [Object.fromEntries(entries.map(([name]) => [name, example[name]]))] }),
  };
}

function fieldSchema({ type, description, seen }: Field): Json {
  return withoutUndefined({ ...FIELD_TYPES[type].schema, description, 'x-seen-values': seen });
}

function withoutUndefined(object: Json): Json {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}

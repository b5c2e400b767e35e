import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { chooseOptions } from '../contract/assumption-table.ts';
import type { ErrorCode, StatusOf } from '../contract/error-codes.ts';
import { isIntegerText } from '../contract/int64.ts';
import type { Json } from '../contract/json.ts';
import { BASE_PATH } from '../contract/operations.ts';
import { isObject, type Problem, type Reading } from '../contract/records.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { errorBody, type Reply } from '../service/reply.ts';
import { readAs } from '../shape/read-as.ts';
import type { Shape } from '../shape/shapes.ts';
import { firstProblems, joinWords, problemText } from '../words.ts';
import type { ControlParts } from './parts.ts';

/** The media type of YAML (RFC 9512). */
export const YAML_TYPE = 'application/yaml';

type RouteMethod = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** The groups of endpoints in the OpenAPI document. */
export const TAGS = {
  Mock: 'The mock itself.',
  State: 'All records of a sandbox at once.',
  Records: 'Single records of a sandbox, and lists of them.',
  Snapshots: 'Saved copies of the store.',
  Scenarios: 'Files that force states and replies.',
  Assumptions: 'The open questions of the document, and the chosen options.',
  Clock: 'The clock of a sandbox.',
  Journal: 'The exchanges of a sandbox, and what they show about the client.',
  Sandboxes: 'Isolated copies of the service on one server.',
  Upstream: 'The deployment that answers in place of the mock.',
} as const;

/** A parameter of a query. */
export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly schema: Json;
}

/** A documented reply of an endpoint. */
interface ReplyShape {
  readonly description: string;
  readonly shape: Shape<unknown>;
  /** If not JSON. */
  readonly mediaType?: string | readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** A reply with a body, or the description of one that has an Error or none. */
export type EndpointReply = string | ReplyShape;

interface EndpointBody<T> {
  readonly shape: Shape<T>;
  /** A missing body counts as an empty object. */
  readonly optional?: true;
  /** The handler gets the text as it was written, in JSON or YAML, as a `TextBody`. */
  readonly asText?: true;
}

type Handle<Call> = (call: Call) => ControlReply | Promise<ControlReply>;

export type Tag = keyof typeof TAGS;

/** One endpoint. */
export interface EndpointDefinition {
  readonly id: string;
  /** The path is below the mount, with parameters as `{name}`. */
  readonly route: readonly [method: RouteMethod, path: string];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly body?: EndpointBody<unknown>;
  /**
   * The parameter of the path and the body of an example request. It refers to the default fixture, or
   * to what an earlier POST example creates; `requests/1` exists once a client has called.
   */
  readonly example?: {
    readonly path?: string | number;
    readonly query?: Readonly<Record<string, string>>;
    readonly body?: Json;
  };
  /** Without the errors that every endpoint shares. */
  readonly replies: Readonly<Record<number, EndpointReply>>;
  /** Needs no token and no sandbox. */
  readonly open?: true;
  /** Not logged: open pages read it again and again. */
  readonly quiet?: true;
  /** Exists at the default sandbox only. */
  readonly defaultOnly?: true;
  readonly handle: Handle<ControlCall>;
}

/** An endpoint in the table that the routes and the OpenAPI document are made from. */
export interface Endpoint extends EndpointDefinition {
  readonly method: RouteMethod;
  readonly path: string;
  readonly tag: Tag;
}

/** A request of the control API. */
export interface ControlCall {
  readonly parts: ControlParts;
  readonly sandbox: Sandbox;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The parsed JSON body; undefined without one. */
  readonly body: unknown;
  /** The path of the control API, such as `/__mock`. */
  readonly mount: string;
  /** The same as a whole URL. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Calls back if the client disconnects. Returns what cancels that. */
  readonly onLeave: (act: () => void) => () => void;
}

/** The URL of the service beside a control API. */
export function serviceUrl(controlUrl: string): string {
  return controlUrl.slice(0, -'/__mock'.length) + BASE_PATH;
}

type Read<T, Name extends string> = Omit<EndpointDefinition, 'handle'> & {
  readonly handle: Handle<Omit<ControlCall, Name> & Readonly<Record<Name, T>>>;
};

/** An endpoint whose handler gets the body as its shape reads it. */
export function withBody<T>(
  endpoint: Read<T, 'body'> & { readonly body: EndpointBody<T> },
): EndpointDefinition {
  return {
    ...endpoint,
    handle(call) {
      const { body = {} } = call;
      const reading = readAs(endpoint.body.shape, body);
      if (!reading.ok) return refuseInput(reading.problems);
      return endpoint.handle({ ...call, body: reading.value });
    },
  };
}

/** An endpoint whose handler gets the query as its shape reads it. */
export function withQuery<T>(query: Shape<T>, endpoint: Read<T, 'query'>): EndpointDefinition {
  return {
    ...endpoint,
    parameters: parametersOf(query),
    handle(call) {
      const reading = readQueryAs(query, call.query);
      if (!reading.ok) return refuseInput(reading.problems);
      return endpoint.handle({ ...call, query: reading.value });
    },
  };
}

/** The parameters of a query, from the members of its shape. */
export function parametersOf({ schema }: Shape<unknown>): readonly Parameter[] {
  return Object.entries(propertiesOf(schema)).map(([name, property]) => {
    const { description, ...rest } = Object(property);
    return { name, description: String(description), schema: rest };
  });
}

/** Reads a query as an object. Converts the text of integers and booleans first. */
export function readQueryAs<T>(shape: Shape<T>, query: URLSearchParams): Reading<T> {
  const properties = propertiesOf(shape.schema);
  const values = new Map<string, unknown>();
  const repeated = new Set<string>();
  for (const [name, text] of query) {
    const type = Object.hasOwn(properties, name) ? Object(properties[name]).type : undefined;
    if (values.has(name)) repeated.add(name);
    values.set(name, typed(type, text));
  }
  if (repeated.size > 0) return { ok: false, problems: [...repeated].map(notOnce) };
  const reading = readAs(shape, Object.fromEntries(values));
  if (reading.ok) return reading;
  const problems = reading.problems.map((it) => ({ ...it, path: `query ${it.at.join('.')}` }));
  return { ok: false, problems };
}

function notOnce(name: string): Problem {
  return { path: `query ${name}`, expected: 'one value', found: 'several' };
}

function propertiesOf({ properties }: Shape<unknown>['schema']): Readonly<Record<string, unknown>> {
  return isObject(properties) ? properties : {};
}

function typed(type: unknown, text: string): unknown {
  if (type === 'integer' && isIntegerText(text)) return Number(text);
  // `?all` is short for `?all=true`.
  if (type === 'boolean' && ['', 'true', 'false'].includes(text)) return text !== 'false';
  return text;
}

type ReplyBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: object }
  | { readonly kind: 'text'; readonly mediaType: string; readonly text: string | Buffer }
  /** JSON in pieces, to write a large store without copying its text. */
  | { readonly kind: 'pieces'; readonly pieces: Iterable<string> }
  /** Takes over the response after its headers. */
  | {
      readonly kind: 'stream';
      readonly mediaType: string;
      readonly open: (response: ServerResponse) => void;
    };

/** A reply of the control API. */
export interface ControlReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: ReplyBody;
}

/** A reply of JSON. */
export function json<T extends object>(
  value: T,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): ControlReply {
  return { status, headers, body: { kind: 'json', value } };
}

/** A reply without a body. */
export const DONE: ControlReply = { status: 204, body: { kind: 'none' } };

/** A redirect without a body. */
export function redirect(status: 302 | 308, location: string): ControlReply {
  return { status, headers: { Location: location }, body: { kind: 'none' } };
}

/** An Error. The sandbox's assumptions do not change its code: this is not a reply of the service. */
export function refuse<C extends ErrorCode>(
  code: C,
  status: StatusOf<C>,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ControlReply {
  return json(errorBody(chooseOptions(), code, status, message), status, headers);
}

/** Answers 405 to what none of the `allow` methods answers. */
export function refuseMethod({ method }: IncomingMessage, allow: string): ControlReply {
  const message = `${method} is not allowed; use ${joinWords(allow.split(', '), 'or')}`;
  return refuse('method_not_allowed', 405, message, { Allow: allow });
}

/** The refusal of a body or a query, with its problems. */
export function refuseInput(problems: readonly Problem[]): ControlReply {
  return refuse('invalid_input', 400, firstProblems(problems, problemText).join('; '));
}

/** A refusal that the service would answer with. */
export function ofService({ status, body }: Reply): ControlReply {
  const text = body.kind === 'json' ? body.text.toString() : '{}';
  return { status, body: { kind: 'pieces', pieces: [text] } };
}

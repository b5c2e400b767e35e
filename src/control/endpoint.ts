import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { chooseOptions } from '../contract/assumption-table.ts';
import type { ErrorCode, StatusOf } from '../contract/error-codes.ts';
import { isIntegerText, type Json, writeJson } from '../contract/json.ts';
import { BASE_PATH } from '../contract/operations.ts';
import { isObject, type Reading } from '../contract/records.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { errorBody, type Reply } from '../service/reply.ts';
import { readAs, type Shape } from '../shape/shapes.ts';
import { firstProblems, joinWords, type Problem, problemText } from '../words.ts';
import type { ControlParts } from './control-options.ts';

/** The media type of YAML (RFC 9512). */
export const YAML_TYPE = 'application/yaml';

type Route = `${'get' | 'post' | 'put' | 'patch' | 'delete'} /${string}`;

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

/** What an endpoint replies. Without a shape, it has an Error or no body. */
export type EndpointReply =
  | string
  | readonly [description: string, shape: Shape<unknown>, more?: ReplyDetails];

interface ReplyDetails {
  /** If not JSON. */
  readonly mediaType?: string | readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

interface EndpointBody<T> {
  readonly shape: Shape<T>;
  /** A missing body counts as an empty object. */
  readonly optional?: true;
  /** The shape reads the text as it was written: its `format`, JSON or YAML, and the `text`. */
  readonly asText?: true;
}

export type Tag = keyof typeof TAGS;

/** What an endpoint is, besides its route. */
interface EndpointDetails {
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
}

type Handle<Call> = (call: Call) => ControlReply | Promise<ControlReply>;

export interface EndpointDefinition extends EndpointDetails {
  readonly id: string;
  readonly method: string;
  /** Below the mount, with parameters as `{name}`. */
  readonly path: string;
  readonly handle: Handle<ControlCall>;
}

/** An endpoint in the table that the routes and the OpenAPI document are made from. */
export interface Endpoint extends EndpointDefinition {
  readonly tag: Tag;
}

/** A request of the control API. */
export interface ControlCall<Body = unknown, Query = URLSearchParams> {
  readonly parts: ControlParts;
  readonly sandbox: Sandbox;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** Undefined without one. */
  readonly body: Body;
  /** The path of the control API, such as `/__mock`. */
  readonly mount: string;
  /** The same as a whole URL. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** Calls back if the client disconnects. Returns what cancels that. */
  readonly onLeave: (act: () => void) => () => void;
}

/** `handle` gets the body and the query as their shapes read them; without a shape, the raw query. */
interface Definition<Body, Query> extends EndpointDetails {
  readonly body?: EndpointBody<Body>;
  readonly query?: Shape<Query>;
  readonly handle: Handle<ControlCall<Body, Query>>;
}

/** Defines an endpoint. */
export function endpoint<Body = undefined, Query = URLSearchParams>(
  id: string,
  route: Route,
  definition: Definition<Body, Query>,
): EndpointDefinition;
export function endpoint(
  id: string,
  route: Route,
  { query: shape, handle, ...details }: Definition<unknown, unknown>,
): EndpointDefinition {
  const [method = '', path = ''] = route.split(' ');
  return {
    ...(shape && { parameters: parametersOf(shape) }),
    ...details,
    id,
    method,
    path,
    handle(call) {
      const query = shape ? readQueryAs(shape, call.query) : whole(call.query);
      if (!query.ok) return refuseInput(query.problems);
      const { body: given = {} } = call;
      const body = details.body ? readAs(details.body.shape, given) : whole(undefined);
      if (!body.ok) return refuseInput(body.problems);
      return handle({ ...call, query: query.value, body: body.value });
    },
  };
}

function whole(value: unknown): Reading<unknown> {
  return { ok: true, value };
}

/** The URL of the service beside a control API. */
export function serviceUrl(controlUrl: string): string {
  return controlUrl.slice(0, -'/__mock'.length) + BASE_PATH;
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

/** A reply of the control API. */
export interface ControlReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * JSON, unless the headers say otherwise. In pieces, so that the text of a large store is not
   * copied; or a function that takes over the response after its headers. Undefined for no body.
   */
  readonly content?: string | Buffer | Iterable<string> | ((response: ServerResponse) => void);
}

type Headers = ControlReply['headers'];

/** A reply of JSON. */
export function json<T extends object>(value: T, status = 200, headers: Headers = {}) {
  return { status, headers, content: writeJson(value) };
}

/** A reply of JSON in pieces, with a list. */
export function jsonList<T>(
  before: string,
  items: readonly T[],
  textOf: (item: T) => string,
  after: string,
): ControlReply {
  const pieces = function* (): Generator<string> {
    yield `${before}[`;
    for (const [index, item] of items.entries()) yield (index === 0 ? '' : ',') + textOf(item);
    yield `]${after}`;
  };
  return { status: 200, content: pieces() };
}

/** A reply of another media type. */
export function ofType(mediaType: string, content: NonNullable<ControlReply['content']>) {
  return { status: 200, headers: { 'Content-Type': mediaType }, content };
}

/** A reply without a body. */
export const DONE: ControlReply = { status: 204 };

/** A redirect without a body. */
export function redirect(status: 302 | 308, location: string): ControlReply {
  return { status, headers: { Location: location } };
}

/** An Error. The sandbox's assumptions do not change its code: this is not a reply of the service. */
export function refuse<C extends ErrorCode>(
  code: C,
  status: StatusOf<C>,
  message: string,
  headers: Headers = {},
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

/** How many snapshots, latches and scenarios of its own a sandbox has at most. */
export const MOST_NAMED = 100;

/** Refuses a name that is not in use, once there are too many. */
export function refuseOneMore(
  kind: 'snapshots' | 'latches' | 'scenarios',
  named: ReadonlyMap<string, unknown>,
  name: string,
): ControlReply | undefined {
  if (named.has(name) || named.size < MOST_NAMED) return undefined;
  const message = `limit of ${kind} of a sandbox (${MOST_NAMED}) reached; delete one first`;
  return refuse(`too_many_${kind}`, 409, message);
}

/** A refusal that the service would answer with. */
export function ofService({ status, body }: Reply): ControlReply {
  return { status, content: body.kind === 'json' ? body.text : '{}' };
}

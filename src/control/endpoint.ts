import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { chooseOptions } from '../contract/assumption-table.ts';
import type { ErrorCode, StatusOf } from '../contract/error-codes.ts';
import { isIntegerText, type Json, writeJson } from '../contract/json.ts';
import { BASE_PATH } from '../contract/operations.ts';
import { isObject, type Reading } from '../contract/records.ts';
import type { Content } from '../http/write.ts';
import type { Edited, Sandbox } from '../sandbox/sandbox.ts';
import { MAX_NAMED, type State } from '../sandbox/state.ts';
import type { Instant } from '../service/clock.ts';
import { adviseMethod } from '../service/no-operation.ts';
import { errorBody, type Reply } from '../service/reply.ts';
import { readAs, type Shape } from '../shape/shapes.ts';
import { firstProblems, type Problem, problemText } from '../words.ts';
import type { ControlParts } from './control-options.ts';

/** The media type of YAML (RFC 9512). */
export const YAML_TYPE = 'application/yaml';

type Route = `${'get' | 'post' | 'put' | 'patch' | 'delete'} /${string}`;

interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly schema: Json;
}

interface EndpointBody<T> {
  readonly shape: Shape<T>;
  /** A missing body counts as an empty object. */
  readonly optional?: true;
  /** The shape reads the text as it was written: its `format`, JSON or YAML, and the `text`. */
  readonly asText?: true;
}

/** An endpoint in the table that the routes and the OpenAPI document are made from. */
export interface Endpoint {
  readonly id: string;
  readonly method: string;
  /** Below the mount, with parameters as `{name}`. */
  readonly path: string;
  readonly tag: { readonly name: string; readonly description: string };
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
  /**
   * By status, values of a shape, or, in words, an Error or no body. Without the errors that every
   * endpoint shares.
   */
  readonly replies: Readonly<Record<number, Shape<unknown> | string>>;
  /** Of replies that have a shape; JSON by default. */
  readonly mediaType?: string | readonly string[];
  /** What the headers of such replies say, by name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Needs no token and no sandbox. */
  readonly open?: true;
  /** Not logged: open pages read it again and again. */
  readonly quiet?: true;
  /** Exists at the default sandbox only. */
  readonly defaultOnly?: true;
  readonly handle: Handle<ControlCall>;
}

type Handle<Call> = (call: Call) => ControlReply | Promise<ControlReply>;

/** A request for the mock itself. */
export interface MockRequest {
  readonly request: IncomingMessage;
  /** The scheme and the host that the client called. */
  readonly origin: string;
  /** Where the control API of its sandbox is, such as `/~NAME/__mock`. */
  readonly mount: string;
  /** The sandbox that the path names, valid or not. */
  readonly sandboxName: string;
  /** The path below the mount, as the client wrote it. */
  readonly path: string;
  readonly search: string;
}

/** A request of the control API. */
export interface ControlCall<Body = unknown, Query = URLSearchParams> extends MockRequest {
  readonly parts: ControlParts;
  readonly sandbox: Sandbox;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** Undefined without one. */
  readonly body: Body;
}

export type EndpointDefinition = Omit<Endpoint, 'tag'>;

/** `handle` gets the body and the query as their shapes read them; without a shape, the raw query. */
interface Definition<Body, Query>
  extends Omit<EndpointDefinition, 'id' | 'method' | 'path' | 'parameters' | 'handle'> {
  readonly body?: EndpointBody<Body>;
  readonly query?: Shape<Query>;
  readonly handle: Handle<ControlCall<Body, Query>>;
}

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
      const body = details.body ? readAs(details.body.shape, call.body) : whole(undefined);
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

/** The parameters of a query: the members of its shape that have a description. */
function parametersOf({ schema }: Shape<unknown>): readonly Parameter[] {
  return Object.entries(propertiesOf(schema)).flatMap(([name, { description, ...property }]) =>
    description ? [{ name, description: String(description), schema: property }] : [],
  );
}

/** Reads a query as an object. Converts the text of integers and booleans first. */
export function readQueryAs<T>(shape: Shape<T>, query: URLSearchParams): Reading<T> {
  const properties = propertiesOf(shape.schema);
  const values = [...new Set(query.keys())].map((name) => {
    const [text = '', ...more] = query.getAll(name);
    const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
    return [name, more.length > 0 ? [text, ...more] : queryValue(type, text)] as const;
  });
  return readAs(shape, Object.fromEntries(values), 'query');
}

function propertiesOf({ properties }: Json): Readonly<Record<string, Json>> {
  return isObject(properties) ? Object(properties) : {};
}

function queryValue(type: unknown, text: string): unknown {
  if (type === 'integer' && isIntegerText(text)) return Number(text);
  // `?all` is short for `?all=true`.
  if (type === 'boolean' && ['', 'true', 'false'].includes(text)) return text !== 'false';
  return text;
}

/** A reply of the control API. */
export interface ControlReply {
  readonly status: number;
  /** JSON by default. */
  readonly mediaType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Undefined for no body. */
  readonly content?: Content;
}

export const DONE: ControlReply = { status: 204 };

export function json<T extends object>(
  value: T,
  status = 200,
  headers: ControlReply['headers'] = {},
): ControlReply {
  return { status, headers, content: writeJson(value) };
}

/** An Error. The sandbox's assumptions do not change its code: this is not a reply of the service. */
export function refuse<C extends ErrorCode>(
  code: C,
  status: StatusOf<C>,
  message: string,
  headers: ControlReply['headers'] = {},
): ControlReply {
  return json(errorBody(chooseOptions(), code, status, message), status, headers);
}

/** The refusal of a method, with those that are allowed. */
export function refuseMethod(method: string, allow: string): ControlReply {
  return refuse('method_not_allowed', 405, adviseMethod(method, allow), { Allow: allow });
}

/** The refusal of a body or a query, with its problems. */
export function refuseInput(problems: readonly Problem[]): ControlReply {
  return refuse('invalid_input', 400, firstProblems(problems, problemText).join('; '));
}

/** A refusal that the service would answer with. */
export function ofService({ status, body }: Reply): ControlReply {
  return { status, content: body.kind === 'json' ? body.text : '{}' };
}

/** Parts of a state that change, and the reply to the call. */
export interface StateEdit extends Partial<State> {
  readonly reply: ControlReply;
  readonly clears?: 'journal' | 'all' | undefined;
}

/**
 * Changes parts of a sandbox's state. An edit that returns a mere reply changes nothing.
 *
 * @param what the change in words, for the journal
 */
export function edit(
  { sandbox, request }: Pick<ControlCall, 'sandbox' | 'request'>,
  what: string,
  make: (state: State, now: Instant) => StateEdit | ControlReply,
): Promise<ControlReply> {
  const change = (state: State, now: Instant): Edited<ControlReply> => {
    const result = make(state, now);
    if (!('reply' in result)) return { state, result };
    const { reply, clears, ...changes } = result;
    return { state: { ...state, ...changes }, result: reply, clears };
  };
  return sandbox.edit(change, { what, by: readCaller(request.headers) });
}

/** Who calls: what `Mock-Client` says, such as `ctl`. */
function readCaller({ 'mock-client': name = '' }: IncomingHttpHeaders): string {
  return CALLER.test(String(name)) ? String(name) : 'the control API';
}

const CALLER = /^[\w .-]{1,40}$/;

/** Refuses a name that is not in use, once there are too many. */
export function refuseOneMore(
  kind: 'snapshots' | 'latches' | 'scenarios',
  named: ReadonlyMap<string, unknown>,
  name: string,
): ControlReply | undefined {
  if (named.has(name) || named.size < MAX_NAMED) return undefined;
  const message = `limit of ${kind} of a sandbox (${MAX_NAMED}) reached; delete one first`;
  return refuse(`too_many_${kind}`, 409, message);
}

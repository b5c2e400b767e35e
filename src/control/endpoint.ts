import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isIntegerText, type Json } from '../contract/json.ts';
import { BASE_PATH } from '../contract/operations.ts';
import { isObject, type Reading } from '../contract/records.ts';
import type { SavedVerdicts } from '../deployment/check/check-report.ts';
import { parseTarget } from '../http/target.ts';
import { DEFAULT_SANDBOX } from '../limits.ts';
import type { Edited, Sandbox } from '../sandbox/sandbox.ts';
import type { Sandboxes } from '../sandbox/sandboxes.ts';
import type { State } from '../sandbox/state.ts';
import type { OpenUpstream } from '../sandbox/upstream.ts';
import type { Instant } from '../service/clock.ts';
import { readAs, type Shape } from '../shape/shapes.ts';
import type { GuardOptions } from './guard.ts';
import { type ControlReply, refuseInput } from './reply.ts';

/** The media type of YAML (RFC 9512). */
export const YAML_TYPE = 'application/yaml';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
type Method = (typeof METHODS)[number];

/** A method and a path below the mount, with parameters as `{name}`. */
export type Route = `${Uppercase<Method>} /${string}`;

interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly schema: Json;
}

interface EndpointBody<T, In = unknown, Optional extends boolean = boolean> {
  readonly shape: Shape<T, In>;
  /** A missing body counts as an empty object. */
  readonly optional?: Optional;
  /** The shape reads the text as it was written: its `format`, JSON or YAML, and the `text`. */
  readonly asText?: true;
}

/** A row of the table that the routes, the OpenAPI document and the client are made from. */
export interface Endpoint {
  readonly id: string;
  readonly method: Method;
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
  readonly replies: Replies;
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

export interface FinishedCall {
  readonly method: string;
  readonly target: string;
  readonly status: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** In milliseconds, up to the end of the reply. */
  readonly duration: number;
}

export interface ControlOptions {
  /** Leaves out everything that distinguishes the mock from the service. */
  readonly plain?: boolean | undefined;
  /** Leaves out the control API, except for `health` and `certificate.pem`. */
  readonly noControl?: boolean | undefined;
  /** What a check of a deployment found out, to show beside the assumptions. */
  readonly checked?: SavedVerdicts | undefined;
  /** Called after each call of the control API, except `health` and `status`. */
  readonly onControlCall?: ((call: FinishedCall) => void) | undefined;
}

export interface ControlParts extends ControlOptions {
  readonly plain: boolean;
  readonly sandboxes: Sandboxes;
  readonly guard: GuardOptions;
  /** The certificate that clients may trust, in PEM; undefined without TLS. */
  readonly certificate?: string | undefined;
  /** Opens the deployment that is to answer in a sandbox. */
  readonly openUpstream: OpenUpstream;
  /** Why the server cannot answer now; undefined while it can. */
  readonly problem?: (() => string | undefined) | undefined;
}

type Handle<Call> = (call: Call) => ControlReply | Promise<ControlReply>;

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

/** What Express adds to a request. */
export type ExpressRequest = IncomingMessage &
  Readonly<Record<'url' | 'baseUrl' | 'originalUrl', string>>;

/** @param request below the mount of a control API, which is its `baseUrl` */
export function readRequest(request: ExpressRequest): MockRequest {
  const { baseUrl: mount, originalUrl } = request;
  const scheme = 'encrypted' in request.socket ? 'https' : 'http';
  const origin = `${scheme}://${request.headers.host ?? 'localhost'}`;
  const [, sandboxName = DEFAULT_SANDBOX] = /\/~([^/]*)\/__mock$/.exec(mount) ?? [];
  const { path, search } = parseTarget(request.url);
  // Express adds a slash to the mount itself.
  const isMount = parseTarget(originalUrl).path.endsWith('/__mock');
  return { request, origin, mount, sandboxName, path: isMount ? '' : path, search };
}

export interface ControlCall<Body = unknown, Query = URLSearchParams> extends MockRequest {
  readonly parts: ControlParts;
  readonly sandbox: Sandbox;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  /** Undefined without one. */
  readonly body: Body;
}

/**
 * An endpoint without its tag, and what the compiler knows of it, by which it checks calls of a client:
 * the JSON of its body, its query and its reply.
 */
export interface EndpointDefinition<R = Route, Body = unknown, Query = unknown, Value = unknown>
  extends Omit<Endpoint, 'tag'> {
  /** Never set. */
  readonly types?: {
    readonly route: R;
    readonly body: Body;
    readonly query: Query;
    readonly reply: Value;
  };
}

type Replies = Readonly<Record<number, Shape<unknown> | string>>;

/** The JSON of the replies that are a success; undefined for one without a body. */
type ValueOfReplies<R extends Replies> = {
  [Status in keyof R & number]: `${Status}` extends `2${string}`
    ? R[Status] extends Shape<unknown, infer In>
      ? In
      : undefined
    : never;
}[keyof R & number];

/** `handle` gets the body and the query as their shapes read them; without a shape, the raw query. */
interface Definition<Body, BodyIn, Optional extends boolean, Query, QueryIn, R extends Replies>
  extends Omit<Endpoint, 'id' | 'method' | 'path' | 'tag' | 'parameters' | 'replies' | 'handle'> {
  readonly body?: EndpointBody<Body, BodyIn, Optional>;
  readonly query?: Shape<Query, QueryIn>;
  readonly replies: R;
  readonly handle: Handle<ControlCall<Body, Query>>;
}

export function endpoint<
  const R extends Route,
  const Answers extends Replies,
  Body = undefined,
  BodyIn = undefined,
  Optional extends boolean = false,
  Query = URLSearchParams,
  QueryIn = undefined,
>(
  id: string,
  route: R,
  definition: Definition<Body, BodyIn, Optional, Query, QueryIn, Answers>,
): EndpointDefinition<
  R,
  BodyIn | (Optional extends true ? undefined : never),
  QueryIn,
  ValueOfReplies<Answers>
>;
export function endpoint(
  id: string,
  route: Route,
  {
    query: shape,
    handle,
    ...details
  }: Definition<unknown, unknown, boolean, unknown, unknown, Replies>,
): EndpointDefinition {
  const [verb, path = ''] = route.split(' ');
  const method = METHODS.find((known) => known.toUpperCase() === verb) ?? 'get';
  return {
    ...(shape && { parameters: listParameters(shape) }),
    ...details,
    id,
    method,
    path,
    handle(call) {
      const query = shape ? readQuery(shape, call.query) : accept(call.query);
      if (!query.ok) return refuseInput(query.problems);
      const body = details.body ? readAs(details.body.shape, call.body) : accept(undefined);
      if (!body.ok) return refuseInput(body.problems);
      return handle({ ...call, query: query.value, body: body.value });
    },
  };
}

function accept(value: unknown): Reading<unknown> {
  return { ok: true, value };
}

export function findServiceUrl(controlUrl: string): string {
  return controlUrl.slice(0, -'/__mock'.length) + BASE_PATH;
}

function listParameters({ schema }: Shape<unknown>): readonly Parameter[] {
  return Object.entries(readProperties(schema)).flatMap(([name, { description, ...property }]) =>
    description ? [{ name, description: String(description), schema: property }] : [],
  );
}

/** Reads a query as an object. Converts the text of integers and booleans first. */
export function readQuery<T>(shape: Shape<T>, query: URLSearchParams): Reading<T> {
  const properties = readProperties(shape.schema);
  const values = [...new Set(query.keys())].map((name) => {
    const [text = '', ...more] = query.getAll(name);
    const type = Object.hasOwn(properties, name) ? properties[name]?.type : undefined;
    return [name, more.length > 0 ? [text, ...more] : queryValue(type, text)] as const;
  });
  return readAs(shape, Object.fromEntries(values), 'query');
}

function readProperties({ properties }: Json): Readonly<Record<string, Json>> {
  return isObject(properties) ? Object(properties) : {};
}

function queryValue(type: unknown, text: string): unknown {
  if (type === 'integer' && isIntegerText(text)) return Number(text);
  // `?all` is short for `?all=true`.
  if (type === 'boolean' && ['', 'true', 'false'].includes(text)) return text !== 'false';
  return text;
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

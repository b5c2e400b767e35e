import { type ControlTarget, formatServiceUrl, parseAddress } from '../contract/target.ts';
import type { Json } from '../json.ts';
import type { Platform } from '../platform.ts';
import type { Outcome } from '../sandbox/answer.ts';
import type { JournalReader, Persistence } from '../sandbox/persistence.ts';
import type { AssumptionNote } from '../sandbox/report-shapes.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Sandboxes } from '../sandbox/sandboxes.ts';
import type { State } from '../sandbox/state.ts';
import { currentInstant, type Instant } from '../service/clock.ts';
import type { RequestBody, RequestHeaders } from '../service/input.ts';
import type { Shape } from '../shape/shapes.ts';
import type { ControlReply } from './reply.ts';

/** The media type of YAML (RFC 9512). */
export const YAML_TYPE = 'application/yaml';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
type Method = (typeof METHODS)[number];

type AnyRoute = `${Uppercase<Method>} /${string}`;

interface EndpointBody<T, In = unknown, Optional extends boolean = boolean> {
  readonly shape: Shape<T, In>;
  /** A missing body counts as an empty object. */
  readonly optional?: Optional;
  /** The shape reads the text as it was written: its `format`, JSON or YAML, and the `text`. */
  readonly asText?: true;
}

type Replies = Readonly<Record<number, Shape<unknown> | string>>;

/** A row of the table of endpoints. By `Types`, the compiler checks calls of a client. */
export interface Endpoint<Types = unknown> {
  readonly id: string;
  readonly method: Method;
  /** Below the mount, with parameters as `{name}`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Shape<unknown>;
  readonly body?: EndpointBody<unknown>;
  /**
   * The parameter of the path, the query and the body of an example request. It refers to the default
   * fixture, or to what an earlier POST example creates; `requests/1` exists once a client has called.
   */
  readonly example?: {
    readonly path?: string | number;
    readonly query?: Readonly<Record<string, string>>;
    readonly body?: Json;
  };
  /** Shapes, or what an Error or a reply without a body means. Without the errors that all share. */
  readonly replies: Replies;
  /** The media type of replies that have a shape; JSON by default. */
  readonly mediaType?: string | readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Needs no token and no sandbox. */
  readonly unguarded?: true;
  /** Not logged: open pages read it again and again. */
  readonly quiet?: true;
  /** Exists at the default sandbox only. */
  readonly defaultOnly?: true;
  /** Left out if a feature has it: then the endpoint exists only in builds with that feature. */
  handle?(call: ControlCall): Promise<ControlReply>;
  /** Never set: carries the types of bodies to the client. */
  readonly types?: Types;
}

export type Handler = NonNullable<Endpoint['handle']>;

export interface TaggedEndpoint extends Endpoint {
  readonly tag: { readonly name: string; readonly description: string };
}

/** An endpoint that this build has. */
export interface HandledEndpoint extends TaggedEndpoint {
  readonly handle: Handler;
  /** What its path is made of, between slashes. */
  readonly segments: readonly string[];
}

export interface EndpointTypes<R = AnyRoute, Body = unknown, Query = unknown, Value = unknown> {
  readonly route: R;
  readonly body: Body;
  readonly query: Query;
  readonly reply: Value;
}

/** The JSON of the replies that are a success; undefined for one without a body. */
type ValueOfReplies<R extends Replies> = {
  [Status in keyof R & number]: `${Status}` extends `2${string}`
    ? R[Status] extends Shape<unknown, infer In>
      ? In
      : undefined
    : never;
}[keyof R & number];

export function endpoint<
  const R extends AnyRoute,
  const Answers extends Replies,
  Body = undefined,
  BodyIn = undefined,
  Optional extends boolean = false,
  Query = undefined,
  QueryIn = undefined,
>(
  id: string,
  route: R,
  definition: Omit<
    Endpoint,
    'id' | 'method' | 'path' | 'query' | 'body' | 'replies' | 'handle' | 'types'
  > & {
    readonly body?: EndpointBody<Body, BodyIn, Optional>;
    readonly query?: Shape<Query, QueryIn>;
    readonly replies: Answers;
    handle?(call: ControlCall<Body, Query>): Promise<ControlReply>;
  },
): Endpoint<
  EndpointTypes<
    R,
    BodyIn | (Optional extends true ? undefined : never),
    QueryIn,
    ValueOfReplies<Answers>
  >
> {
  const [verb, path = ''] = route.split(' ');
  const method = METHODS.find((known) => known.toUpperCase() === verb) ?? 'get';
  return { ...definition, id, method, path };
}

export interface ControlParts {
  /** Leaves out the control API, except for `health` and `certificate.pem`. */
  readonly noControl?: boolean | undefined;
  readonly sandboxes: Sandboxes;
  readonly persistence: Persistence;
  readonly endpoints: readonly HandledEndpoint[];
  /** Refuses a caller that may not use the control API. */
  readonly guard: (headers: RequestHeaders) => ControlReply | undefined;
  readonly platform: Platform;
  /** The version of petstore-mock. */
  readonly version: string;
  /** In PEM; undefined without TLS. */
  readonly certificate?: string | undefined;
  /** To show beside assumptions, by id. */
  readonly notes?: ReadonlyMap<string, AssumptionNote> | undefined;
}

/** Whether this build has OpenAPI documents. */
export function isDescribed({ endpoints }: Pick<ControlParts, 'endpoints'>): boolean {
  return endpoints.some(({ id }) => id === 'getControlDocument');
}

/** A request for the control API, from a port or from anywhere else. */
export interface ControlRequest extends ControlTarget {
  readonly method: string;
  readonly headers: RequestHeaders;
  readonly origin: string;
  /** Never settles if the client leaves before the body is complete. */
  readonly readBody: (maxBytes: number) => Promise<RequestBody>;
  /** Calls back once the client has left. Returns how to cancel. */
  readonly onDisconnect: (act: () => void) => () => void;
}

export interface ControlCall<Body = unknown, Query = unknown> extends ControlRequest {
  readonly parts: ControlParts;
  readonly sandbox: Sandbox;
  /** The journal of the sandbox, wherever it is kept. */
  readonly journal: JournalReader;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
}

export function findServiceUrl(controlUrl: string): string {
  return formatServiceUrl(parseAddress(controlUrl));
}

/** @param what the change in words, for the journal */
export function edit(
  { sandbox, parts, headers }: Pick<ControlCall, 'sandbox' | 'parts' | 'headers'>,
  what: string,
  change: (state: State, now: Instant) => Outcome<ControlReply>,
): Promise<ControlReply> {
  const text = { what, by: readCaller(headers) };
  return parts.persistence.keep(sandbox, () => sandbox.change(change, currentInstant(), text));
}

/** Who edits: what the client calls itself, or else `the control API`. */
export function readCaller({ 'mock-client': name = '' }: RequestHeaders): string {
  return CALLER.test(String(name)) ? String(name) : 'the control API';
}

const CALLER = /^[\w .-]{1,40}$/;

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
  /** Whether the body may be missing, which counts as an empty object. */
  readonly optional?: Optional;
  /** Whether `shape` reads the body's text as it was written, with its format: JSON or YAML. */
  readonly asText?: true;
}

type Replies = Readonly<Record<number, Shape<unknown> | string>>;

/** A row of the table of endpoints. The compiler checks calls of the client against `Types`. */
export interface Endpoint<Types = unknown> {
  readonly id: string;
  readonly method: Method;
  /** The path below `/__mock`, with parameters as `{name}`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Shape<unknown>;
  readonly body?: EndpointBody<unknown>;
  /**
   * The parameter of the path, the query and the body of an example request. It uses the default
   * fixture or what an earlier POST example created; `requests/1` exists once a client has called.
   */
  readonly example?: {
    readonly path?: string | number;
    readonly query?: Readonly<Record<string, string>>;
    readonly body?: Json;
  };
  /** The shape of each reply, or a description if it has none. Common errors are left out. */
  readonly replies: Replies;
  /** The media type of replies that have a shape; JSON by default. */
  readonly mediaType?: string | readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether it can be called without a token and without a sandbox. */
  readonly unguarded?: true;
  /** Whether its calls are not logged, because open pages make them again and again. */
  readonly quiet?: true;
  /** Whether it exists at the default sandbox only. */
  readonly defaultOnly?: true;
  /** Left out if a feature provides it: a build without that feature has no such endpoint. */
  handle?(call: ControlCall): Promise<ControlReply>;
  /** Never set. It carries the types of the bodies to the client. */
  readonly types?: Types;
}

export type Handler = NonNullable<Endpoint['handle']>;

export interface TaggedEndpoint extends Endpoint {
  readonly tag: { readonly name: string; readonly description: string };
}

/** An endpoint with its handler, so that this build can answer it. */
export interface HandledEndpoint extends TaggedEndpoint {
  readonly handle: Handler;
  /** The segments of its path. */
  readonly segments: readonly string[];
}

export interface EndpointTypes<R = AnyRoute, Body = unknown, Query = unknown, Value = unknown> {
  readonly route: R;
  readonly body: Body;
  readonly query: Query;
  readonly reply: Value;
}

/** The JSON of the successful replies; undefined for a reply without a body. */
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
  const method = METHODS.find((known) => known.toUpperCase() === verb);
  if (method === undefined) throw new Error(`No endpoint can have the route ${route}.`);
  return { ...definition, id, method, path };
}

export interface ControlParts {
  /** Whether the control API is off, except for `health` and `certificate.pem`. */
  readonly noControl?: boolean | undefined;
  readonly sandboxes: Sandboxes;
  readonly persistence: Persistence;
  readonly endpoints: readonly HandledEndpoint[];
  /** Returns a refusal if the caller may not use the control API. */
  readonly guard: (headers: RequestHeaders) => ControlReply | undefined;
  readonly platform: Platform;
  /** The version of petstore-mock. */
  readonly version: string;
  /** The server's certificate in PEM; undefined without TLS. */
  readonly certificate?: string | undefined;
  /** Notes from `check` to show beside assumptions, by the assumption's id. */
  readonly notes?: ReadonlyMap<string, AssumptionNote> | undefined;
}

/** Whether this build can produce OpenAPI documents. */
export function isDescribed({ endpoints }: Pick<ControlParts, 'endpoints'>): boolean {
  return endpoints.some(({ id }) => id === 'getControlDocument');
}

/** A call of the control API, which Express or any other caller hands over. */
export interface ControlRequest extends ControlTarget {
  readonly method: string;
  readonly headers: RequestHeaders;
  readonly origin: string;
  /** Reads the body. The promise never settles if the client leaves before it is complete. */
  readonly readBody: (maxBytes: number) => Promise<RequestBody>;
  /** Calls `act` when the client leaves. Returns a function that cancels this. */
  readonly onDisconnect: (act: () => void) => () => void;
}

export interface ControlCall<Body = unknown, Query = unknown> extends ControlRequest {
  readonly parts: ControlParts;
  readonly sandbox: Sandbox;
  /** Reads the sandbox's journal, whether it is in memory or in Redis. */
  readonly journal: JournalReader;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
}

export function findServiceUrl(controlUrl: string): string {
  return formatServiceUrl(parseAddress(controlUrl));
}

/** @param what describes the change in the journal, such as `reset` */
export function edit(
  { sandbox, parts, headers }: Pick<ControlCall, 'sandbox' | 'parts' | 'headers'>,
  what: string,
  change: (state: State, now: Instant) => Outcome<ControlReply>,
): Promise<ControlReply> {
  const text = { what, by: readCaller(headers) };
  return parts.persistence.keep(sandbox, () => sandbox.change(change, currentInstant(), text));
}

/** Names the caller in the journal: the client's own `Mock-Client` header, or `the control API`. */
export function readCaller({ 'mock-client': name = '' }: RequestHeaders): string {
  return CALLER.test(String(name)) ? String(name) : 'the control API';
}

const CALLER = /^[\w .-]{1,40}$/;

import type { ServerResponse } from 'node:http';
import { chooseOptions } from '../contract/assumption-table.ts';
import type { ErrorCode, StatusOf } from '../contract/error-codes.ts';
import type { Problem } from '../contract/records.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { errorBody, type Reply } from '../service/reply.ts';
import { type Json, readAs, type Shape } from '../shape/shapes.ts';
import { firstProblems, problemText } from '../words.ts';
import type { ControlParts } from './parts.ts';
import { parametersOf, readQueryAs } from './query-shape.ts';

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';

/** What the endpoints are about, as the OpenAPI document groups them. */
export const TAGS = {
  Mock: 'The mock itself.',
  State: 'The records of a sandbox, all together.',
  Records: 'The records of a sandbox, one by one.',
  Snapshots: 'Stores that are kept to be brought back.',
  Scenarios: 'What forces states and replies.',
  Assumptions: 'The open questions of the document, and the options chosen.',
  Clock: 'The clock that everything in a sandbox reads.',
  Journal: 'The exchanges that a sandbox has seen.',
  Sandboxes: 'The isolated universes of a server.',
} as const;

/** A parameter of a query. */
export interface Parameter {
  readonly name: string;
  readonly description: string;
  readonly schema: Json;
}

export interface ReplyShape {
  readonly description: string;
  /** Undefined if the reply has no body. */
  readonly shape?: Shape<unknown>;
  /** Other than JSON. */
  readonly mediaType?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Body<T> {
  readonly shape: Shape<T>;
  /** A request without a body counts as one with an empty object. */
  readonly optional?: true;
  /** In bytes; 1 MiB by default. */
  readonly limit?: number;
  /** What to do about a larger one. */
  readonly instead?: string;
}

type Handle<Call> = (call: Call) => ControlReply | Promise<ControlReply>;

/** One line of the control API's table: its routes and its OpenAPI document are made of it. */
export interface Endpoint {
  readonly id: string;
  readonly method: Method;
  /** From the mount on, with its parameters as `{name}`. */
  readonly path: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly body?: Body<unknown>;
  /** Besides those of every endpoint. */
  readonly replies: Readonly<Record<number, ReplyShape>>;
  /** Answers anybody, and needs no sandbox. */
  readonly open?: true;
  /** There is one of it in a server, at the default sandbox. */
  readonly defaultOnly?: true;
  readonly handle: Handle<ControlCall>;
}

/** A request of the control API, as far as it has been read. */
export interface ControlCall {
  readonly parts: ControlParts;
  readonly sandbox: Sandbox;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** What `parseJson` made of the body; undefined where there was none. */
  readonly body: unknown;
  /** Where the control API is, as a path: `/__mock`. */
  readonly mount: string;
  /** The same with scheme and authority. */
  readonly url: string;
}

type Read<T, Name extends string> = Omit<Endpoint, 'handle'> & {
  readonly handle: Handle<Omit<ControlCall, Name> & Readonly<Record<Name, T>>>;
};

/** An endpoint that handles a body which has its shape. */
export function withBody<T>(
  endpoint: Read<T, 'body'> & { readonly body: Body<T> },
): Endpoint & { readonly body: Body<T> } {
  return {
    ...endpoint,
    handle(call) {
      const reading = readAs(endpoint.body.shape, call.body === undefined ? {} : call.body);
      if (!reading.ok) return refuseInput(reading.problems);
      return endpoint.handle({ ...call, body: reading.value });
    },
  };
}

/** An endpoint that handles a query which has its shape. */
export function withQuery<T>(query: Shape<T>, endpoint: Read<T, 'query'>): Endpoint {
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

type ReplyBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'json'; readonly value: object }
  /** JSON in pieces, so that a store of any size can be written without holding it. */
  | { readonly kind: 'pieces'; readonly pieces: Iterable<string> }
  /** Takes the response over, after its headers. */
  | {
      readonly kind: 'stream';
      readonly mediaType: string;
      readonly open: (response: ServerResponse) => void;
    };

export interface ControlReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: ReplyBody;
}

export function json(
  value: object,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): ControlReply {
  return { status, headers, body: { kind: 'json', value } };
}

export const DONE: ControlReply = { status: 204, body: { kind: 'none' } };

/** An Error. Its code is spelt the same whatever the sandbox assumes: no client of the service asks. */
export function refuse<C extends ErrorCode>(
  code: C,
  status: StatusOf<C>,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ControlReply {
  return json(errorBody(chooseOptions(), code, status, message), status, headers);
}

/** The refusal of a body or a query, with its problems. */
export function refuseInput(problems: readonly Problem[]): ControlReply {
  return refuse('invalid_input', 400, firstProblems(problems.map(problemText)).join('; '));
}

/** A refusal that the service would answer with. */
export function ofService({ status, body }: Reply): ControlReply {
  const text = body.kind === 'json' ? body.text.toString() : '{}';
  return { status, body: { kind: 'pieces', pieces: [text] } };
}

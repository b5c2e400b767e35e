import { formatControlUrl, parseAddress } from '../core/contract/target.ts';
import type { ControlApi } from '../core/control/endpoints.ts';
import type { StreamEvent } from '../core/control/journal/recorded-exchange.ts';
import type { ControlProblem } from '../core/control/reply.ts';
import { isObject, parseJson, tryParseJson, writeJson } from '../core/json.ts';
import { errorCode, NOT_TLS, UNTRUSTED_CERTIFICATE } from '../core/thrown.ts';

/** The method and path of an endpoint, such as `PUT /clock`. */
export type Route = keyof ControlApi;

/** The JSON of a reply; a string if it is text, undefined if it has no body. */
export type ReplyOf<R extends Route> = ControlApi[R]['reply'];

export type BodyOf<R extends Route> = ControlApi[R]['body'];

export type QueryOf<R extends Route> = ControlApi[R]['query'];

type TextRoute = { [R in Route]: ReplyOf<R> extends string ? R : never }[Route];
export type JsonRoute = Exclude<Route, TextRoute>;

type PathOf<R extends string> = R extends `${string}{${infer Name}}${infer Rest}`
  ? { readonly [N in Name]: string | number | bigint } & PathOf<Rest>
  : unknown;

/** What a call sends: path parameters, query and body, as far as the route has them. */
export type CallInput<R extends Route> = {
  /** Headers such as `If-Match`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
} & (unknown extends PathOf<R> ? unknown : { readonly path: PathOf<R> }) &
  (QueryOf<R> extends undefined ? unknown : { readonly query?: QueryOf<R> | undefined }) &
  (BodyOf<R> extends undefined
    ? unknown
    : undefined extends BodyOf<R>
      ? { readonly body?: BodyOf<R> }
      : { readonly body: BodyOf<R> });

/** The argument is optional if none of its members is required. */
export type CallArguments<R extends Route> =
  Record<never, never> extends CallInput<R> ? [input?: CallInput<R>] : [input: CallInput<R>];

/** An Error from the control API. */
export class ControlError extends Error {
  override readonly name = 'ControlError';
  readonly status: number;
  readonly code: string;
  /** The request, such as `GET http://127.0.0.1:4010/__mock/orders/99`. */
  readonly call: string;
  /** Every problem with what was sent, each with its place; empty for other errors. */
  readonly problems: readonly ControlProblem[];

  constructor(
    status: number,
    code: string,
    message: string,
    call: string,
    problems: readonly ControlProblem[] = [],
  ) {
    super(message);
    this.status = status;
    this.code = code;
    this.call = call;
    this.problems = problems;
  }
}

export interface ClientOptions {
  /** The base URL of the control API, such as `http://127.0.0.1:4010/__mock`. */
  readonly url: string;
  /** The token of the control API. */
  readonly token?: string | undefined;
  /** Sends the requests. By default, the global `fetch` as it was when this module was loaded. */
  readonly fetch?: Fetch | undefined;
  /** The name to record in the journal for changes by this client. */
  readonly name?: string | undefined;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Read when this module loads: a test that replaces `fetch` later does not affect a client. */
const originalFetch: Fetch = globalThis.fetch;

/**
 * Calls the control API of a sandbox, in Node and in browsers. The compiler checks calls against
 * the table of endpoints, from which only types are imported.
 *
 * @example
 * await client.call('PUT /clock', { body: { frozen: true } });
 * await client.call('GET /requests/{number}', { path: { number: 3 } });
 */
export class ControlClient {
  /** The base URL of the control API. */
  readonly url: string;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.url = options.url;
    this.#options = options;
  }

  /** A client of another sandbox on the same server. `default` is the default sandbox. */
  sandbox(name: string): ControlClient {
    const { root } = parseAddress(this.url);
    const url = formatControlUrl({ root, sandbox: name });
    return new ControlClient({ ...this.#options, url });
  }

  /**
   * Calls an endpoint and returns the JSON of its reply. Integers that a double would round are
   * bigints.
   *
   * @throws ControlError if the reply is an Error
   */
  async call<R extends JsonRoute>(route: R, ...[input]: CallArguments<R>): Promise<ReplyOf<R>> {
    const response = await this.request(route, input);
    const text = await response.text().catch((cause) => this.#refuse(cause, input?.signal));
    const value = text === '' ? undefined : tryParseJson(text);
    if (text !== '' && value === undefined)
      throw createForeignReplyError(response.status, route, this.url);
    // The server has this version, so its replies have the types of the table.
    return value as ReplyOf<R>;
  }

  /**
   * Checks that a petstore-mock answers at this address.
   *
   * @throws ControlError if something else does
   */
  async ping(signal?: AbortSignal): Promise<void> {
    const { status, version } = Object(await this.call('GET /health', { signal }));
    if (status !== 'ok' || typeof version !== 'string')
      throw createForeignReplyError(200, 'GET /health', this.url);
  }

  /** Calls an endpoint whose reply is text, such as a scenario in YAML. */
  async text<R extends TextRoute>(route: R, ...[input]: CallArguments<R>): Promise<string> {
    return (await this.request(route, input)).text();
  }

  /**
   * Calls any endpoint and returns the `Response`, with headers such as `ETag` and `X-Total-Count`.
   * Its body may not have arrived yet.
   *
   * @throws ControlError if the reply is an Error
   */
  send<R extends Route>(route: R, ...[input]: CallArguments<R>): Promise<Response> {
    return this.request(route, input);
  }

  /**
   * Yields exchanges and other events of the sandbox, until the server ends the stream. A `dropped`
   * event says how many exchanges the journal dropped unread.
   *
   * @throws ControlError if the reply is an Error; the signal's reason once it aborts
   */
  async *events(
    route: 'GET /requests/stream',
    input: CallInput<'GET /requests/stream'> = {},
  ): AsyncGenerator<StreamEvent & { readonly id: string }> {
    const { body } = await this.request(route, input);
    if (body === null) return;
    for await (const { type: name, id, data } of readEvents(body)) {
      yield { name, id, data: parseJson(data) } as StreamEvent & { readonly id: string };
    }
  }

  /** Calls a route that is known only at run time. Only the server checks the input. */
  async request(route: string, input: AnyInput = {}): Promise<Response> {
    const { token, name = 'a test', fetch: send = originalFetch } = this.#options;
    const { path = {}, query = {}, body, signal } = input;
    const [method = '', template = ''] = route.split(' ');
    const target = template.replace(/\{(\w+)\}/g, (_, parameter: string) =>
      encodeURIComponent(String(path[parameter])),
    );
    const url = this.url + target + writeSearch(query);
    const headers = new Headers({ 'Mock-Client': name, ...input.headers });
    if (token !== undefined) headers.set('Mock-Control-Token', token);
    const isText = typeof body === 'string';
    if (body !== undefined && !headers.has('Content-Type')) {
      headers.set('Content-Type', isText ? 'application/yaml' : 'application/json');
    }
    const content = isText ? body : body && writeJson(body);
    const init = { method, headers, signal: signal ?? null, body: content ?? null };
    const refuse = (cause: unknown) => this.#refuse(cause, signal);
    const response = await send(url, init).catch(refuse);
    if (response.ok) return response;
    throw readError(response.status, await response.text().catch(refuse), `${method} ${url}`);
  }

  #refuse(cause: unknown, signal?: AbortSignal): never {
    signal?.throwIfAborted();
    const code = errorCode(cause) ?? errorCode(Object(cause).cause) ?? '';
    const why = UNTRUSTED_CERTIFICATE.test(code)
      ? `the certificate of ${this.url} is not trusted: pass it as \`ca\`, or its file with --ca`
      : NOT_TLS.test(code)
        ? `the server at ${this.url} speaks plain HTTP: use a base URL with http:// instead of https://`
        : (explainBlocked(cause, this.url) ??
          `no petstore-mock answers at ${this.url}: is it running?`);
    throw new Error(why, { cause });
  }
}

/** Libraries that block requests of tests, how their errors begin, and how to let calls through. */
const BLOCKED: readonly (readonly [name: string, says: RegExp, allows: string])[] = [
  ['nock', /^Nock: /, "nock.enableNetConnect('127.0.0.1')"],
  ['MSW', /^\[MSW\] /, "`onUnhandledRequest: 'bypass'`"],
];

function explainBlocked(cause: unknown, url: string): string | undefined {
  const messages = [cause, Object(cause).cause].map((error) => String(Object(error).message));
  const blocked = BLOCKED.find(([, says]) => messages.some((message) => says.test(message)));
  if (blocked === undefined) return undefined;
  const [name, , allows] = blocked;
  return `${name} blocks calls to ${url} in this process: import petstore-mock before ${name} starts, or allow them with ${allows}`;
}

interface AnyInput {
  readonly path?: Readonly<Record<string, string | number | bigint>>;
  readonly query?: object | undefined;
  readonly body?: object | string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

function writeSearch(query: object): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one));
  }
  return search.size === 0 ? '' : `?${search}`;
}

/** Advice to append to an error for users of the library, by error code. */
const ADVICE: Readonly<Record<string, string>> = {
  unauthorized: '; pass it as `token`, or with --token',
  route_not_found: '; is it a petstore-mock without --no-control?',
};

/** Creates the error for a failed reply, which may not even come from petstore-mock. */
function readError(status: number, text: string, call: string): ControlError {
  const body = tryParseJson(text);
  if (!isObject(body) || typeof body.code !== 'string' || typeof body.message !== 'string') {
    return createForeignReplyError(status, call);
  }
  const { code, message, problems } = body;
  const places = Array.isArray(problems) ? problems : [];
  return new ControlError(status, code, message + (ADVICE[code] ?? ''), call, places);
}

function createForeignReplyError(status: number, ...call: readonly string[]): ControlError {
  const message = `${call.join(' of ')} got ${status} from something other than petstore-mock: is the URL right?`;
  return new ControlError(status, 'unknown', message, call.join(' of '));
}

interface ServerSentEvent {
  readonly type: string;
  readonly id: string;
  readonly data: string;
}

/**
 * Reads server-sent events. A browser's EventSource cannot send the control token, and does not say
 * why a connection failed.
 *
 * @param body of a reply with the media type `text/event-stream`
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + decoder.decode(value, { stream: true })).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = parseEvent(block);
        if (event !== undefined) yield event;
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

/** @returns undefined for a comment. The control API writes one line for each field of an event. */
function parseEvent(block: string): ServerSentEvent | undefined {
  const fields = block.split('\n').map((line) => line.split(/: (.*)/s));
  const { event: type = 'message', id = '', data } = Object.fromEntries(fields);
  return data === undefined ? undefined : { type, id, data };
}

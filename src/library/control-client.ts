import { Readable } from 'node:stream';
import { ControlError } from '../client/control-client.ts';
import { readEvents } from '../client/event-stream.ts';
import { parseJson, tryParseJson, writeJson } from '../contract/json.ts';
import { isObject } from '../contract/records.ts';
import { errorCode, NO_TLS, UNTRUSTED } from '../node-errors.ts';

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Calls one control API. Tests that replace `fetch` later do not affect it. */
export class ControlClient {
  /** Such as `http://127.0.0.1:4010/__mock`. */
  readonly url: string;
  readonly #token: string | undefined;
  readonly #fetch: Fetch;
  readonly #name: string;

  /**
   * @param send the `fetch` to call it with
   * @param name who the journal says has made a change
   */
  constructor(
    url: string,
    token: string | undefined,
    send: Fetch = fetchNow,
    name: string = 'a test',
  ) {
    this.url = url;
    this.#token = token;
    this.#fetch = send;
    this.#name = name;
  }

  /** The client of the control API of a sandbox of the same server. */
  at(url: string): ControlClient {
    return new ControlClient(url, this.#token, this.#fetch, this.#name);
  }

  /**
   * Calls an endpoint. `T` is its reply according to the server's OpenAPI document.
   *
   * @param body sent as JSON, but a blob as it is
   * @throws ControlError if it answers with an Error
   */
  async call<T>(method: Method, path: string, body?: object): Promise<T> {
    const response = await this.#reply(method, path, body);
    const text = await response.text().catch((cause) => this.#unreachable(cause));
    const value = text === '' ? undefined : tryParseJson(text);
    if (text === '' || value !== undefined) return value as T;
    throw replyError(response.status, '', `${method} ${this.url}${path}`);
  }

  /** The number of records in a list, regardless of pages and limits. */
  async count(path: string): Promise<number> {
    const response = await this.#reply('GET', path);
    await response.text();
    return Number(response.headers.get('X-Total-Count'));
  }

  /** The text of a reply that is not JSON. */
  async text(path: string): Promise<string> {
    return (await this.#reply('GET', path)).text();
  }

  /**
   * The events of a stream, until the server ends it or the signal aborts. `E` is what they can be.
   *
   * @throws ControlError if the server answers with an Error
   */
  async *events<E extends { readonly name: string; readonly data: unknown }>(
    path: string,
    signal?: AbortSignal,
  ): AsyncGenerator<E> {
    const { body } = await this.#reply('GET', path, undefined, signal);
    if (body === null) return;
    for await (const { type, data } of readEvents(body)) {
      yield { name: type, data: parseJson(data) } as E;
    }
  }

  /** The reply to a request, if it is a success. Its body may still arrive. */
  async #reply(
    method: Method,
    path: string,
    body?: object,
    signal: AbortSignal | null = null,
  ): Promise<Response> {
    const headers = new Headers({ 'Mock-Client': this.#name });
    if (this.#token !== undefined) headers.set('Mock-Control-Token', this.#token);
    const isBlob = body instanceof Blob;
    if (body !== undefined) headers.set('Content-Type', isBlob ? body.type : 'application/json');
    const content = isBlob ? await body.text() : body && writeJson(body);
    const init = { method, headers, signal, body: content ?? null };
    const unreachable = (cause: unknown) => this.#unreachable(cause);
    const response = await this.#fetch(this.url + path, init).catch(unreachable);
    if (response.ok) return response;
    const text = await response.text().catch(unreachable);
    throw replyError(response.status, text, `${method} ${this.url}${path}`);
  }

  #unreachable(cause: unknown): never {
    const code = errorCode(cause) ?? errorCode(Object(cause).cause) ?? '';
    const why = UNTRUSTED.test(code)
      ? `the certificate of ${this.url} is not trusted: pass it as \`ca\`, or its file with --ca`
      : NO_TLS.test(code)
        ? `the server at ${this.url} speaks plain HTTP: use a base URL with http:// instead of https://`
        : `no petstore-mock answers at ${this.url}: is it running?`;
    throw new Error(why, { cause });
  }
}

/** Taken when this module is loaded. */
const fetchNow: Fetch = globalThis.fetch;

/** Advice for users of the library, by error code. */
const ADVICE: Readonly<Record<string, string>> = {
  unauthorized: '; pass it to connectPetstoreMock as `token`',
  route_not_found: '; is it a petstore-mock without --no-control?',
};

/** The error for a reply that is not a success. It may not come from petstore-mock. */
function replyError(status: number, text: string, call: string): ControlError {
  const body = tryParseJson(text);
  if (isObject(body) && typeof body.code === 'string' && typeof body.message === 'string') {
    return new ControlError(status, body.code, body.message + (ADVICE[body.code] ?? ''), call);
  }
  const message = `${call} got ${status} from something other than petstore-mock: is the URL right?`;
  return new ControlError(status, 'unknown', message, call);
}

/** The query string of some parameters, with its question mark; empty without parameters. */
export function searchOf(parameters: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? '' : `?${query}`;
}

/**
 * A `fetch` for a server whose certificate Node does not trust. Node's own takes no certificates but
 * those of NODE_EXTRA_CA_CERTS, which it reads when the process starts.
 *
 * @param ca in PEM
 */
export function fetchTrusting(ca: string): Fetch {
  const { Agent, request } = process.getBuiltinModule('node:https');
  const agent = new Agent({ keepAlive: true, ca });
  return (url, { method = 'GET', headers, body, signal }) =>
    new Promise((resolve, reject) => {
      const names = Object.fromEntries(new Headers(headers));
      const options = { agent, method, headers: names, ...(signal && { signal }) };
      const outgoing = request(url, options, (reply) => {
        const { statusCode: status = 0, headers: received } = reply;
        const pairs = Object.entries(received).map(([name, value]) => [name, String(value)]);
        const content = status === 204 ? null : Readable.toWeb(reply);
        resolve(new Response(content, { status, headers: Object.fromEntries(pairs) }));
      });
      outgoing.on('error', reject).end(body);
    });
}

import { parseJson, writeJson } from '../contract/json.ts';
import { isObject } from '../contract/records.ts';

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An Error from the control API. */
export class ControlError extends Error {
  override readonly name = 'ControlError';
  readonly status: number;
  readonly code: string;
  /** The request, such as `GET http://127.0.0.1:4010/__mock/orders/99`. */
  readonly call: string;

  constructor(status: number, code: string, message: string, call: string) {
    super(message);
    this.status = status;
    this.code = code;
    this.call = call;
  }
}

/** Calls one control API. Tests that replace `fetch` later do not affect it. */
export class ControlClient {
  /** Such as `http://127.0.0.1:4010/__mock`. */
  readonly url: string;
  readonly #token: string | undefined;
  readonly #fetch: Fetch;

  /** @param send the `fetch` to call it with */
  constructor(url: string, token: string | undefined, send: Fetch = fetchNow) {
    this.url = url;
    this.#token = token;
    this.#fetch = send;
  }

  /** The client of another control API of the same server. */
  at(url: string): ControlClient {
    return new ControlClient(url, this.#token, this.#fetch);
  }

  /**
   * Calls an endpoint. `T` is its reply according to the server's OpenAPI document.
   *
   * @throws ControlError if it answers with an Error
   */
  async call<T>(method: Method, path: string, body?: object): Promise<T> {
    return (await this.#send(method, path, body)).value as T;
  }

  /** The number of records in a list, regardless of pages and limits. */
  async count(path: string): Promise<number> {
    const { headers } = await this.#send('GET', path, undefined);
    return Number(headers.get('X-Total-Count'));
  }

  async #send(method: Method, path: string, body: object | undefined) {
    const headers: Record<string, string> = {};
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    if (this.#token !== undefined) headers['Mock-Control-Token'] = this.#token;
    const init = { method, headers, ...(body !== undefined && { body: writeJson(body) }) };
    const call = `${method} ${this.url}${path}`;
    const gone = (cause: unknown) => {
      throw new Error(`no petstore-mock answers at ${this.url}: is it running?`, { cause });
    };
    const response = await this.#fetch(this.url + path, init).catch(gone);
    const text = await response.text().catch(gone);
    try {
      const value: unknown = text === '' ? undefined : parseJson(text);
      if (response.ok) return { value, headers: response.headers };
      throw errorOf(response.status, value, call);
    } catch (error) {
      throw error instanceof ControlError ? error : errorOf(response.status, undefined, call);
    }
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
function errorOf(status: number, body: unknown, call: string): ControlError {
  if (isObject(body) && typeof body.code === 'string' && typeof body.message === 'string') {
    return new ControlError(status, body.code, body.message + (ADVICE[body.code] ?? ''), call);
  }
  const message = `${call} got ${status} from something other than petstore-mock: is the URL right?`;
  return new ControlError(status, 'unknown', message, call);
}

/** The query string of some parameters, with its question mark; empty without parameters. */
export function queryOf(parameters: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? '' : `?${query}`;
}

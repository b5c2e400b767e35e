import { parseJson, writeJson } from '../contract/json.ts';
import { isObject } from '../contract/records.ts';
import { ControlError } from './control-error.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Calls one control API. What a test puts in the place of `fetch` later does not reach it. */
export class ControlClient {
  /** Such as `http://127.0.0.1:4010/__mock`. */
  readonly url: string;
  readonly #token: string | undefined;

  constructor(url: string, token: string | undefined) {
    this.url = url;
    this.#token = token;
  }

  /** The client of another control API of the same server. */
  at(url: string): ControlClient {
    return new ControlClient(url, this.#token);
  }

  /**
   * Calls an endpoint. `T` is what the server's OpenAPI document says that it answers.
   *
   * @throws ControlError where it answers with an Error
   */
  async call<T>(method: Method, path: string, body?: object): Promise<T> {
    const { text } = await this.#send(method, path, body);
    return (text === '' ? undefined : parseJson(text)) as T;
  }

  /** The same, for a list: with how many there are without a page or a limit. */
  async list<T>(path: string): Promise<{ records: readonly T[]; total: number }> {
    const { text, headers } = await this.#send('GET', path, undefined);
    const records = parseJson(text) as readonly T[];
    return { records, total: Number(headers.get('X-Total-Count') ?? records.length) };
  }

  async #send(method: Method, path: string, body: object | undefined) {
    const headers: Record<string, string> = {};
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    if (this.#token !== undefined) headers['Mock-Control-Token'] = this.#token;
    const init = { method, headers, ...(body !== undefined && { body: writeJson(body) }) };
    const response = await fetchNow(this.url + path, init).catch((cause: unknown) => {
      throw new Error(`No petstore-mock answers at ${this.url}.`, { cause });
    });
    const text = await response.text();
    if (!response.ok) throw errorOf(response.status, text, `${method} ${this.url}${path}`);
    return { text, headers: response.headers };
  }
}

/** As it was when this was loaded. */
const fetchNow = globalThis.fetch;

function errorOf(status: number, text: string, asked: string): Error {
  let body: unknown;
  try {
    body = parseJson(text);
  } catch {
    // Something other than the mock has answered; it is told as an Error of no known code.
  }
  if (isObject(body) && typeof body.code === 'string' && typeof body.message === 'string') {
    return new ControlError(status, body.code, body.message);
  }
  return new ControlError(status, 'unknown', `${asked} got ${status}, which is no Error of a mock`);
}

/** A query of what is given, or nothing where nothing is. */
export function queryOf(parameters: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? '' : `?${query}`;
}

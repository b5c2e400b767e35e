import { parseJson, writeJson } from '../../contract/json.ts';
import { connection, controlPath, controlToken, reconnected, sandbox } from '../state/session.ts';

/** A refusal of the control API, in the words of the server. */
export class Refusal extends Error {}

export interface CallOptions {
  /** A value for JSON, or a text in YAML. */
  readonly body?: object | string;
  readonly signal?: AbortSignal;
  /** The sandbox; that of the page by default. */
  readonly of?: string | undefined;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Calls the control API and returns the value of its JSON reply. */
export async function call<T>(method: Method, path: string, options: CallOptions = {}): Promise<T> {
  const text = await (await open(method, path, options)).text();
  return valueIn(text === '' ? 'null' : text);
}

/** The object or list in a text of the control API, with every digit of an integer. */
export function valueIn<T>(text: string): T {
  return Object(parseJson(text));
}

/**
 * Sends a request to the control API and returns the reply before its body.
 *
 * @throws Refusal if the server refuses it
 */
export async function open(
  method: Method,
  path: string,
  { body, signal, of = sandbox }: CallOptions = {},
): Promise<Response> {
  const type = typeof body === 'string' ? 'application/yaml' : 'application/json';
  const headers = new Headers(body === undefined ? {} : { 'content-type': type });
  const token = controlToken();
  if (token !== undefined) headers.set('mock-control-token', token);
  let response: Response;
  try {
    const text = typeof body === 'object' ? writeJson(body) : body;
    response = await fetch(controlPath(of) + path, {
      method,
      headers,
      signal: signal ?? null,
      body: text ?? null,
    });
  } catch (error) {
    if (signal?.aborted !== true) lost();
    throw error;
  }
  if (response.ok) return response;
  // A late reply to a call with the previous token says nothing about this one.
  if (response.status === 401 && token === controlToken()) {
    connection.value = token === undefined ? 'no-token' : 'wrong-token';
  }
  throw new Refusal(await messageOf(response));
}

async function messageOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { message } = valueIn<{ message?: unknown }>(text);
    return typeof message === 'string' ? message : text;
  } catch {
    return text || `HTTP status ${response.status}`;
  }
}

/** Marks the server as lost, and polls it every second until it is back. */
function lost(): void {
  if (connection.value === 'lost') return;
  connection.value = 'lost';
  const timer = setInterval(async () => {
    const health = await fetch(`${controlPath(sandbox)}/health`).catch(() => undefined);
    if (health?.ok !== true || connection.value !== 'lost') return;
    clearInterval(timer);
    reconnected();
  }, 1_000);
}

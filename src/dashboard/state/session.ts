import { computed, signal } from '@preact/signals';
import { parseJson, writeJson } from '../../contract/json.ts';
import { BASE_PATH } from '../../contract/operations.ts';
import type { EditView } from '../../control/control-shapes.ts';
import { formatAddress, parseAddress } from '../../http/target.ts';

const { root, sandbox: named } = parseAddress(location.pathname);

/** The sandbox of this page's address. */
export const sandbox = named;

/** The path of the control API of a sandbox. */
export function controlPath(name: string): string {
  return `${formatAddress({ root, sandbox: name })}/__mock`;
}

/** Where the service of this sandbox is on this server. */
export const servicePath = formatAddress({ root, sandbox }) + BASE_PATH;

/** The base URL that clients of this sandbox use. */
export const serviceUrl = location.origin + servicePath;

/** Whether the control API answers this page. */
export const connection = signal<'ok' | 'lost' | 'no-token' | 'wrong-token'>('ok');

/** Whether the page needs a token, or another one, before it can show anything. */
export const needsToken = computed(
  () => connection.value === 'no-token' || connection.value === 'wrong-token',
);

/** Incremented when the server is back, so that every view reloads. */
export const epoch = signal(0);

/** Incremented after each action, which may have changed what any view shows. */
export const changes = signal(0);

const TOKEN = 'petstore-mock control token';

/** The control token, which lives as long as the tab. */
export function controlToken(): string | undefined {
  return sessionStorage.getItem(TOKEN) ?? undefined;
}

export function enterToken(token: string): void {
  sessionStorage.setItem(TOKEN, token);
  reloadAll();
}

/** Reloads everything. */
export function reloadAll(): void {
  connection.value = 'ok';
  epoch.value += 1;
}

export interface Notice {
  readonly kind: 'done' | 'failed';
  readonly text: string;
  /** The change that Undo takes back. */
  readonly edit?: EditView | undefined;
}

/** The result of the last action. */
export const notice = signal<Notice | undefined>(undefined);

/** A refusal of the control API, in the words of the server. */
export class Refusal extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

export interface CallOptions {
  /** A value for JSON, or a text in YAML. */
  readonly body?: object | string;
  readonly signal?: AbortSignal;
  /** The sandbox; that of the page by default. */
  readonly of?: string | undefined;
  /** The version that the action replaces, by its ETag. */
  readonly ifMatch?: string | undefined;
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
  { body, signal, of = sandbox, ifMatch }: CallOptions = {},
): Promise<Response> {
  const type = typeof body === 'string' ? 'application/yaml' : 'application/json';
  const headers = new Headers({ 'mock-client': 'the page' });
  if (body !== undefined) headers.set('content-type', type);
  if (ifMatch !== undefined) headers.set('if-match', ifMatch);
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
  throw new Refusal(await messageOf(response), response.status);
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
    reloadAll();
  }, 1_000);
}

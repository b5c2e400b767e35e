import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as openRequest,
} from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { tryParseJson, writeJson } from '../../src/core/json.ts';
import { type ServerOptions, startServer } from '../../src/index.ts';

/** What a client sends besides a method and a path. */
export interface RequestParts {
  /** The API key, `demo-key` by default; null sends no `Authorization`. */
  readonly key?: string | null | undefined;
  /** Text and bytes as they are; an object as JSON, its bigints as digits. */
  readonly body?: string | Buffer | object | undefined;
  /** Headers beside the key and the JSON content type; undefined takes one of those away. */
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
}

/** A reply as a client sees it. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** As received, so that digits can be compared. */
  readonly text: string;
  /** Parsed exactly: integers beyond 2^53 are bigints. Undefined if it is not JSON. */
  readonly json: unknown;
}

export interface Client {
  send(method: string, path: string, sent?: RequestParts): Promise<Answer>;
  /** Calls the control API with a method and a path, such as `PUT scenario`. */
  control(call: string, body?: RequestParts['body']): Promise<Answer>;
}

/** Opens a server for the running test, and a client that keeps its connections. */
export async function openServer(settings: ServerOptions = {}): Promise<Client> {
  const { port, close } = await startServer({ ...settings, port: 0 });
  const agent = new Agent({ keepAlive: true });
  onTestFinished(() => {
    agent.destroy();
    return close();
  });
  return clientAt(port, agent);
}

/** A client of a server that a test has started itself. */
export function clientAt(port: number, agent = new Agent()): Client {
  const send: Client['send'] = async (method, path, parts = {}) => {
    const { headers, content } = encodeParts(parts);
    const options = { agent, host: '127.0.0.1', port, method, path, headers };
    const request = openRequest(options);
    // `once` rejects at an error before the response; a later one is the response's too.
    request.on('error', () => {}).end(content);
    const [response]: IncomingMessage[] = await once(request, 'response');
    if (response === undefined) throw new Error('no response');
    const received = await text(response);
    const { statusCode: status = 0, headers: head } = response;
    return { status, headers: head, text: received, json: tryParseJson(received) };
  };
  return { send, control: controlBy(send) };
}

/** The headers and the body of a request, as they are sent. */
export function encodeParts({ key = 'demo-key', body, headers }: RequestParts) {
  const isPlain = body === undefined || typeof body === 'string' || Buffer.isBuffer(body);
  const content = isPlain ? body : writeJson(body);
  const length = content === undefined ? undefined : String(Buffer.byteLength(content));
  const all: Readonly<Record<string, string | undefined>> = {
    Authorization: key === null ? undefined : `Bearer ${key}`,
    'Content-Type': content === undefined ? undefined : 'application/json',
    'Content-Length': length,
    ...headers,
  };
  const sent: Record<string, string> = {};
  for (const [name, value] of Object.entries(all)) if (value !== undefined) sent[name] = value;
  return { headers: sent, content };
}

export function controlBy(send: Client['send']): Client['control'] {
  return (call, body) => {
    const [method = '', path = ''] = call.split(' ');
    return send(method, `/__mock/${path}`, { body });
  };
}

/** Sends a request to a path under the base and waits for its reply. */
export type Ask = Client['send'];

/** A client of the service at a base path, with a connection for each request. */
export function asker(port: number, base = '/v1'): Ask {
  const { send } = clientAt(port);
  return (method, path, sent) => send(method, base + path, sent);
}

/** Writes a fixture for the running test and returns its path. */
export function fixtureFile(content: string | object): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-mock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'fixture.json');
  writeFileSync(path, typeof content === 'string' ? content : writeJson(content));
  return path;
}

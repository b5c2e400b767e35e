import { type OperationId, operationShape } from '../../../core/contract/operations.ts';
import { exampleOf } from '../../../core/contract/records.ts';
import { parseTarget } from '../../../core/contract/target.ts';
import { curlCommand } from '../../../core/curl.ts';
import { writeJson } from '../../../core/json.ts';
import { DEFAULT_SANDBOX, STAGING_SANDBOX } from '../../../core/limits.ts';
import { DEMO_KEY, STAGING_KEY } from '../../../core/service/keyring.ts';
import { host } from './host.ts';
import { attempt, formatError, undoCalls } from './resource.ts';
import { formatHref, go, plural, withQuery } from './route.ts';
import {
  client,
  type ListedExchange,
  lastChange,
  notice,
  PAGE_CLIENT,
  sandbox,
  servicePath,
} from './session.ts';
import { status } from './settings.ts';

export interface Request {
  readonly method: string;
  readonly target: string;
  readonly key: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | undefined;
}

export function formatBody(body: unknown, indent = 0): string {
  return typeof body === 'object' && body !== null ? writeJson(body, indent) : String(body);
}

/** A key that works in the sandbox. Until the server has said them, the one that works by default. */
function workingKey(): string {
  return status.value?.keys[0] ?? (sandbox === STAGING_SANDBOX ? STAGING_KEY : DEMO_KEY);
}

export function firstRequest(): Request {
  const target = `${servicePath}/pets?limit=5`;
  return { method: 'GET', target, key: workingKey(), headers: [] };
}

/** What the document shows as an example of an operation. */
export function exampleRequest(id: OperationId): Request {
  const { method, path, parameters, body } = operationShape(id);
  const exampleOfParameter = (name: string) => parameters.find((it) => it.name === name)?.example;
  return {
    method,
    target:
      servicePath + path.replaceAll(/\{(\w+)\}/g, (_all, name) => `${exampleOfParameter(name)}`),
    key: workingKey(),
    headers: body ? [['Content-Type', 'application/json']] : [],
    body: body && writeJson(exampleOf(body.shape.members), 2),
  };
}

/** The target without what every call of the sandbox begins with. */
export function shortTarget(target: string): string {
  return target.startsWith(`${servicePath}/`) ? target.slice(servicePath.length) : target;
}

const LEFT_OUT =
  /^(?:host|connection|content-length|transfer-encoding|accept-encoding|user-agent|authorization|proxy-authorization|cookie|mock-client|mock-control-token|traceparent|sec-.*)$/;

export function whyNotCopied({ target, request }: ListedExchange): string | undefined {
  if (!target.startsWith('/')) return 'The target of the request is not a path.';
  return request.cut ? 'The journal does not keep this body: it is too long.' : undefined;
}

/** The request of an exchange. The journal has only the start of its key. */
export function copyRequest({ method, target, key, request }: ListedExchange): Request {
  const { headers, body } = request;
  return {
    method,
    target,
    key: key === undefined ? '' : findKey(key.replace('…', ''), target, headers),
    headers: Object.entries(headers).filter(([name]) => !LEFT_OUT.test(name)),
    body: body === undefined ? body : formatBody(body),
  };
}

/** The key that works from the start, which also has to name the sandbox, or what to replace. */
function findKey(start: string, target: string, headers: object): string {
  const key = workingKey();
  if (!key.startsWith(start)) return `KEY_THAT_STARTS_WITH_${start}`;
  const isNamed =
    sandbox === DEFAULT_SANDBOX || parseTarget(target).mount !== '' || 'mock-sandbox' in headers;
  return isNamed ? key : `${key}~${sandbox}`;
}

/** Not resolved as a link would be: `//other.example/v1/pets` is a path here. */
function formatUrl({ target }: Request): string {
  return host.origin + target.replaceAll('#', '%23');
}

function requestHeaders({ key, headers }: Request): readonly (readonly [string, string])[] {
  return key === '' ? headers : [['Authorization', `Bearer ${key}`], ...headers];
}

export function formatCurlCommand(request: Request): string {
  const { method, body } = request;
  const sent = { method, url: formatUrl(request), headers: requestHeaders(request), body };
  return curlCommand(sent, ['-i'], navigator.userAgent.includes('Windows') ? 'powershell' : 'sh');
}

function partsOf(request: Request) {
  const { method, body } = request;
  const headers = Object.fromEntries(requestHeaders(request));
  return { url: formatUrl(request), method, headers, body };
}

const quote = (value: unknown) => JSON.stringify(value, null, 2);

/** A request in the languages of clients. */
export const SNIPPETS: Readonly<
  Record<'curl' | 'fetch' | 'axios' | 'Python' | 'Java', (request: Request) => string>
> = {
  curl: formatCurlCommand,
  fetch: (request) => {
    const { url, ...options } = partsOf(request);
    return `const response = await fetch(${quote(url)}, ${quote(options)});
console.log(response.status, await response.text());`;
  },
  axios: (request) => {
    const { body: data, ...config } = partsOf(request);
    return `import axios from 'axios';

const response = await axios(${quote({ ...config, data })});
console.log(response.status, response.data);`;
  },
  Python: (request) => {
    const { method, url, headers, body } = partsOf(request);
    const data = body === undefined ? '' : `, data=${quote(body)}`;
    return `import requests

response = requests.request("${method}", ${quote(url)}, headers=${JSON.stringify(headers)}${data})
print(response.status_code, response.text)`;
  },
  Java: (request) => {
    const { method, url, headers, body } = partsOf(request);
    const lines = Object.entries(headers).map((pair) => `\n      .header(${pair.map(quote)})`);
    const sent = body === undefined ? 'noBody()' : `ofString(${quote(body)})`;
    return `import java.net.URI;
import java.net.http.*;

public class Call {
  public static void main(String[] arguments) throws Exception {
    var request = HttpRequest.newBuilder(URI.create(${quote(url)}))${lines.join('')}
      .method("${method}", HttpRequest.BodyPublishers.${sent}).build();
    var reply = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    System.out.println(reply.statusCode() + " " + reply.body());
  }
}`;
  },
};

/** Sends a request from this page in a trace of its own, by which the journal finds its exchange. */
async function sendNow(request: Request): Promise<number> {
  const bytes = [...crypto.getRandomValues(new Uint8Array(24))];
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const trace = hex.slice(0, 32);
  const { method, body = null } = request;
  const headers = new Headers(requestHeaders(request).map(([name, value]) => [name, value]));
  headers.set('mock-client', PAGE_CLIENT);
  headers.set('traceparent', `00-${trace}-${hex.slice(32)}-01`);
  // A fault may end the connection, or never answer: the journal has the exchange all the same.
  host.fetch(formatUrl(request), { method, headers, body }).catch(() => undefined);
  await client.call('POST /requests/count', { body: { trace, atLeast: 1, within: 'PT10S' } });
  const { exchanges } = await client.call('GET /requests', { query: { trace } });
  const number = exchanges[0]?.number;
  if (number === undefined) throw new Error('The journal of this sandbox does not have the call.');
  return number;
}

/** @param from the exchange to compare it with */
function openSent(number: number, from?: number): void {
  go('exchanges', number, withQuery({ from: '', with: from }));
}

export function sendAndOpen(request: Request, from?: number): Promise<boolean> {
  return attempt(`Sent ${request.method} ${request.target}.`, () =>
    sendNow(request).then((number) => () => openSent(number, from)),
  );
}

function replay(number: number): Promise<{ readonly number: number }> {
  return client.call('POST /requests/{number}/replay', { path: { number } });
}

/** Lets the server send a recorded request again, with its bytes and its key, and opens the new exchange. */
export async function sendAgain({ number, method, target }: ListedExchange): Promise<void> {
  await attempt(`Sent ${method} ${target} again.`, async () => {
    const sent = await replay(number);
    return () => openSent(sent.number);
  });
}

/** Sends an exchange and all that came later again, one after the other, as far as they can be sent. */
export async function replayFrom(first: number): Promise<void> {
  const sent: number[] = [];
  const resend = async () => {
    const { exchanges } = await client.call('GET /requests', { query: { after: first - 1 } });
    for (const { number, replays } of exchanges) {
      if (replays !== undefined) continue;
      const { number: next } = await replay(number).catch((error) => {
        throw new Error(`Stopped at exchange ${number}: ${formatError(error)}`);
      });
      sent.push(next);
    }
  };
  const isWhole = await attempt('There is no call to send again.', resend);
  const [from, to] = [sent[0], sent.at(-1)];
  if (from === undefined || to === undefined) return;
  const text = `Sent ${plural(sent.length, 'call')} again, from exchange ${first}, on the present store.`;
  const href = formatHref('exchanges', undefined, { search: `is:replay after:${from - 1}` });
  const stop = isWhole ? '' : ` ${notice.value?.text}`;
  notice.value = undefined;
  lastChange.value = {
    kind: isWhole ? 'done' : 'failed',
    text: text + stop,
    link: ['Show them', href],
    undo: () => undoCalls(from, to),
  };
}

/** Undefined if a line is no header. */
export function parseHeaderLines(text: string): Request['headers'] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const headers = lines.flatMap((line) => {
    const [, name, value = ''] = /^\s*([^:\s]+)\s*:\s*(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, value] as const];
  });
  return headers.length === lines.length ? headers : undefined;
}

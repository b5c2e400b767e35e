import { writeJson } from '../../contract/json.ts';
import type { RecordedExchange, SandboxStatus } from '../../control/control-shapes.ts';
import { curlCommand, shellWord } from '../../curl.ts';
import { parseTarget } from '../../http/target.ts';
import { DEFAULT_SANDBOX, STAGING_SANDBOX } from '../../sandbox/sandbox-names.ts';
import { journalPage } from './exchange-feed.ts';
import { go, place } from './place.ts';
import { attempt } from './resource.ts';
import { call, sandbox, servicePath } from './session.ts';

/** A request as it can be sent again. */
export interface Request {
  readonly method: string;
  /** A path with its query, on this server. */
  readonly target: string;
  readonly key: string;
  /** Without the header of the key. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string | undefined;
}

/** A body of the journal as text: its JSON, or the text that it was. */
export function textOfBody(body: unknown, indent = 0): string {
  return typeof body === 'object' && body !== null ? writeJson(body, indent) : String(body);
}

/** What a new client may begin with. */
export const FIRST_REQUEST: Request = {
  method: 'GET',
  target: `${servicePath}/pets?limit=5`,
  key: sandbox === STAGING_SANDBOX ? 'staging-key' : 'demo-key',
  headers: [],
};

/** The keys that work out of the box, by what the journal keeps of them. */
const KNOWN_KEYS: Readonly<Record<string, string>> = {
  'demo…': 'demo-key',
  'stag…': 'staging-key',
};

/** Headers that a client writes itself, and those whose values are masked. */
const LEFT_OUT =
  /^(?:host|connection|content-length|transfer-encoding|accept-encoding|user-agent|authorization|proxy-authorization|cookie|mock-control-token|sec-.*)$/;

/** Why the request of an exchange cannot be sent again; undefined if it can. */
export function whyNotAgain({ target, request }: RecordedExchange): string | undefined {
  const { headers, body, cut } = request;
  if (!target.startsWith('/')) return 'The target of the request is not a path.';
  // The journal cuts longer ones.
  if (target.length > 2_047) return 'The journal has only the start of the path.';
  if (cut) return 'The journal has only the start of the body.';
  const hadBody = 'transfer-encoding' in headers || (headers['content-length'] ?? '0') !== '0';
  return hadBody && body === undefined ? 'The journal does not have the body.' : undefined;
}

/** Stands before the start of a key that the journal does not have in full. */
const LOST_KEY = 'KEY_THAT_STARTS_WITH_';

/** Whether a request lacks its key. It would get another reply without it. */
export function isKeyLost({ key }: Pick<Request, 'key'>): boolean {
  return key.startsWith(LOST_KEY);
}

/** The request of an exchange. */
export function requestOf({ method, target, key, request }: RecordedExchange): Request {
  const { headers, body } = request;
  return {
    method,
    target,
    key: key === undefined ? '' : (knownKey(key, target, headers) ?? LOST_KEY + key),
    headers: Object.entries(headers).filter(([name]) => !LEFT_OUT.test(name)),
    body: body === undefined ? body : textOfBody(body),
  };
}

/** The journal keeps only the start of a key. One that works also has to name the sandbox. */
function knownKey(start: string, target: string, headers: object): string | undefined {
  const key = KNOWN_KEYS[start];
  if (key === undefined) return undefined;
  const isNamed =
    sandbox === DEFAULT_SANDBOX || parseTarget(target).mount !== '' || 'mock-sandbox' in headers;
  return isNamed ? key : `${key}~${sandbox}`;
}

/** Not resolved as a link would be: `//other.example/v1/pets` is a path here. */
function urlOf({ target }: Request): string {
  return location.origin + target.replaceAll('#', '%23');
}

function requestHeaders({ key, headers }: Request): readonly (readonly [string, string])[] {
  return key === '' ? headers : [['Authorization', `Bearer ${key}`], ...headers];
}

export function curlOf(request: Request): string {
  const { method, body } = request;
  return curlCommand({ method, url: urlOf(request), headers: requestHeaders(request), body });
}

/** The request as a call of `fetch` in JavaScript. */
export function fetchOf(request: Request): string {
  const { method, body } = request;
  const options = { method, headers: Object.fromEntries(requestHeaders(request)), body };
  return `await fetch(${JSON.stringify(urlOf(request))}, ${JSON.stringify(options, null, 2)})`;
}

/** The request as a command of HTTPie. */
export function httpieOf(request: Request): string {
  const { method, body } = request;
  return [
    'http',
    '-v',
    ...(body === undefined ? ['--ignore-stdin'] : ['--raw', shellWord(body)]),
    method,
    shellWord(urlOf(request)),
    ...requestHeaders(request).map(([name, value]) =>
      shellWord(value === '' ? `${name};` : `${name}:${value}`),
    ),
  ].join(' ');
}

/** How often the journal is asked for the exchange of a request, and in how many milliseconds. */
const ATTEMPTS = 50;
const BETWEEN = 100;

/** Sends a request from this page, and returns the number of its exchange. */
async function sendNow(request: Request): Promise<number> {
  const { method, target, body } = request;
  const { latestExchange } = await call<SandboxStatus>('GET', '/status');
  // A fault may end the connection, or never answer: the journal has the exchange all the same.
  fetch(urlOf(request), {
    method,
    headers: requestHeaders(request).map(([name, value]): [string, string] => [name, value]),
    body: body ?? null,
    signal: AbortSignal.timeout(ATTEMPTS * BETWEEN),
  }).catch(() => undefined);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    await new Promise((resolve) => setTimeout(resolve, BETWEEN));
    const { exchanges } = await journalPage(`limit=100&after=${latestExchange}`, '');
    const exchange = exchanges.find((it) => it.method === method && it.target === target);
    if (exchange !== undefined) return exchange.number;
  }
  throw new Error('The journal of this sandbox does not have the request.');
}

/** Sends a request, and opens its exchange, beside the one that it came from. */
export async function sendAndOpen(request: Request, from?: number): Promise<void> {
  await attempt(`Sent ${request.method} ${request.target}.`, async () => {
    const number = await sendNow(request);
    const query = new URLSearchParams(place.value.query);
    query.delete('from');
    if (from !== undefined) query.set('with', String(from));
    go('exchanges', String(number), query);
  });
}

/** The headers in a text that has one a line. */
export function headersIn(text: string): (readonly [name: string, value: string])[] {
  return text.split('\n').flatMap((line) => {
    const [, name, value = ''] = /^\s*([^:\s]+)\s*:\s*(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, value] as const];
  });
}

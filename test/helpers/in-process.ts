import { onTestFinished } from 'vitest';
import { findControlTarget, parseTarget } from '../../src/core/contract/target.ts';
import { callControlApi, listEndpoints } from '../../src/core/control/control-api.ts';
import { tryParseJson } from '../../src/core/json.ts';
import type { Exchange } from '../../src/core/sandbox/exchange.ts';
import { createStart } from '../../src/core/sandbox/start.ts';
import { steadyNow } from '../../src/core/service/clock.ts';
import { BodyBytes, NO_BODY, type RequestBody } from '../../src/core/service/input.ts';
import { FEATURES } from '../../src/features.ts';
import type { ServerOptions } from '../../src/index.ts';
import { answerArrival, bodyLimit, openArrival, sendWhenDue } from '../../src/server/arrival.ts';
import type { Feature } from '../../src/server/feature.ts';
import { loadFiles } from '../../src/server/load-files.ts';
import { assembleMock } from '../../src/server/mock.ts';
import { NODE_PLATFORM } from '../../src/server/node-platform.ts';
import { type Answer, type Client, controlBy, encodeParts, type RequestParts } from './wire.ts';

type OpenOptions = ServerOptions & { readonly features?: readonly Feature[] };

type OnDisconnect = (act: () => void) => () => void;

const neverLeaves: OnDisconnect = () => () => {};

/**
 * Opens a mock for the running test and calls its core, without a socket or Express. It streams
 * nothing, and by default its clients never leave.
 */
export async function openMock(
  { features = FEATURES, ...settings }: OpenOptions = {},
  onDisconnect = neverLeaves,
): Promise<Client> {
  const { store, scenarios } = await loadFiles(settings);
  const start = createStart(settings, store, scenarios);
  const responders = features.map((feature) => feature.openResponder?.(settings));
  const opened = (await Promise.all(responders)).find((it) => it !== undefined);
  const { sandboxes, persistence, control, stopRemoving } = assembleMock(
    {
      start,
      guard: { token: undefined },
      notes: new Map(features.flatMap((it) => [...(it.noteAssumptions?.(settings) ?? [])])),
      upstream: opened?.responder,
    },
    settings,
  );
  onTestFinished(() => {
    stopRemoving?.();
    sandboxes.end();
    opened?.close();
  });

  const parts = { ...control, endpoints: listEndpoints(features) };
  const callControl = async (method: string, url: string, sent: Sent) => {
    const own = findControlTarget(parseTarget(url));
    if (own === undefined || own.isRoot) return undefined;
    const request = { ...own, method, headers: sent.headers, origin: `http://${HOST}` };
    const readBody = async (max: number): Promise<RequestBody> => bodyOf(sent, max);
    const reply = await callControlApi({ ...request, readBody, onDisconnect }, parts);
    if (reply === undefined) return undefined;
    const { status, mediaType = 'application/json', content = '', headers } = reply;
    const type = reply.content === undefined ? [] : ['Content-Type', mediaType];
    const all = ['Cache-Control', 'no-store', ...type, ...Object.entries(headers ?? {}).flat()];
    if (method === 'HEAD') return answerOf(status, all, '');
    if (typeof content === 'function') throw new Error('A stream needs a server.');
    return answerOf(status, all, typeof content === 'string' ? content : [...content].join(''));
  };

  const callService = async (method: string, url: string, sent: Sent) => {
    const head = {
      method,
      headers: sent.headers,
      rawHeaders: sent.raw,
      mount: '',
      port: undefined,
      receivedAt: steadyNow(),
    };
    const parts = { sandboxes, persistence, platform: NODE_PLATFORM };
    const arrival = openArrival(parts, head, parseTarget(url), neverLeaves);
    const limit = bodyLimit(arrival);
    const body = limit === undefined ? NO_BODY : bodyOf(sent, limit);
    const exchange = await answerArrival(arrival, body);
    const { after } = NODE_PLATFORM;
    // A reply never leaves in the turn of its request.
    await new Promise<void>((resolve) =>
      sendWhenDue(arrival, exchange, after, () => after(0, resolve)),
    );
    return receive(exchange);
  };

  const send: Client['send'] = async (method, url, parts = {}) => {
    const sent = encode(parts);
    return (await callControl(method, url, sent)) ?? callService(method, url, sent);
  };
  return { send, control: controlBy(send) };
}

const HOST = '127.0.0.1:4010';

/** A request as it would arrive. */
type Sent = ReturnType<typeof encode>;

function encode(parts: RequestParts) {
  const { headers: named, content } = encodeParts(parts);
  const raw = ['Host', HOST, ...Object.entries(named).flat()];
  const entries = Object.entries(named).map(([name, value]) => [name.toLowerCase(), value]);
  const headers: Record<string, string> = { host: HOST, ...Object.fromEntries(entries) };
  return { raw, headers, bytes: content === undefined ? undefined : Buffer.from(content) };
}

function bodyOf({ headers, bytes }: Sent, limit: number): RequestBody {
  if (Number(headers['content-length'] ?? 0) > limit) return { kind: 'too-large', limit };
  return bytes === undefined || bytes.length === 0 ? { kind: 'none' } : new BodyBytes(bytes);
}

/** What the client gets. A fault that breaks the exchange is an error. */
function receive({ fault, reply }: Exchange): Answer {
  if (reply === undefined || (fault !== undefined && fault.kind !== 'html')) {
    throw Object.assign(new Error(`fault ${fault?.kind}`), { code: 'ECONNRESET' });
  }
  const { status, headers, body = '' } = reply;
  return answerOf(status, headers, typeof body === 'string' ? body : Buffer.from(body).toString());
}

function answerOf(status: number, headers: readonly string[], text: string): Answer {
  const byName: Record<string, string> = {};
  for (let at = 0; at < headers.length; at += 2) {
    const name = String(headers[at]).toLowerCase();
    const [value, earlier] = [headers[at + 1] ?? '', byName[name]];
    byName[name] = earlier === undefined ? value : `${earlier}, ${value}`;
  }
  return { status, headers: byName, text, json: tryParseJson(text) };
}

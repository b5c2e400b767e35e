import { type Preferred, readPrefer } from '../sandbox/preference.ts';
import { type Settings, worldOf } from '../sandbox/state.ts';
import { asksService, demandedOutcome, outcomeOf, ruling } from '../sandbox/step.ts';
import { type Upstream, UpstreamError } from '../sandbox/upstream.ts';
import type { Outcome } from '../scenario/outcome.ts';
import type { ReceivedBody } from '../service/received-body.ts';
import { errorReply, Grounds, type Reply } from '../service/reply.ts';
import { deliver } from './deliver.ts';
import { passedOn } from './hop-headers.ts';
import { discard, whenLeft } from './pass-on.ts';
import type { ServiceRequest } from './service-request.ts';

/**
 * Passes a request on to the upstream of its sandbox, and the reply back, as the sandbox's rules say.
 *
 * @param upstream the one that the sandbox had when the request's head was read
 * @param below what the target asks of the service, as `belowBase` returns it
 * @param settle records and sends an outcome without a reply of the upstream
 */
export async function forward(
  request: ServiceRequest,
  upstream: Upstream,
  below: string,
  body: ReceivedBody,
  settle: (request: ServiceRequest, outcome: Outcome) => void,
): Promise<void> {
  let answer: Reply | undefined;
  const ask = async (): Promise<Reply> => {
    answer = await replyOf(request, upstream, below, body);
    return answer;
  };
  const outcome = await ruledOutcome(request, ask);
  if (answer === undefined) request.incoming.resume();
  const theirs = answer?.body.kind === 'stream' ? answer.body : undefined;
  if (theirs !== undefined && outcome.reply?.body === theirs) {
    deliver(request, outcome, theirs, upstream.compare);
    return;
  }
  // A rule can ask for the call and for another reply.
  if (theirs !== undefined) discard(theirs.from);
  settle(request, outcome);
}

/** Like `step`, with what a deployment answers in place of the service's reply. */
async function ruledOutcome(request: ServiceRequest, ask: () => Promise<Reply>): Promise<Outcome> {
  const { sandbox, call } = request;
  if (call === undefined) return { kind: 'reply', reply: await ask(), delay: 0 };
  const preferred = await preferredBy(request);
  const demanded = preferred && demandedOutcome(worldOf(sandbox.state), call, preferred);
  if (demanded !== undefined) return demanded;
  const decision = await sandbox.change((before) => {
    const { state, decision: result } = ruling(before, call, preferred);
    return { state, result };
  });
  const reply = asksService(decision) ? await ask() : undefined;
  return outcomeOf(worldOf(sandbox.state), call, decision, reply, preferred);
}

async function preferredBy(request: ServiceRequest): Promise<Preferred | undefined> {
  const { prefer } = request.incoming.headers;
  if (prefer === undefined || request.wire.plain) return undefined;
  return readPrefer(String(prefer), request.sandbox);
}

/** The upstream's reply, or an Error if there is none. */
async function replyOf(
  request: ServiceRequest,
  upstream: Upstream,
  below: string,
  body: ReceivedBody,
): Promise<Reply> {
  const { sandbox, incoming, method } = request;
  const content = body.kind === 'bytes' ? body.bytes : body.kind === 'none' ? undefined : incoming;
  const headers = requestHeaders(request, upstream, body);
  try {
    const left = (act: () => void): (() => void) => whenLeft(incoming.socket, act);
    const sent = { method, target: below, headers, body: content, whenLeft: left };
    const { status, phrase, headers: theirs, body: from } = await upstream.send(sent);
    return {
      status,
      headers: passedOn(theirs, request.wire.plain ? NONE : OF_MOCK),
      body: { kind: 'stream', phrase, from },
      basis: { kind: 'upstream' },
      reason: `answered by ${upstream.url}`,
    };
  } catch (error) {
    if (error instanceof UpstreamError) return gatewayError(sandbox.state.settings, error);
    throw error;
  }
}

function gatewayError(
  { choices }: Pick<Settings, 'choices'>,
  { late, message }: UpstreamError,
): Reply {
  const grounds = new Grounds(choices);
  return late
    ? errorReply(grounds, 'gateway_timeout', 504, message)
    : errorReply(grounds, 'bad_gateway', 502, message);
}

const NONE: ReadonlySet<string> = new Set();

/** The upstream can itself be a mock. */
const OF_MOCK: ReadonlySet<string> = new Set(['mock-basis']);

/**
 * Headers for the mock, headers of the framing, which is written anew, and the deployment's name.
 */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  'content-length',
  'expect',
  'host',
  'mock-control-token',
  'mock-sandbox',
  'trailer',
]);

function requestHeaders(
  { headers, authorization, incoming }: ServiceRequest,
  { key }: Upstream,
  body: ReceivedBody,
): string[] {
  const kept = passedOn(headers, NOT_FORWARDED);
  for (let at = 0; at < kept.length; at += 2) {
    // Without the sandbox name that a token can carry.
    const token = key === undefined ? authorization : `Bearer ${key}`;
    if (kept[at]?.toLowerCase() === 'authorization') kept[at + 1] = token ?? '';
  }
  const length = body.kind === 'bytes' ? body.bytes.length : incoming.headers['content-length'];
  if (length !== undefined) kept.push('Content-Length', String(length));
  else if (body.kind !== 'none') kept.push('Transfer-Encoding', 'chunked');
  return kept;
}

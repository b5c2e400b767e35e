import type { Preference } from '../sandbox/preference.ts';
import type { SandboxSettings } from '../sandbox/state.ts';
import { outcomeOf, plan, worldOf } from '../sandbox/step.ts';
import { type Upstream, UpstreamError } from '../sandbox/upstream.ts';
import type { Outcome } from '../scenario/rules.ts';
import type { RequestBody } from '../service/input.ts';
import { errorReply, Grounds, type Reply } from '../service/reply.ts';
import { deliver } from './deliver.ts';
import { discard, passedOn, whenLeft } from './pass-on.ts';
import type { ServiceRequest } from './write.ts';

/** A request for a deployment. */
interface ForwardRequest {
  /** The one that the sandbox had when the request's head was read. */
  readonly upstream: Upstream;
  /** What the target asks of the service, as `belowBase` returns it. */
  readonly below: string;
  readonly body: RequestBody;
  readonly preferred: Promise<Preference | undefined> | undefined;
}

/**
 * Passes a request on to the upstream of its sandbox, and the reply back, as the sandbox's rules say.
 *
 * @param settle records and sends an outcome without a reply of the upstream
 */
export async function forward(
  request: ServiceRequest,
  forwarded: ForwardRequest,
  settle: (request: ServiceRequest, outcome: Outcome) => void,
): Promise<void> {
  const { sandbox, call } = request;
  const preferred = await forwarded.preferred;
  const planned =
    call &&
    (await sandbox.change((before, now) => {
      const result = plan(before, worldOf(before, now.wall), call, preferred);
      return { state: result.state, result };
    }));
  if (planned?.outcome !== undefined) {
    request.incoming.resume();
    settle(request, planned.outcome);
    return;
  }
  const reply = await replyOf(request, forwarded);
  const outcome: Outcome =
    call === undefined
      ? { kind: 'reply', reply, delay: 0 }
      : outcomeOf(worldOf(sandbox.state), call, planned?.decision, reply, preferred);
  const { body } = reply;
  if (body.kind === 'stream' && outcome.reply?.body === body) {
    deliver(request, outcome, body, forwarded.upstream.compare);
    return;
  }
  // A rule can ask for the call and for another reply.
  if (body.kind === 'stream') discard(body.from);
  settle(request, outcome);
}

/** The upstream's reply, or an Error if there is none. */
async function replyOf(
  request: ServiceRequest,
  { upstream, below, body }: ForwardRequest,
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
  { choices }: Pick<SandboxSettings, 'choices'>,
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
  body: RequestBody,
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

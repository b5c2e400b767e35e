import { jsonOf } from '../contract/json.ts';
import { isObject } from '../contract/records.ts';
import { warn } from '../node-errors.ts';
import { decodeContent, endToEndHeaders } from '../raw-headers.ts';
import type { Preference } from '../sandbox/preference.ts';
import { outcomeOf, plan, worldOf } from '../sandbox/step.ts';
import { type Upstream, UpstreamError } from '../sandbox/upstream.ts';
import { FAULTS } from '../scenario/fault-table.ts';
import type { Outcome } from '../scenario/rules.ts';
import type { RequestBody } from '../service/input.ts';
import { type Body, errorReply, Grounds, type Reply, type StreamedBody } from '../service/reply.ts';
import { MOST_HELD, readStart, whenLeft } from './pass-on.ts';
import { finish, type ServiceRequest } from './write.ts';

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
    await deliver(request, outcome, outcome.reply, body, forwarded.upstream.compare);
    return;
  }
  // A rule can ask for the call and for another reply.
  if (body.kind === 'stream') body.from.destroy();
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
    const onLeave = (act: () => void): (() => void) => whenLeft(incoming.socket, act);
    const outgoing = { method, target: below, headers, body: content, whenLeft: onLeave };
    const { status, phrase, headers: theirs, body: from } = await upstream.send(outgoing);
    return {
      status,
      // The upstream can itself be a mock.
      headers: endToEndHeaders(theirs, request.wire.plain ? [] : ['mock-basis']),
      body: { kind: 'stream', phrase, from },
      basis: { kind: 'upstream' },
      reason: `answered by ${upstream.url}`,
    };
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error;
    const grounds = new Grounds(sandbox.state.settings.choices);
    return error.late
      ? errorReply(grounds, 'gateway_timeout', 504, error.message)
      : errorReply(grounds, 'bad_gateway', 502, error.message);
  }
}

/** Headers for the mock, those of the framing, which is written anew, and the name of this server. */
const NOT_FORWARDED = [
  'content-length',
  'expect',
  'host',
  'mock-control-token',
  'mock-sandbox',
  'trailer',
];

function requestHeaders(
  { headers, authorization, incoming }: ServiceRequest,
  { key }: Upstream,
  body: RequestBody,
): string[] {
  const endToEnd = endToEndHeaders(headers, NOT_FORWARDED);
  for (let at = 0; at < endToEnd.length; at += 2) {
    // Without the sandbox name that a token can carry.
    const token = key === undefined ? authorization : `Bearer ${key}`;
    if (endToEnd[at]?.toLowerCase() === 'authorization') endToEnd[at + 1] = token ?? '';
  }
  const length = body.kind === 'bytes' ? body.bytes.length : incoming.headers['content-length'];
  if (length !== undefined) endToEnd.push('Content-Length', String(length));
  else if (body.kind !== 'none') endToEnd.push('Transfer-Encoding', 'chunked');
  return endToEnd;
}

const NO_BODY: Body = { kind: 'none' };

/**
 * Sends and records a deployment's reply, broken where a rule says so.
 *
 * @param compare with what the mock would have answered
 */
async function deliver(
  request: ServiceRequest,
  outcome: Outcome,
  reply: Reply,
  body: StreamedBody,
  compare: Upstream['compare'],
): Promise<void> {
  const { incoming, response, sandbox } = request;
  const { from } = body;
  const withReply = (changes: Partial<Reply>) => ({ ...outcome, reply: { ...reply, ...changes } });
  let isRecorded = false;
  /** Records the exchange once. Resolves to whether it was kept. */
  const record = async (changes: Partial<Reply>): Promise<boolean> => {
    if (isRecorded) return false;
    isRecorded = true;
    const ended = withReply(changes);
    const answer = sandbox.perform(late(request, outcome), (state) => ({ state, outcome: ended }));
    return (await answer) === ended;
  };
  const breakOff = (reason: string): void => {
    void record({ reason })
      .catch(warn)
      .finally(() => response.destroy());
  };
  const stop = whenLeft(incoming.socket, () => {
    breakOff('the client disconnected before it had the reply');
    from.destroy();
  });
  response.once('finish', stop).once('close', () => from.destroy());

  const isFault = outcome.kind === 'fault';
  if (!isFault && outcome.hold === undefined) {
    const onEnd = (bytes: Buffer | undefined) =>
      record(replyDetails(request, reply, bytes, compare));
    finish(request, withReply({ body: { ...body, onEnd, onBreak: breakOff } }));
    return;
  }
  const effect = isFault ? FAULTS[outcome.fault.kind] : undefined;
  const sendRecorded = async (details: Partial<Reply>, content: Body): Promise<void> => {
    if (await record(details)) finish(request, withReply({ body: content }));
    else response.destroy();
  };
  if (effect === 'replaces') {
    from.destroy();
    await sendRecorded({ body: NO_BODY }, NO_BODY);
    return;
  }
  const start = await readStart(from).catch((error: Error) => error);
  if (start instanceof Error) {
    breakOff(`the upstream broke the body off: ${start.message}`);
    return;
  }
  const { bytes, whole } = start;
  if (effect === 'spoils') from.destroy();
  const details = replyDetails(request, reply, whole ? bytes : undefined, compare);
  await sendRecorded(details, { ...body, held: { bytes, whole: whole || effect === 'spoils' } });
}

/** A request whose reply was already delayed; the duration includes that. */
function late(request: ServiceRequest, { kind, delay }: Outcome): ServiceRequest {
  if (kind === 'fault' || delay === 0) return request;
  return { ...request, receivedAt: request.receivedAt + delay };
}

/**
 * What is known of a reply only once it is complete.
 *
 * @param bytes undefined if they are too many to be held
 */
function replyDetails(
  { call, method, sandbox }: ServiceRequest,
  { status, headers, basis }: Reply,
  bytes: Buffer | undefined,
  compare: Upstream['compare'],
): Partial<Reply> {
  const content = bytes && decodeContent(bytes, headers, MOST_HELD);
  const text = content?.toString();
  const body: Body | undefined = text ? { kind: 'json', text } : content && NO_BODY;
  const details = body === undefined ? {} : { body };
  if (call === undefined || basis.kind !== 'upstream') return details;
  // Parsed once, for the comparison and for coverage.
  const json = text === undefined ? undefined : jsonOf(text);
  const reply = { status, headers, body: method === 'HEAD' ? undefined : content, json };
  const comparison = compare(worldOf(sandbox.state), call, reply);
  const records = json === undefined ? undefined : [json].flat().filter(isObject);
  return { ...details, comparison, records };
}

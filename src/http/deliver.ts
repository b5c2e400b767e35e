import { parseJson } from '../contract/json.ts';
import { isObject } from '../contract/records.ts';
import { worldOf } from '../sandbox/step.ts';
import type { Upstream } from '../sandbox/upstream.ts';
import { FAULTS } from '../scenario/fault-table.ts';
import type { Outcome } from '../scenario/rules.ts';
import type { Body, Reply, StreamedBody } from '../service/reply.ts';
import { discard, hold, MOST_HELD, pause, whenLeft } from './pass-on.ts';
import { finish, type ServiceRequest, sendFailure } from './write.ts';

/**
 * Sends and records a deployment's reply, broken where a rule says so.
 *
 * @param compare with what the mock would have answered
 */
export function deliver(
  request: ServiceRequest,
  outcome: Outcome,
  body: StreamedBody,
  compare: Upstream['compare'],
): void {
  const { incoming, response, sandbox, wire } = request;
  const { from } = body;
  let recorded = false;
  /**
   * Records the exchange, and continues once it is kept. Breaks the connection if it cannot be kept.
   * Called by events, so it catches errors.
   */
  const record = (changes: () => Partial<Reply>, then: () => void): void => {
    if (recorded) return;
    recorded = true;
    try {
      const ended = changed(outcome, changes());
      const kept = sandbox.perform(late(request, outcome), (state) => ({ state, outcome: ended }));
      if (!(kept instanceof Promise)) then();
      else void kept.then((it) => (it === ended ? then() : response.destroy()));
    } catch (error) {
      sendFailure(response, error, sandbox.state, wire);
    }
  };
  const sendAs = (content: Body): void => finish(request, changed(outcome, { body: content }));
  const breakOff = (reason: string): void =>
    record(
      () => ({ reason }),
      () => response.destroy(),
    );

  const stop = whenLeft(incoming.socket, () => {
    breakOff('the client disconnected before it had the reply');
    discard(from);
  });
  response.once('finish', stop);
  response.once('close', () => discard(from));
  if (outcome.kind === 'reply') {
    const { reply } = outcome;
    if (outcome.hold !== undefined) {
      const onWaiting = (bytes: Buffer, whole: boolean): void =>
        record(
          () => (whole ? witnessed(request, reply, bytes, compare) : {}),
          () => sendAs({ ...body, held: { bytes, whole } }),
        );
      hold(from, onWaiting, breakOff);
      return;
    }
    const onEnd = (bytes: Buffer | undefined, end: () => void): void =>
      record(() => witnessed(request, reply, bytes, compare), end);
    if (outcome.delay > 0) pause(from);
    sendAs({ ...body, onEnd, onBreak: breakOff });
    return;
  }
  const { effect } = FAULTS[outcome.fault.kind];
  if (effect === 'replaces') {
    discard(from);
    record(
      () => ({ body: NO_BODY }),
      () => sendAs(NO_BODY),
    );
    return;
  }
  const onHeld = (bytes: Buffer, whole: boolean): void => {
    if (effect === 'spoils') discard(from);
    const held = { bytes, whole: whole || effect === 'spoils' };
    record(
      () => (whole ? { body: contentOf(bytes) } : {}),
      () => sendAs({ ...body, held }),
    );
  };
  hold(from, onHeld, breakOff);
}

const NO_BODY: Body = { kind: 'none' };

/** A body as evidence reads it. */
function contentOf(bytes: Buffer): Body {
  return bytes.length === 0 ? NO_BODY : { kind: 'json', text: bytes.toString() };
}

/** A request whose reply was already delayed; the duration includes that. */
function late(request: ServiceRequest, { kind, delay }: Outcome): ServiceRequest {
  if (kind === 'fault' || delay === 0) return request;
  return { ...request, receivedAt: request.receivedAt + delay };
}

/** What is recorded of a whole reply, besides what was known when it began. */
function witnessed(
  { call, method, sandbox }: ServiceRequest,
  { status, headers, basis }: Reply,
  bytes: Buffer | undefined,
  compare: Upstream['compare'],
): Partial<Reply> {
  const content = bytes && decodeContent(bytes, headers);
  const body = content && contentOf(content);
  if (call === undefined || basis.kind !== 'upstream') return body === undefined ? {} : { body };
  const json = jsonOf(body);
  const reply = { status, headers, body: method === 'HEAD' ? undefined : content, json };
  const comparison = compare(worldOf(sandbox.state), call, reply);
  if (body === undefined) return { comparison };
  const records = Array.isArray(json) ? json.filter(isObject) : [json].filter(isObject);
  return { body, comparison, records: json === undefined ? undefined : records };
}

/** Parsed once, for the comparison and for coverage. */
function jsonOf(body: Body | undefined): unknown {
  if (body?.kind !== 'json') return undefined;
  try {
    return parseJson(body.text.toString());
  } catch {
    return undefined;
  }
}

function changed(outcome: Outcome, changes: Partial<Reply>): Outcome {
  const { reply } = outcome;
  return reply === undefined ? outcome : { ...outcome, reply: { ...reply, ...changes } };
}

/**
 * Takes a body out of its content coding (RFC 9110, section 8.4).
 *
 * @returns undefined for an unknown or broken coding, and for more than may be held
 */
function decodeContent(bytes: Buffer, headers: readonly string[]): Buffer | undefined {
  const at = headers.findIndex(
    (name, index) => index % 2 === 0 && /^content-encoding$/i.test(name),
  );
  const coding = at < 0 ? 'identity' : (headers[at + 1] ?? '').trim().toLowerCase();
  if (coding === 'identity' || bytes.length === 0) return bytes;
  const zlib = process.getBuiltinModule('node:zlib');
  const limit = { maxOutputLength: MOST_HELD };
  try {
    switch (coding) {
      case 'gzip':
      case 'x-gzip':
        return zlib.gunzipSync(bytes, limit);
      case 'deflate':
        return zlib.inflateSync(bytes, limit);
      case 'br':
        return zlib.brotliDecompressSync(bytes, limit);
    }
  } catch {
    // The client gets it as it is.
  }
  return undefined;
}

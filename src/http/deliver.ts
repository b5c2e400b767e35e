import { FAULTS } from '../scenario/fault-table.ts';
import type { Outcome } from '../scenario/outcome.ts';
import type { Body, Reply, StreamedBody } from '../service/reply.ts';
import { send } from './encode.ts';
import { discard, hold, whenLeft } from './pass-on.ts';
import type { ServiceRequest } from './service-request.ts';

/** Sends and records a deployment's reply, broken where a rule says so. */
export function deliver(asked: ServiceRequest, outcome: Outcome, body: StreamedBody): void {
  const { request, response, sandbox, wire } = asked;
  const { from } = body;
  let recorded = false;
  /** Records the exchange, and goes on once that is kept. */
  const record = (content: Body, problem: string | undefined, then: () => void): void => {
    if (recorded) return;
    recorded = true;
    const seen = withBody(outcome, content, problem);
    const perform = (): Outcome => seen;
    sandbox.answer(asked, perform, then, perform);
  };
  const sendAs = (content: Body): void =>
    send(response, withBody(outcome, content), asked, sandbox.world, wire);
  const breakOff = (problem: string): void => record(body, problem, () => response.destroy());

  const stop = whenLeft(request.socket, () => {
    breakOff('the client left before it had the reply');
    discard(from);
  });
  response.once('close', stop);
  if (outcome.kind === 'reply') {
    const onEnd = (bytes: Buffer | undefined, end: () => void): void =>
      record(contentOf(body, bytes), undefined, end);
    sendAs({ ...body, onEnd, onBreak: breakOff });
    return;
  }
  const { effect } = FAULTS[outcome.fault.kind];
  if (effect === 'replaces') {
    discard(from);
    record(NO_BODY, undefined, () => sendAs(NO_BODY));
    return;
  }
  const onHeld = (bytes: Buffer, whole: boolean): void => {
    if (effect === 'spoils') discard(from);
    const held = { bytes, whole: whole || effect === 'spoils' };
    record(contentOf(body, whole ? bytes : undefined), undefined, () => sendAs({ ...body, held }));
  };
  hold(from, onHeld, breakOff);
}

const NO_BODY: Body = { kind: 'none' };

/** A body as evidence looks at it. */
function contentOf(streamed: StreamedBody, bytes: Buffer | undefined): Body {
  if (bytes === undefined) return streamed;
  return bytes.length === 0 ? NO_BODY : { kind: 'json', text: bytes };
}

function withBody(outcome: Outcome, body: Body, problem?: string): Outcome {
  const { reply } = outcome;
  if (reply === undefined) return outcome;
  const reason = [reply.reason, problem].filter((it) => it !== undefined).join('; ') || undefined;
  const changed: Reply = { ...reply, body, reason };
  return { ...outcome, reply: changed };
}

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
  const record = (content: Body, problem?: string): void => {
    if (recorded) return;
    recorded = true;
    sandbox.take(asked, withBody(outcome, content, problem));
  };
  const sendAs = (content: Body): void =>
    send(response, withBody(outcome, content), asked, sandbox.world, wire);

  const stop = whenLeft(request.socket, () => {
    record(body, 'the client left before it had the reply');
    discard(from);
  });
  response.once('close', stop);
  if (outcome.kind === 'reply') {
    sendAs({ ...body, onEnd: (bytes, problem) => record(contentOf(body, bytes), problem) });
    return;
  }
  const { effect } = FAULTS[outcome.fault.kind];
  if (effect === 'replaces') {
    discard(from);
    record(NO_BODY);
    sendAs(NO_BODY);
    return;
  }
  hold(
    from,
    (bytes, whole) => {
      if (effect === 'spoils') discard(from);
      record(contentOf(body, whole ? bytes : undefined));
      sendAs({ ...body, held: { bytes, whole: whole || effect === 'spoils' } });
    },
    ({ message }) => {
      record(body, `the upstream broke the body off: ${message}`);
      response.destroy();
    },
  );
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

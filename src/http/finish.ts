import type { Outcome } from '../scenario/rules.ts';
import { whenLeft } from './pass-on.ts';
import { type ServiceRequest, send } from './write.ts';

/** Sends an outcome that is recorded, once it is released if a rule holds it back. */
export function finish(request: ServiceRequest, outcome: Outcome): void {
  const { incoming, response, sandbox, wire } = request;
  const { hold } = outcome;
  if (hold === undefined) {
    send(response, outcome, sandbox.state, wire);
    return;
  }
  sandbox.hold(hold, {
    send: () => send(response, outcome, sandbox.state, wire),
    whenLeft: (act) => whenLeft(incoming.socket, act),
  });
}

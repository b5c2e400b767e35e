import type { ControlOptions, ControlParts } from './control/control-options.ts';
import { Upstreams } from './deployment/upstream/upstreams.ts';
import { type Observer, observedExchange } from './evidence/exchange.ts';
import { PendingResponses } from './http/pending-responses.ts';
import { createServiceHandler } from './http/service-handler.ts';
import { removeIdle } from './sandbox/idle-sandboxes.ts';
import type { SandboxOptions } from './sandbox/sandbox-options.ts';
import { Sandboxes, type SandboxParts } from './sandbox/sandboxes.ts';
import type { Start } from './scenario/sandbox-start.ts';

/** How a mock answers, whatever it starts from. */
export interface MockOptions extends SandboxOptions, ControlOptions {
  /** Called after each exchange in any sandbox. */
  readonly observe?: Observer | undefined;
  /** Called with what the operator should know, such as what to do about clients that cannot connect. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

/** The parts of a mock. */
export interface MockParts
  extends SandboxParts,
    Pick<ControlParts, 'starter' | 'guard' | 'certificate'> {
  readonly start: Start;
  readonly upstreams?: Upstreams | undefined;
}

/** Assembles a mock without a listener. */
export function assembleMock(parts: MockParts, options: MockOptions) {
  const { plain = false, noControl, checked, observe, onControlCall } = options;
  const { sandboxIdle, onNotice } = options;
  const { start, starter, guard, keeper, fleet, certificate, upstream } = parts;
  const { upstreams = new Upstreams() } = parts;
  const sandboxes = new Sandboxes(start, options, { keeper, fleet, upstream });
  if (observe !== undefined) {
    sandboxes.observers.add((sandbox, exchange) => observe(sandbox, observedExchange(exchange)));
  }
  const pending = new PendingResponses();
  const service = createServiceHandler({ sandboxes, plain, pending });
  const control: ControlParts = {
    sandboxes,
    starter,
    guard,
    certificate,
    openUpstream: upstreams.open,
    problem: () => fleet?.problem,
    plain,
    noControl,
    checked,
    onControlCall,
  };
  const stopRemoving =
    sandboxIdle === undefined
      ? undefined
      : removeIdle(sandboxes, sandboxIdle, (name) =>
          onNotice?.(`removed sandbox ${name}: idle for longer than --sandbox-idle`),
        );
  return { stopRemoving, sandboxes, service, control, pending };
}

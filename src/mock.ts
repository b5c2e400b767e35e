import type { ControlOptions, ControlParts } from './control/parts.ts';
import { Upstreams } from './deployment/upstream/upstreams.ts';
import { type Observer, observedExchange } from './evidence/exchange.ts';
import { PendingResponses } from './http/pending-responses.ts';
import { createServiceHandler } from './http/service-handler.ts';
import type { Fleet, Keeper } from './sandbox/keeper.ts';
import { removeIdle } from './sandbox/remove-idle.ts';
import type { SandboxLimits } from './sandbox/sandbox-limits.ts';
import { Sandboxes } from './sandbox/sandboxes.ts';
import type { Upstream } from './sandbox/upstream.ts';
import type { Start } from './scenario/sandbox-start.ts';

/** How a mock answers, whatever it starts from. */
export interface MockOptions extends SandboxLimits, ControlOptions {
  /** Called after each exchange in any sandbox. */
  readonly observe?: Observer | undefined;
  /** Called with what the operator should know, such as what to do about clients that cannot connect. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

/** The parts of a mock. */
export interface MockParts extends Pick<ControlParts, 'starter' | 'guard' | 'certificate'> {
  readonly start: Start;
  /** Keeps the default sandbox; only memory does by default. */
  readonly keeper?: Keeper | undefined;
  /** The servers that share all sandboxes with this one. */
  readonly fleet?: Fleet | undefined;
  readonly upstreams?: Upstreams | undefined;
  /** The deployment that answers in place of the mock. */
  readonly upstream?: Upstream | undefined;
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
          onNotice?.(`removed sandbox ${name}: nobody used it for as long as --sandbox-idle says`),
        );
  return { stopRemoving, sandboxes, service, control, pending };
}

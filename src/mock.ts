import type { ControlCall, ControlParts, GuardOptions } from './control/parts.ts';
import { Upstreams } from './deployment/upstream/upstreams.ts';
import type { Observer } from './evidence/journal.ts';
import { Faults } from './http/faults/faults.ts';
import { createServiceHandler, type ServiceHandler } from './http/service.ts';
import type { SandboxLog } from './sandbox/change.ts';
import type { Fleet } from './sandbox/fleet.ts';
import { Sandboxes, type SandboxLimits } from './sandbox/sandboxes.ts';
import type { Upstream } from './sandbox/upstream.ts';
import type { Checked } from './scenario/checked-shape.ts';
import type { Start } from './scenario/sandbox-start.ts';
import type { Starter } from './scenario/starter.ts';

/** How a mock answers, whatever it starts from. */
export interface MockOptions extends SandboxLimits {
  /** Leaves out everything that distinguishes the mock from the service. */
  readonly plain?: boolean | undefined;
  /** Leaves out the control API, except for `health`. */
  readonly noControl?: boolean | undefined;
  /** What a check of a deployment found out, to show beside the assumptions. */
  readonly checked?: Checked | undefined;
  /** Called after each exchange in any sandbox, with a frozen copy. */
  readonly observe?: Observer | undefined;
  /** Called after each call of the control API, except `health`. */
  readonly onControlCall?: ((call: ControlCall) => void) | undefined;
}

/** A mock without a listener. */
export interface Mock {
  readonly upstreams: Upstreams;
  readonly sandboxes: Sandboxes;
  readonly service: ServiceHandler;
  readonly control: ControlParts;
  readonly faults: Faults;
}

/** The parts of a mock. */
export interface MockParts {
  readonly start: Start;
  readonly starter: Starter;
  readonly guard: GuardOptions;
  /** Where the default sandbox's changes are kept; in memory by default. */
  readonly kept?: SandboxLog | undefined;
  /** The servers that share the changes of all sandboxes with this one. */
  readonly fleet?: Fleet | undefined;
  readonly upstreams?: Upstreams | undefined;
  /** The deployment that answers in place of the mock. */
  readonly upstream?: Upstream | undefined;
  /** The certificate of the server, in PEM. */
  readonly certificate?: string | undefined;
}

/** Assembles a mock. */
export function assembleMock(parts: MockParts, options: MockOptions): Mock {
  const { plain = false, noControl = false, checked, observe, onControlCall } = options;
  const { start, starter, guard, kept, fleet, certificate, upstream } = parts;
  const { upstreams = new Upstreams() } = parts;
  const sandboxes = new Sandboxes(start, options, kept, upstream, fleet);
  if (observe !== undefined) sandboxes.observers.add(observe);
  const faults = new Faults();
  const service = createServiceHandler({ sandboxes, plain, faults });
  const control = {
    sandboxes,
    starter,
    guard,
    checked,
    certificate,
    plain,
    problem: () => fleet?.problem,
    enabled: !noControl,
    openUpstream: upstreams.open,
    onCall: onControlCall,
  };
  return { sandboxes, service, control, faults, upstreams };
}

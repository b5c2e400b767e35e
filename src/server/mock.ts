import type { ControlOptions, ControlParts } from '../core/control/endpoint.ts';
import { DEFAULT_SANDBOX } from '../core/limits.ts';
import { describeFinding, isOfOperation } from '../core/sandbox/coverage.ts';
import { findHoldFindings, type Observer, observedExchange } from '../core/sandbox/exchange.ts';
import { MemoryStorage } from '../core/sandbox/memory.ts';
import type { OnFinding } from '../core/sandbox/report-shapes.ts';
import type { ServerEvent } from '../core/sandbox/sandbox.ts';
import { Sandboxes, type SandboxOptions, type SandboxParts } from '../core/sandbox/sandboxes.ts';
import type { SaveScenarios } from '../core/sandbox/storage.ts';
import type { Start } from '../core/scenario/sandbox-start.ts';
import { createUpstreams, type Upstreams } from '../features/deployment/upstream.ts';
import { packageVersion } from './files.ts';
import { createGuard, type GuardOptions } from './http/guard.ts';
import { createServiceHandler } from './http/service-handler.ts';
import { PendingResponses } from './http/write.ts';
import { warn } from './node-errors.ts';
import { NODE_PLATFORM } from './node-platform.ts';
import type { FileStorage } from './persistence/file.ts';

export interface MockOptions extends SandboxOptions, ControlOptions {
  /** Called after each exchange in any sandbox. */
  readonly observe?: Observer | undefined;
  /** Called for each new finding. */
  readonly onFinding?: OnFinding | undefined;
  /** Called with what the operator should know, such as what to do about clients that cannot connect. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

export interface MockParts
  extends Pick<SandboxParts, 'fleet' | 'upstream'>,
    Pick<ControlParts, 'certificate'> {
  readonly guard: GuardOptions;
  readonly start: Start;
  readonly upstreams?: Upstreams | undefined;
  readonly openFile?:
    | ((
        ...sandbox: [...Parameters<SandboxParts['openStorage']>, SaveScenarios | undefined]
      ) => FileStorage)
    | undefined;
  readonly saveScenarios?: SaveScenarios | undefined;
}

export function assembleMock(parts: MockParts, options: MockOptions) {
  const { noControl, checked, observe, onFinding, onControlCall } = options;
  const { sandboxIdle, onNotice } = options;
  const { start, guard, openFile, saveScenarios, fleet, certificate, upstream } = parts;
  const { upstreams = createUpstreams() } = parts;
  const sandboxes = new Sandboxes(start, options, {
    fleet,
    upstream,
    openStorage: (sandbox, context) => {
      if (sandbox.name !== DEFAULT_SANDBOX) return new MemoryStorage(sandbox, context);
      return (
        openFile?.(sandbox, context, saveScenarios) ??
        new MemoryStorage(sandbox, context, saveScenarios)
      );
    },
  });
  if (observe !== undefined) {
    sandboxes.events.add(
      guarded(({ sandbox, exchange }) => observe(sandbox, observedExchange(exchange))),
    );
  }
  if (onFinding !== undefined) sandboxes.events.add(guarded(reportFindings(onFinding)));
  const pending = new PendingResponses();
  const service = createServiceHandler({ sandboxes, pending });
  const control: ControlParts = {
    sandboxes,
    guard: createGuard(guard),
    platform: NODE_PLATFORM,
    version: packageVersion(),
    certificate,
    openUpstream: upstreams.open,
    problem: () => fleet?.problem,
    plain: start.plain,
    noControl,
    checked,
    onControlCall,
  };
  const stopRemoving =
    sandboxIdle === undefined
      ? undefined
      : sandboxes.removeIdle(sandboxIdle, (name) =>
          onNotice?.(`removed sandbox ${name}: idle for longer than --sandbox-idle`),
        );
  return { stopRemoving, sandboxes, service, control, pending };
}

/** What an observer throws becomes a warning, and the client has its reply all the same. */
function guarded(observe: (event: ServerEvent) => void): (event: ServerEvent) => void {
  return (event) => {
    try {
      observe(event);
    } catch (error) {
      warn(error);
    }
  };
}

function reportFindings(onFinding: OnFinding): (event: ServerEvent) => void {
  const reported = new Set<string>();
  return ({ kind, sandbox, exchange }) => {
    for (const found of kind === 'hold' ? findHoldFindings(exchange) : exchange.findings) {
      const name = `${sandbox} ${found.code}`;
      if (isOfOperation(found) && reported.has(name)) continue;
      reported.add(name);
      onFinding(describeFinding(found, exchange, sandbox));
    }
  };
}

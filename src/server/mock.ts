import type { ControlOptions, ControlParts } from '../core/control/endpoint.ts';
import { outcome } from '../core/sandbox/answer.ts';
import { describeFinding, isOfOperation } from '../core/sandbox/coverage.ts';
import { findHoldFindings, type Observer, observedExchange } from '../core/sandbox/exchange.ts';
import type { OnFinding } from '../core/sandbox/report-shapes.ts';
import type { OpenResponder } from '../core/sandbox/responder.ts';
import type { ServerEvent } from '../core/sandbox/sandbox.ts';
import { Sandboxes, type SandboxOptions, type SandboxParts } from '../core/sandbox/sandboxes.ts';
import { type ResetPart, restart } from '../core/sandbox/state.ts';
import type { Start } from '../core/scenario/sandbox-start.ts';
import { currentInstant } from '../core/service/clock.ts';
import { packageVersion } from './files.ts';
import { createGuard, type GuardOptions } from './http/guard.ts';
import { createServiceHandler } from './http/service-handler.ts';
import { PendingResponses } from './http/write.ts';
import { warn } from './node-errors.ts';
import { NODE_PLATFORM } from './node-platform.ts';
import {
  MemoryPersistence,
  type SaveScenarios,
  type ServerPersistence,
} from './persistence/persistence.ts';

export interface MockOptions extends SandboxOptions, ControlOptions {
  /** Called after each exchange in any sandbox. */
  readonly observe?: Observer | undefined;
  /** Called for each new finding. */
  readonly onFinding?: OnFinding | undefined;
  /** Called with what the operator should know, such as what to do about clients that cannot connect. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

export interface MockParts
  extends Pick<SandboxParts, 'upstream'>,
    Pick<ControlParts, 'certificate'> {
  readonly guard: GuardOptions;
  readonly start: Start;
  readonly openResponder?: OpenResponder | undefined;
  readonly keeper?: Keeper | undefined;
  readonly saveScenarios?: SaveScenarios | undefined;
}

/** What keeps sandboxes elsewhere than in memory. */
export interface Keeper {
  readonly open: (sandboxes: Sandboxes, saveScenarios?: SaveScenarios) => ServerPersistence;
  /** Whether other servers have the same sandboxes, and something else keeps their journals. */
  readonly isShared?: boolean;
  readonly close: () => Promise<void>;
}

export function assembleMock(parts: MockParts, options: MockOptions) {
  const { noControl, checked, observe, onFinding, onControlCall } = options;
  const { sandboxIdle, onNotice } = options;
  const { start, guard, keeper, saveScenarios, certificate, upstream } = parts;
  const isOneOfMany = keeper?.isShared ?? false;
  const sandboxes = new Sandboxes(
    start,
    { ...options, journal: isOneOfMany ? 0 : options.journal },
    { upstream, isOneOfMany, platform: NODE_PLATFORM },
  );
  const persistence =
    keeper?.open(sandboxes, saveScenarios) ?? new MemoryPersistence(sandboxes, saveScenarios);
  if (observe !== undefined) {
    sandboxes.events.add(
      guarded(({ sandbox, exchange }) => observe(sandbox.name, observedExchange(exchange))),
    );
  }
  if (onFinding !== undefined) sandboxes.events.add(guarded(reportFindings(onFinding)));
  const pending = new PendingResponses();
  const service = createServiceHandler({ sandboxes, persistence, pending });
  const control: ControlParts = {
    sandboxes,
    persistence,
    guard: createGuard(guard),
    platform: NODE_PLATFORM,
    version: packageVersion(),
    certificate,
    openResponder: parts.openResponder,
    plain: start.plain,
    noControl,
    checked,
    onControlCall,
  };
  const stopRemoving =
    sandboxIdle === undefined
      ? undefined
      : removeIdle(persistence, sandboxIdle, (name) =>
          onNotice?.(`removed sandbox ${name}: idle for longer than --sandbox-idle`),
        );
  return { stopRemoving, sandboxes, persistence, service, control, pending };
}

const MAX_IDLE_PAUSE_MS = 3_600_000;

/** Calls back on the server that removed it. Returns how to stop. */
function removeIdle(
  persistence: ServerPersistence,
  idle: number,
  onRemoved: (name: string) => void,
): () => void {
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    // The storage may be away; the next look tries again.
    const all = await persistence.unused().catch(() => new Map<string, number>());
    for (const [name, unused] of all) {
      if (unused < idle) continue;
      if (await persistence.remove(name, idle).catch(() => false)) onRemoved(name);
    }
    isLooking = false;
  };
  return NODE_PLATFORM.every(Math.min(idle / 4, MAX_IDLE_PAUSE_MS), () => void look());
}

/** After a change of files, which an undo or a rewind must not take back. */
export async function restartAll(
  sandboxes: Sandboxes,
  persistence: ServerPersistence,
  start: Start,
): Promise<void> {
  sandboxes.setStart(start);
  const text = { what: 'restarted after a change of files', by: '--watch' };
  for (const sandbox of sandboxes) {
    // A `--db` file keeps acknowledged changes.
    const keep = new Set<ResetPart>(['own-scenarios']);
    if (persistence.isDurable(sandbox)) keep.add('store');
    const change = () =>
      sandbox.change(
        (state, now) => {
          const { upstream } = state.settings;
          const restarted = restart(state, sandbox.start, upstream, now, keep);
          return { ...outcome(state, undefined, restarted), forgets: true };
        },
        currentInstant(),
        text,
      );
    await persistence.run(sandbox, change);
  }
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
  return ({ kind, sandbox: { name: sandbox }, exchange }) => {
    for (const found of kind === 'hold' ? findHoldFindings(exchange) : exchange.findings) {
      const name = `${sandbox} ${found.code}`;
      if (isOfOperation(found) && reported.has(name)) continue;
      reported.add(name);
      onFinding(describeFinding(found, exchange, sandbox));
    }
  };
}

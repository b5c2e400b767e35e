import type { ControlOptions } from '../core/control/endpoint.ts';
import { type Observer, recordExchange } from '../core/control/journal/exchange-text.ts';
import type { Platform } from '../core/platform.ts';
import { describeFinding, isOfOperation } from '../core/sandbox/coverage.ts';
import { findHoldFindings } from '../core/sandbox/exchange.ts';
import type { OnFinding } from '../core/sandbox/report-shapes.ts';
import type { ServerEvent } from '../core/sandbox/sandbox.ts';
import { Sandboxes, type SandboxOptions, type SandboxParts } from '../core/sandbox/sandboxes.ts';
import type { Start } from '../core/scenario/sandbox-start.ts';
import type { Store } from '../core/store/store.ts';
import {
  MemoryPersistence,
  type SaveScenarios,
  type ServerPersistence,
} from './server-persistence.ts';

export interface MockOptions extends SandboxOptions, ControlOptions {
  /** Called after each exchange in any sandbox. */
  readonly observe?: Observer | undefined;
  /** Called for each new finding. */
  readonly onFinding?: OnFinding | undefined;
  /** Called with what the operator should know, such as what to do about clients that cannot connect. */
  readonly onNotice?: ((message: string) => void) | undefined;
}

/** What keeps sandboxes elsewhere than in memory. */
export interface Keeper {
  /** What it has kept of the default sandbox: it wins over what scenarios set up. */
  readonly store?: Store;
  readonly open: (sandboxes: Sandboxes, saveScenarios?: SaveScenarios) => ServerPersistence;
  /** Whether other servers have the same sandboxes, and this counts them and keeps their journals. */
  readonly isShared?: boolean;
  /** The token of the control API that all servers of the sandboxes have. */
  readonly controlToken?: string;
  /** Lets others take over before this server closes. */
  readonly drain?: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface StoredParts extends Pick<SandboxParts, 'upstream' | 'platform'> {
  readonly start: Start;
  readonly keeper?: Keeper | undefined;
  readonly saveScenarios?: SaveScenarios | undefined;
}

/** The sandboxes of a mock, where they are kept, and what watches them. */
export function openSandboxes(parts: StoredParts, options: MockOptions) {
  const { observe, onFinding, sandboxIdle, onNotice } = options;
  const { start, keeper, saveScenarios, upstream, platform } = parts;
  const isShared = keeper?.isShared ?? false;
  const limits = isShared ? { journal: 0, maxSandboxes: Number.POSITIVE_INFINITY } : {};
  const sandboxes = new Sandboxes(
    start,
    { ...options, ...limits },
    { upstream, isShared, platform },
  );
  const persistence =
    keeper?.open(sandboxes, saveScenarios) ?? new MemoryPersistence(sandboxes, saveScenarios);
  const listen = (observer: (event: ServerEvent) => void): void => {
    sandboxes.events.add(guarded(observer, platform));
  };
  if (observe !== undefined)
    listen(({ sandbox, exchange }) => observe(sandbox.name, recordExchange(exchange)));
  if (onFinding !== undefined) listen(reportFindings(onFinding));
  const stopRemoving =
    sandboxIdle === undefined
      ? undefined
      : removeIdle(persistence, platform, sandboxIdle, (name) =>
          onNotice?.(`removed sandbox ${name}: idle for longer than --sandbox-idle`),
        );
  return { sandboxes, persistence, stopRemoving };
}

const MAX_IDLE_PAUSE_MS = 3_600_000;

/** Calls back on the server that removed it. Returns how to stop. */
function removeIdle(
  persistence: ServerPersistence,
  platform: Platform,
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
  return platform.every(Math.min(idle / 4, MAX_IDLE_PAUSE_MS), () => void look());
}

/** What a callback throws becomes a warning: the client has its reply all the same, and the server goes on. */
export function guarded<Told extends readonly unknown[]>(
  callback: (...told: Told) => void,
  { warn }: Platform,
): (...told: Told) => void {
  return (...told) => {
    try {
      callback(...told);
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

import type { ControlParts } from '../core/control/endpoint.ts';
import { outcome } from '../core/sandbox/answer.ts';
import type { Sandboxes } from '../core/sandbox/sandboxes.ts';
import type { Start } from '../core/sandbox/start.ts';
import { type ResetPart, restart } from '../core/sandbox/state.ts';
import { currentInstant } from '../core/service/clock.ts';
import { packageVersion } from './files.ts';
import { createGuard, type GuardOptions } from './http/guard.ts';
import { createServiceHandler } from './http/service-handler.ts';
import { PendingResponses } from './http/write.ts';
import { NODE_PLATFORM } from './node-platform.ts';
import { openSandboxes, type SandboxSetup, type ServerPersistence } from './open-sandboxes.ts';
import type { AppOptions } from './options.ts';

export interface MockSetup
  extends Omit<SandboxSetup, 'platform'>,
    Pick<ControlParts, 'certificate' | 'notes'> {
  readonly guard: GuardOptions;
}

export function assembleMock(parts: MockSetup, options: AppOptions) {
  const { noControl, onControlCall } = options;
  const { guard, certificate, notes } = parts;
  const platform = NODE_PLATFORM;
  const { sandboxes, persistence, stopRemoving } = openSandboxes({ ...parts, platform }, options);
  const pending = new PendingResponses();
  const service = createServiceHandler({ sandboxes, persistence, platform }, pending);
  const control: Omit<ControlParts, 'endpoints'> = {
    sandboxes,
    persistence,
    guard: createGuard(guard),
    platform,
    version: packageVersion(),
    certificate,
    notes,
    noControl,
  };
  return { stopRemoving, sandboxes, persistence, service, control, pending, onControlCall };
}

/** Restarts all sandboxes after a file has changed. No undo goes back before that. */
export async function restartAll(
  sandboxes: Sandboxes,
  persistence: ServerPersistence,
  start: Start,
): Promise<void> {
  sandboxes.setStart(start);
  const text = { what: 'restarted after a change of files', by: '--watch' };
  for (const sandbox of sandboxes.all()) {
    // The file of `--db` keeps changes that clients were told of.
    const keep = new Set<ResetPart>(['own-scenarios']);
    if (persistence.isDurable(sandbox)) keep.add('store');
    const change = () =>
      sandbox.change(
        (state, now) => {
          const restarted = restart(state, sandbox.start, now, keep);
          return { ...outcome(state, undefined, restarted), forgets: true };
        },
        currentInstant(),
        text,
      );
    await persistence.keep(sandbox, change);
  }
}

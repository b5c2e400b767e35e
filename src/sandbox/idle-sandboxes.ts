import { clearInterval, setInterval } from 'node:timers';
import type { Sandboxes } from './sandboxes.ts';

/** The longest pause between two looks for idle sandboxes: an hour. */
const MAX_IDLE_PAUSE_MS = 3_600_000;

/**
 * Removes sandboxes that were not used for some time; `remove` keeps the default one and staging.
 *
 * @param idle in milliseconds
 * @param onRemoved called with the name of each, by the server that removed it
 * @returns stops
 */
export function removeIdle(
  sandboxes: Sandboxes,
  idle: number,
  onRemoved: (name: string) => void,
): () => void {
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    // What fails while Redis is away, the next look tries again.
    const all = await sandboxes.unused().catch(() => new Map<string, number>());
    for (const [name, unused] of all) {
      if (unused < idle) continue;
      const isRemoved = await sandboxes.remove(name, idle).catch(() => false);
      if (isRemoved) onRemoved(name);
    }
    isLooking = false;
  };
  const timer = setInterval(() => void look(), Math.min(idle / 4, MAX_IDLE_PAUSE_MS)).unref();
  return () => clearInterval(timer);
}

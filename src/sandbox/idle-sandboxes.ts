/** All sandboxes, as far as they can be removed. */
interface RemovableSandboxes {
  unused(): Promise<ReadonlyMap<string, number>>;
  remove(name: string, unusedFor: number): Promise<boolean>;
}

/** The longest pause between two looks, in milliseconds: an hour. */
const LONGEST_PAUSE = 3_600_000;

/**
 * Removes sandboxes that were not used for some time; `remove` keeps the default one and staging.
 *
 * @param idle in milliseconds
 * @param onRemoved called with the name of each, by the server that removed it
 * @returns stops
 */
export function removeIdle(
  sandboxes: RemovableSandboxes,
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
  const timer = setInterval(() => void look(), Math.min(idle / 4, LONGEST_PAUSE)).unref();
  return () => clearInterval(timer);
}

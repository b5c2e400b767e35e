import { MemoryStorage } from '../../src/core/sandbox/memory.ts';
import { Sandboxes, type SandboxOptions } from '../../src/core/sandbox/sandboxes.ts';
import { createStart, type Start } from '../../src/core/scenario/sandbox-start.ts';
import { EMPTY_STORE } from '../../src/core/store/store.ts';

/** Sandboxes in memory, empty unless a test says what they start from. */
export function createSandboxes(
  options: SandboxOptions = {},
  start: Start = createStart({}, EMPTY_STORE),
): Sandboxes {
  const openStorage = (...opened: ConstructorParameters<typeof MemoryStorage>) =>
    new MemoryStorage(...opened);
  return new Sandboxes(start, options, { openStorage });
}

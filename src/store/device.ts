import { statSync } from 'node:fs';

/** Whether a path leads to a device, or a socket: none is a text that ends. A pipe is, and may be read. */
export function isDevice(path: string): boolean {
  try {
    const found = statSync(path);
    return found.isCharacterDevice() || found.isBlockDevice() || found.isSocket();
  } catch {
    // Whoever reads it will say what is wrong with it.
    return false;
  }
}

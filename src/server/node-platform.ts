import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from 'node:timers';
import type { Platform } from '../core/platform.ts';
import { asError } from '../core/thrown.ts';
import { packageRoot } from './files.ts';

/** Uses imported timers, because a test in the same process may fake the global ones. */
export const NODE_PLATFORM: Platform = {
  after: (milliseconds, act) => {
    const timer = setTimeout(act, milliseconds).unref();
    return () => clearTimeout(timer);
  },
  every: (milliseconds, act) => {
    const timer = setInterval(act, milliseconds).unref();
    return () => clearInterval(timer);
  },
  pause: () => new Promise((resolve) => setImmediate(resolve)),
  shippedText: (file) => readFileSync(join(packageRoot, file), 'utf8'),
  warn: (thrown) => process.emitWarning(asError(thrown)),
};

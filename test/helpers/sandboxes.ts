import type { Exchange, ServiceRequest } from '../../src/core/sandbox/exchange.ts';
import type { Sandbox } from '../../src/core/sandbox/sandbox.ts';
import { Sandboxes, type SandboxOptions } from '../../src/core/sandbox/sandboxes.ts';
import { createStart, type Start } from '../../src/core/scenario/sandbox-start.ts';
import { currentInstant } from '../../src/core/service/clock.ts';
import { EMPTY_STORE } from '../../src/core/store/store.ts';
import { NODE_PLATFORM } from '../../src/server/node-platform.ts';

/** Sandboxes in memory, empty unless a test says what they start from. */
export function createSandboxes(
  options: SandboxOptions = {},
  start: Start = createStart({}, EMPTY_STORE),
): Sandboxes {
  return new Sandboxes(start, options, { platform: NODE_PLATFORM });
}

/** Answers a request, and takes the outcome. */
export function takeAnswer(sandbox: Sandbox, request: ServiceRequest): Exchange {
  return sandbox.take(sandbox.answer(request, currentInstant()));
}

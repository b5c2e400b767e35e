import type { Exchange, ServiceRequest } from '../../src/core/sandbox/exchange.ts';
import type { Sandbox } from '../../src/core/sandbox/sandbox.ts';
import { Sandboxes } from '../../src/core/sandbox/sandboxes.ts';
import { createStart } from '../../src/core/sandbox/start.ts';
import { currentInstant } from '../../src/core/service/clock.ts';
import type { MockOptions } from '../../src/core/service/mock-options.ts';
import { EMPTY_STORE, type Store } from '../../src/core/store/store.ts';
import { NODE_PLATFORM } from '../../src/server/node-platform.ts';

/** Sandboxes in memory, empty unless a test says what they start from. */
export function createSandboxes(options: MockOptions = {}, store: Store = EMPTY_STORE): Sandboxes {
  return new Sandboxes(createStart(options, store), { platform: NODE_PLATFORM });
}

/** Answers a request, and takes the outcome. */
export function takeAnswer(sandbox: Sandbox, request: ServiceRequest): Exchange {
  return sandbox.take(sandbox.answer(request, currentInstant()));
}

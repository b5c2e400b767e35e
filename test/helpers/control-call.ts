import type { ControlCall } from '../../src/control/endpoint.ts';
import type { Sandboxes } from '../../src/sandbox/sandboxes.ts';
import { ScenarioLibrary } from '../../src/scenario/scenario-library.ts';

/** A call of the control API of the default sandbox. */
export function controlCall(sandboxes: Sandboxes, query = ''): ControlCall {
  return {
    parts: {
      sandboxes,
      starter: () => Promise.reject(new Error('not asked for')),
      library: new ScenarioLibrary(),
      guard: { loopback: true, token: undefined },
      enabled: true,
    },
    sandbox: sandboxes.default,
    params: {},
    query: new URLSearchParams(query),
    body: undefined,
    mount: '/__mock',
    url: 'http://localhost/__mock',
    headers: {},
  };
}

import type { ControlCall } from '../../src/control/endpoint.ts';
import type { Sandboxes } from '../../src/sandbox/sandboxes.ts';

/** A call of the control API of the default sandbox. */
export function controlCall(sandboxes: Sandboxes, query = ''): ControlCall {
  return {
    parts: {
      sandboxes,
      starter: () => Promise.reject(new Error('not asked for')),
      guard: { loopback: true, token: undefined },
      openUpstream: () => Promise.reject(new Error('not asked for')),
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

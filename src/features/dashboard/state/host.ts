import type { Fetch } from '../../../client/control-client.ts';

interface Host {
  readonly origin: string;
  /** The path of the page, below the control API of its sandbox. */
  readonly path: string;
  /** Whether each sandbox has a page of its own. */
  readonly hasPages: boolean;
  readonly fetch: Fetch;
}

/** The mock that the page shows: the server that it comes from, unless its program says otherwise. */
export const host: Host = {
  origin: location.origin,
  path: location.pathname,
  hasPages: true,
  fetch: (url, init) => fetch(url, init),
};

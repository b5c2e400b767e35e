import type { Responder } from '../../core/sandbox/responder.ts';
import type { Deployment } from './forward.ts';
import type { Transport, TransportOptions } from './transport.ts';

export interface Upstreams {
  /** Loads its transport with the first call. */
  readonly open: (url: URL, key?: string) => Responder;
  readonly close: () => void;
}

/** The deployments that answer for sandboxes of one server. */
export function createUpstreams(options: TransportOptions = {}): Upstreams {
  /** By URL and key: a test may set the same one before each of its cases. */
  const opened = new Map<string, Responder>();
  const transports: Promise<Transport>[] = [];
  return {
    open: (base, key) => {
      const name = JSON.stringify([base, key]);
      const responder = opened.get(name) ?? open(base, key);
      opened.set(name, responder);
      return responder;
    },
    close: () => {
      for (const transport of transports) void transport.then(({ close }) => close());
    },
  };

  function open(base: URL, key: string | undefined): Responder {
    const url = base.href.replace(/\/$/, '');
    let deployment: Promise<Deployment> | undefined;
    const connect = async (): Promise<Deployment> => {
      const transport = import('./transport.ts').then((it) => it.createTransport(base, options));
      transports.push(transport);
      return { url, key, send: (await transport).send };
    };
    return {
      url,
      key,
      answer: async (call) => {
        deployment ??= connect();
        const { forward } = await import('./forward.ts');
        return forward(await deployment, call);
      },
    };
  }
}

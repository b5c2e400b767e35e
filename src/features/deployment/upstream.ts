import { parseBaseUrl } from '../../core/contract/base-url.ts';
import type { Responder } from '../../core/sandbox/responder.ts';
import type { Responders } from '../../server/feature.ts';
import { readCertificates } from '../../server/http/tls.ts';
import type { BaseOptions } from '../../server/options.ts';
import type { Deployment } from './forward.ts';
import type { UpstreamOptions } from './options.ts';
import type { Transport, TransportOptions } from './transport.ts';

/** @throws CertificateError if the file of `cacert` cannot be used */
export async function openUpstreams({
  upstream: url,
  upstreamKey,
  upstreamTimeout: timeout,
  cacert,
  proxyVariables: variables,
}: BaseOptions & UpstreamOptions): Promise<Responders> {
  const ca = cacert === undefined ? undefined : await readCertificates(cacert);
  const upstreams = createUpstreams({ ca, timeout, variables });
  const base = url === undefined ? undefined : parseBaseUrl(String(url));
  return { ...upstreams, initial: base && upstreams.open(base, upstreamKey) };
}

/** The deployments that answer for sandboxes of one server. Their transport loads with the first call. */
export function createUpstreams(options: TransportOptions = {}): Responders {
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

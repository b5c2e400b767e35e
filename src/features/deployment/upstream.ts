import { parseBaseUrl } from '../../core/contract/base-url.ts';
import type { OpenedResponder } from '../../server/feature.ts';
import { readCertificates } from '../../server/http/tls.ts';
import type { Deployment } from './forward.ts';
import type { UpstreamOptions } from './options.ts';
import type { Transport } from './transport.ts';

/**
 * Opens the deployment that answers in place of the mock. Loads its transport later.
 *
 * @throws CertificateError if the file of `cacert` cannot be used
 */
export async function openUpstream({
  upstream,
  upstreamKey: key,
  upstreamTimeout: timeout,
  cacert,
  proxyVariables: variables,
}: UpstreamOptions): Promise<OpenedResponder | undefined> {
  const ca = cacert === undefined ? undefined : await readCertificates(cacert);
  const base = upstream === undefined ? undefined : parseBaseUrl(String(upstream));
  if (base === undefined) return undefined;
  const url = base.href.replace(/\/$/, '');
  let transport: Promise<Transport> | undefined;
  const connect = async (): Promise<Deployment> => {
    transport ??= import('./transport.ts').then((it) =>
      it.createTransport(base, { ca, timeout, variables }),
    );
    return { url, key, send: (await transport).send };
  };
  return {
    responder: {
      url,
      key,
      respond: async (call) => {
        const { forward } = await import('./forward.ts');
        return forward(await connect(), call);
      },
    },
    close: () => void transport?.then(({ close }) => close()),
  };
}

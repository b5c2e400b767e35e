import { type ControlParts, type ControlRequest, findServiceUrl, isDescribed } from './endpoint.ts';
import { type ControlReply, json } from './reply.ts';

/**
 * Redirects browsers from `/` to the first page, and sends other clients a list of addresses.
 * Undefined if the service has to answer.
 */
export function createRootReply(
  { method, headers, origin, mount }: ControlRequest,
  parts: ControlParts,
  pages: Readonly<Record<string, string>>,
): ControlReply | undefined {
  const isRead = method === 'GET' || method === 'HEAD';
  if (!isRead || parts.sandboxes.options.plain) return undefined;
  const { noControl = false, version } = parts;
  // curl also accepts any type, but gets JSON.
  const isBrowser = /\btext\/html\b/i.test(String(headers.accept ?? ''));
  const Vary = 'Accept';
  const control = origin + mount;
  const [first] = Object.values(pages);
  if (isBrowser && !noControl && first !== undefined) {
    return { status: 302, headers: { Vary, Location: mount + first } };
  }
  const addresses = Object.entries(pages).map(([name, path]) => [name, control + path]);
  const list = {
    name: 'petstore-mock',
    version,
    service: findServiceUrl(control),
    health: `${control}/health`,
    ...(!noControl && {
      control,
      ...Object.fromEntries(addresses),
      ...(isDescribed(parts) && {
        openapi: {
          service: `${control}/service.openapi.json`,
          control: `${control}/openapi.json`,
        },
      }),
    }),
  };
  return json(list, 200, { Vary });
}

import { type ControlParts, type ControlRequest, findServiceUrl } from './endpoint.ts';
import { type ControlReply, json } from './reply.ts';

/** Redirects browsers from a root to the first page; other clients get a list of addresses. */
export function createRootReply(
  { headers, origin, mount }: ControlRequest,
  { noControl = false, version }: ControlParts,
  pages: Readonly<Record<string, string>>,
): ControlReply {
  // curl accepts any type and gets JSON.
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
      openapi: {
        service: `${control}/service.openapi.json`,
        control: `${control}/openapi.json`,
      },
    }),
  };
  return json(list, 200, { Vary });
}

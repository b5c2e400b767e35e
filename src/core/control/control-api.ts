import { DEFAULT_SANDBOX, NAME_PATTERN } from '../limits.ts';
import { getOrRefuse } from '../sandbox/locate-sandbox.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import { StorageError } from '../sandbox/storage-error.ts';
import { ContentError, formatProblem } from '../words.ts';
import type { ControlCall, ControlParts, ControlRequest, Endpoint } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';
import { readBody, readQuery } from './read-input.ts';
import { type ControlReply, fromServiceReply, refuse, refuseInput, refuseMethod } from './reply.ts';

/** The endpoints of one path. */
interface Route {
  readonly segments: readonly string[];
  readonly endpoints: readonly Endpoint[];
}

const PARAMETER = /^\{(\w+)\}$/;

/** A fixed segment wins over a parameter, wherever it stands in the table. */
const ROUTES: readonly Route[] = [...new Set(ENDPOINTS.map(({ path }) => path))]
  .map((path) => ({
    segments: path.slice(1).split('/'),
    endpoints: ENDPOINTS.filter((endpoint) => endpoint.path === path),
  }))
  .sort((one, other) => compareSegments(one.segments, other.segments));

function compareSegments(one: readonly string[], other: readonly string[]): number {
  const at = one.findIndex((segment, index) => {
    return PARAMETER.test(segment) !== PARAMETER.test(other[index] ?? '');
  });
  return at < 0 ? 0 : PARAMETER.test(one[at] ?? '') ? 1 : -1;
}

interface FoundRoute extends Route {
  /** The segments of the path, as the client wrote them. */
  readonly path: readonly string[];
}

function findRoute(path: string): FoundRoute | undefined {
  const written = path.replace(/^\/|\/$/g, '').split('/');
  const found = ROUTES.find(({ segments }) => {
    return (
      segments.length === written.length &&
      segments.every((segment, at) => segment === written[at] || PARAMETER.test(segment))
    );
  });
  return found && { ...found, path: written };
}

/** Whether a call of this path is logged: pages and probes read some again and again. */
export function isLogged(path: string): boolean {
  const endpoints = findRoute(path)?.endpoints ?? [];
  return !endpoints.some(({ quiet, unguarded }) => quiet || unguarded);
}

/** Answers a request for the control API. Undefined if the control API is off, and the service answers. */
export async function callControlApi(
  request: ControlRequest,
  parts: ControlParts,
): Promise<ControlReply | undefined> {
  const route = findRoute(request.path);
  const isGuarded = !route?.endpoints.some(({ unguarded }) => unguarded);
  if (isGuarded && parts.noControl) return undefined;
  const refusal = isGuarded ? parts.guard(request.headers) : undefined;
  if (refusal !== undefined) return refusal;
  if (route === undefined) return refuseUnknown(request);
  const method = request.method === 'HEAD' ? 'get' : request.method.toLowerCase();
  const endpoint = route.endpoints.find((each) => each.method === method);
  if (endpoint === undefined) return refuseMethod(request.method, allowedMethods(route));
  const params = readParameters(route);
  if (params === undefined) {
    return refuse('invalid_input', 400, 'the path has a malformed percent-encoding');
  }
  return runEndpoint(endpoint, request, params, parts);
}

function allowedMethods({ endpoints }: Route): string {
  const methods = endpoints.map(({ method }) => (method === 'get' ? 'get, head' : method));
  return methods.join(', ').toUpperCase();
}

function readParameters({ segments, path }: FoundRoute): ControlCall['params'] | undefined {
  const params: Record<string, string> = {};
  for (const [at, segment] of segments.entries()) {
    const [, name] = PARAMETER.exec(segment) ?? [];
    if (name === undefined) continue;
    try {
      params[name] = decodeURIComponent(path[at] ?? '');
    } catch {
      return undefined;
    }
  }
  return params;
}

async function runEndpoint(
  endpoint: Endpoint,
  request: ControlRequest,
  params: ControlCall['params'],
  parts: ControlParts,
): Promise<ControlReply> {
  const sandbox = findSandbox(endpoint, request, parts);
  if (!(sandbox instanceof Sandbox)) return sandbox;
  const endCall = sandbox.beginCall();
  const body = await readBody(request, endpoint.body).finally(endCall);
  if (body.refusal !== undefined) return body.refusal;
  const query = endpoint.query && readQuery(endpoint.query, new URLSearchParams(request.search));
  if (query?.ok === false) return refuseInput(query.problems);
  const kept = parts.persistence.of(sandbox);
  const call = { ...request, params, query: query?.value, body: body.value, parts, sandbox, kept };
  try {
    // What other servers have done counts, too.
    if (!endpoint.unguarded) await kept.run(() => sandbox.read());
    const handler = endpoint.handle ? endpoint : await findHandler(endpoint, parts);
    return (await handler?.handle?.(call)) ?? refuseUnknown(request);
  } catch (error) {
    if (error instanceof StorageError) return refuse(error.code, 503, error.refusal);
    if (error instanceof ContentError) return refuseInput(error.problems, formatProblem);
    throw error;
  }
}

/** Undefined if this build lacks the feature. */
async function findHandler({ id }: Endpoint, { handlers }: ControlParts) {
  for (const load of handlers) {
    const known = await load();
    if (Object.hasOwn(known, id)) return known[id];
  }
  return undefined;
}

function findSandbox(
  { unguarded, defaultOnly, method }: Endpoint,
  request: ControlRequest,
  { sandboxes }: ControlParts,
): Sandbox | ControlReply {
  const { sandboxName: name } = request;
  // A probe creates no sandbox, but a name that cannot be one is refused everywhere.
  if (unguarded && NAME_PATTERN.test(name)) return sandboxes.default;
  if (defaultOnly && name !== DEFAULT_SANDBOX) return refuseUnknown(request);
  // To look at a sandbox creates none.
  if (method === 'get' && NAME_PATTERN.test(name)) return sandboxes.look(name);
  const found = getOrRefuse(sandboxes, name);
  return found instanceof Sandbox ? found : fromServiceReply(found);
}

function refuseUnknown({ mount, path }: ControlRequest): ControlReply {
  const target = (mount + path).slice(0, 200);
  const message = `the control API has no ${target}; ${mount}/openapi.json lists its endpoints`;
  return refuse('route_not_found', 404, message);
}

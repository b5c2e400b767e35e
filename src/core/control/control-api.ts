import { DEFAULT_SANDBOX, NAME_PATTERN } from '../limits.ts';
import { ContentError, formatProblem } from '../problems.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { refuseName, type Sandboxes } from '../sandbox/sandboxes.ts';
import { StorageError } from '../sandbox/storage-error.ts';
import type { AddedHandlers } from './added-handlers.ts';
import {
  type ControlCall,
  type ControlParts,
  type ControlRequest,
  type Endpoint,
  type HandledEndpoint,
  isDescribed,
  type TaggedEndpoint,
} from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';
import { readBody, readQuery } from './read-input.ts';
import { type ControlReply, fromServiceReply, refuse, refuseInput, refuseMethod } from './reply.ts';

/** The endpoints of a build with these features. Those without a handler do not exist in it. */
export function listEndpoints(features: readonly AddedHandlers[]): readonly HandledEndpoint[] {
  return ENDPOINTS.flatMap((row) => {
    const handle = row.handle ?? findAdded(row, features);
    return handle === undefined ? [] : { ...row, handle, segments: row.path.slice(1).split('/') };
  });
}

function findAdded(
  { id, tag }: TaggedEndpoint,
  features: readonly AddedHandlers[],
): HandledEndpoint['handle'] | undefined {
  const added = features.flatMap(({ handlers }) => handlers ?? []);
  const own = added.find(({ of }) => of.includes(id) || of.includes(tag.name));
  return (
    own &&
    (async (call) => {
      const { [id]: handle } = await own.load();
      if (handle === undefined) throw new Error(`A feature has no handler for ${id}.`);
      return handle(call);
    })
  );
}

/** The endpoints, one per method, whose path matches that of a request. */
interface MatchedPath {
  readonly endpoints: readonly HandledEndpoint[];
  /** The path's segments as the client sent them. */
  readonly written: readonly string[];
}

const PARAMETER = /^\{(\w+)\}$/;

function findEndpoints(path: string, all: readonly HandledEndpoint[]): MatchedPath | undefined {
  const written = path.replace(/^\/|\/$/g, '').split('/');
  const matching = all.filter(
    ({ segments }) =>
      segments.length === written.length &&
      segments.every((segment, at) => segment === written[at] || PARAMETER.test(segment)),
  );
  // A fixed segment wins over a parameter: `{` sorts after all letters.
  const [template] = matching.map((endpoint) => endpoint.path).sort();
  if (template === undefined) return undefined;
  const endpoints = matching.filter((endpoint) => endpoint.path === template);
  return { endpoints, written };
}

/** Whether calls of this path are logged. Pages and probes call some again and again. */
export function isLogged(path: string, { endpoints: all }: ControlParts): boolean {
  const { endpoints = [] } = findEndpoints(path, all) ?? {};
  return !endpoints.some(({ quiet, unguarded }) => quiet || unguarded);
}

/** Answers a call of the control API. Undefined if that is off: then the service answers. */
export async function callControlApi(
  request: ControlRequest,
  parts: ControlParts,
): Promise<ControlReply | undefined> {
  const route = findEndpoints(request.path, parts.endpoints);
  const isGuarded = !route?.endpoints.some(({ unguarded }) => unguarded);
  if (isGuarded && parts.noControl) return undefined;
  const refusal = isGuarded ? parts.guard(request.headers) : undefined;
  if (refusal !== undefined) return refusal;
  if (route === undefined) return refuseUnknown(request, parts);
  const method = request.method === 'HEAD' ? 'get' : request.method.toLowerCase();
  const endpoint = route.endpoints.find((each) => each.method === method);
  if (endpoint === undefined) return refuseMethod(request.method, allowedMethods(route));
  const params = readParameters(endpoint, route);
  if (params === undefined) {
    return refuse('invalid_input', 400, 'the path has a malformed percent-encoding');
  }
  return runEndpoint(endpoint, request, params, parts);
}

function allowedMethods({ endpoints }: MatchedPath): string {
  const methods = endpoints.map(({ method }) => (method === 'get' ? 'get, head' : method));
  return methods.join(', ').toUpperCase();
}

function readParameters(
  { segments }: HandledEndpoint,
  { written }: MatchedPath,
): ControlCall['params'] | undefined {
  const params: Record<string, string> = {};
  for (const [at, segment] of segments.entries()) {
    const [, name] = PARAMETER.exec(segment) ?? [];
    if (name === undefined) continue;
    try {
      params[name] = decodeURIComponent(written[at] ?? '');
    } catch {
      return undefined;
    }
  }
  return params;
}

async function runEndpoint(
  endpoint: HandledEndpoint,
  request: ControlRequest,
  params: ControlCall['params'],
  parts: ControlParts,
): Promise<ControlReply> {
  try {
    const refusal = refuseSandbox(endpoint, request, parts);
    if (refusal !== undefined) return refusal;
    const { persistence, sandboxes } = parts;
    const endCall = sandboxes.get(request.sandboxName)?.beginCall() ?? (() => {});
    // If the client leaves while it sends its body, `readBody` never settles.
    const cancel = request.onDisconnect(endCall);
    const body = await readBody(request, endpoint.body).finally(() => {
      cancel();
      endCall();
    });
    if (body.refusal !== undefined) return body.refusal;
    const query = endpoint.query && readQuery(endpoint.query, new URLSearchParams(request.search));
    if (query?.ok === false) return refuseInput(query.problems);
    // Only valid input creates a sandbox, also one that was deleted while the body arrived.
    const sandbox = findSandbox(endpoint, request.sandboxName, sandboxes);
    // Reading the state first brings in the changes of other servers, if they share the sandboxes.
    if (!endpoint.unguarded) await persistence.keep(sandbox, () => sandbox.read());
    const journal = persistence.journal(sandbox);
    const read = { params, query: query?.value, body: body.value };
    return await endpoint.handle({ ...request, ...read, parts, sandbox, journal });
  } catch (error) {
    if (error instanceof StorageError) return refuse(error.code, 503, error.consequence);
    if (error instanceof ContentError) return refuseInput(error.problems, formatProblem);
    throw error;
  }
}

function refuseSandbox(
  { defaultOnly }: Endpoint,
  request: ControlRequest,
  parts: ControlParts,
): ControlReply | undefined {
  const { sandboxName: name } = request;
  if (defaultOnly && name !== DEFAULT_SANDBOX) return refuseUnknown(request, parts);
  if (NAME_PATTERN.test(name)) return undefined;
  return fromServiceReply(refuseName(parts.sandboxes, name));
}

/** Finds or creates the sandbox of a call. Throws a StorageError if there are too many. */
function findSandbox({ unguarded, method }: Endpoint, name: string, all: Sandboxes): Sandbox {
  // A probe such as `health` needs no sandbox, and reading one does not create it.
  if (unguarded) return all.default;
  return method === 'get' ? all.view(name) : all.getOrCreate(name);
}

function refuseUnknown({ mount, path }: ControlRequest, parts: ControlParts): ControlReply {
  const target = (mount + path).slice(0, 200);
  const list = isDescribed(parts) ? `; ${mount}/openapi.json lists its endpoints` : '';
  return refuse('route_not_found', 404, `the control API has no ${target}${list}`);
}

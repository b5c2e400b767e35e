import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type express from 'express';
import type { ErrorRequestHandler } from 'express';
import { DEFAULT_SANDBOX } from '../defaults.ts';
import { getOrCreate, type ServiceHandler } from '../http/service-handler.ts';
import { decodeSegment, parseTarget, ROOT } from '../http/target.ts';
import { sendFailure, writeReply } from '../http/write.ts';
import { NAME_PATTERN } from '../limits.ts';
import { ContentError } from '../read-text.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import { StorageError } from '../sandbox/storage.ts';
import { formatProblem } from '../words.ts';
import { readBody } from './body.ts';
import type { ControlParts } from './control-options.ts';
import type { Endpoint, MockRequest } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';
import { createGuard } from './guard.ts';
import { pageReply, rootReply } from './pages.ts';
import { type ControlReply, ofService, refuse, refuseInput, refuseMethod } from './reply.ts';

/**
 * The whole mock as one Express app: the control API, then the service, which also answers all
 * other paths. Tests drive it with supertest; other apps mount it.
 *
 * @param load Express, which the caller imports only when needed, since that slows the start
 */
export function createExpressApp(
  load: typeof express,
  service: ServiceHandler,
  control: ControlParts,
): RequestListener {
  const app = load();
  app.disable('x-powered-by');
  app.use(controlRouter(control));
  app.use((request, response) => service(request, response));
  // Express answers errors with HTML, unless a function of four parameters does.
  const answerError: ErrorRequestHandler = (error, _request, response, _next) =>
    sendFailure(response, error, control.sandboxes.default.state);
  app.use(answerError);
  return app;
}

/** Answers a request for the mock itself, or passes it on. Express calls it, in any app. */
type MockHandler = (
  request: IncomingMessage & { readonly baseUrl?: string },
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/** A path of the control API, and its endpoints. */
interface EndpointRoute {
  readonly pattern: RegExp;
  readonly endpoints: readonly Endpoint[];
}

const ROUTES = [...new Set(ENDPOINTS.map(({ path }) => path))].map((path): EndpointRoute => {
  const segments = path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  const endpoints = ENDPOINTS.filter((endpoint) => endpoint.path === path);
  return { pattern: new RegExp(`^${segments}/?$`), endpoints };
});

/** Answers requests for the control API, its pages and the roots. Passes those for the service on. */
function controlRouter(parts: ControlParts): MockHandler {
  const guard = createGuard(parts.guard);
  return (request, response, next) => {
    const { baseUrl = '', url = '/', method } = request;
    const { below, path: whole, search, ...target } = parseTarget(url);
    const [, path] = /^\/__mock(\/.*|)$/s.exec(below) ?? [];
    const scheme = 'encrypted' in request.socket ? 'https' : 'http';
    const origin = `${scheme}://${request.headers.host ?? 'localhost'}`;
    const mount = `${baseUrl + target.mount}/__mock`;
    const sandboxName = target.sandbox ?? DEFAULT_SANDBOX;
    const mockRequest = { request, origin, mount, sandboxName, search };
    const isRoot = !parts.plain && ROOT.test(whole) && (method === 'GET' || method === 'HEAD');
    if (path !== undefined) {
      const onCall = () => reportCall(parts, baseUrl + url, response);
      answer({ ...mockRequest, path }, parts, guard, onCall).then(
        (reply) => (reply === undefined ? next() : send(response, reply)),
        next,
      );
    } else if (isRoot) {
      const control = `${baseUrl + whole.replace(/\/$/, '')}/__mock`;
      send(response, rootReply({ ...mockRequest, mount: control, path: '' }, parts));
    } else next();
  };
}

function reportCall(
  { onControlCall: onCall }: ControlParts,
  target: string,
  response: ServerResponse,
): void {
  if (onCall === undefined) return;
  const { method = '' } = response.req;
  const at = Date.now();
  const startedAt = performance.now();
  response.once('close', () => {
    const duration = performance.now() - startedAt;
    onCall({ method, target, status: response.statusCode, at, duration });
  });
}

/** @returns undefined if the mock has nothing there */
async function answer(
  mockRequest: MockRequest,
  parts: ControlParts,
  guard: ReturnType<typeof createGuard>,
  onCall: () => void,
): Promise<ControlReply | undefined> {
  const { request, path, search } = mockRequest;
  const { method = '' } = request;
  const { pattern, endpoints = [] } = ROUTES.find((it) => it.pattern.test(path)) ?? {};
  const isOpen = endpoints.some(({ open }) => open);
  if (!isOpen) {
    if (parts.noControl) return undefined;
    const page = await pageReply(mockRequest);
    if (page !== undefined) return page;
    if (!endpoints.some(({ quiet }) => quiet)) onCall();
    const refusal = guard(request.headers);
    if (refusal !== undefined) return refusal;
  }
  if (pattern === undefined) return unknownEndpoint(mockRequest);
  const wanted = method === 'HEAD' ? 'GET' : method;
  const endpoint = endpoints.find((it) => it.method.toUpperCase() === wanted);
  if (endpoint === undefined) {
    const methods = endpoints.map((it) => (it.method === 'get' ? 'get, head' : it.method));
    return refuseMethod(method, methods.join(', ').toUpperCase());
  }
  const sandbox = sandboxFor(endpoint, mockRequest, parts);
  if (!(sandbox instanceof Sandbox)) return sandbox;
  const body = await readBody(request, endpoint.body);
  if (body.refusal !== undefined) return body.refusal;
  const segments = Object.entries(pattern.exec(path)?.groups ?? {});
  const params = Object.fromEntries(segments.map(([name, it]) => [name, decodeSegment(it)]));
  const query = new URLSearchParams(search);
  const call = { ...mockRequest, parts, sandbox, params, query, body: body.value };
  try {
    // What other servers have done counts, too.
    if (!endpoint.open) await sandbox.read();
    return await endpoint.handle(call);
  } catch (error) {
    if (error instanceof StorageError) return refuse(error.code, 503, error.refusal);
    if (error instanceof ContentError) {
      return refuseInput(error.problems, formatProblem);
    }
    throw error;
  }
}

/** The sandbox that a request is for, or the refusal of the request. */
function sandboxFor(
  { open, defaultOnly }: Endpoint,
  mockRequest: MockRequest,
  { sandboxes }: ControlParts,
): Sandbox | ControlReply {
  const { sandboxName: name } = mockRequest;
  // A probe creates no sandbox, but a name that cannot be one is refused everywhere.
  if (open && NAME_PATTERN.test(name)) return sandboxes.default;
  if (defaultOnly && name !== DEFAULT_SANDBOX) return unknownEndpoint(mockRequest);
  const found = getOrCreate(sandboxes, name);
  return found instanceof Sandbox ? found : ofService(found);
}

function unknownEndpoint({ mount, path }: MockRequest): ControlReply {
  const target = (mount + path).slice(0, 200);
  const message = `the control API has no ${target}; ${mount}/openapi.json lists its endpoints`;
  return refuse('route_not_found', 404, message);
}

function send(response: ServerResponse, reply: ControlReply): void {
  const { status, mediaType = 'application/json', content } = reply;
  const headers = Object.entries({
    // A cache would miss changes in the sandbox.
    'Cache-Control': 'no-store',
    ...(content !== undefined && { 'Content-Type': mediaType }),
    ...reply.headers,
  });
  writeReply(response, status, headers.flat(), content);
}

import type express from 'express';
import type { ErrorRequestHandler, Request, RequestHandler, Router } from 'express';
import { locateByName } from '../http/locate.ts';
import { CONTROL_MOUNT, parseAddress } from '../http/target.ts';
import { NotSavedError } from '../sandbox/keeper.ts';
import { Sandbox } from '../sandbox/sandbox.ts';
import { DEFAULT_SANDBOX, SANDBOX_NAME } from '../sandbox/sandbox-names.ts';
import { readBody } from './body.ts';
import { serveDashboard } from './dashboard-files.ts';
import { type ControlReply, type Endpoint, ofService, refuse } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';
import { guard } from './guard.ts';
import type { ControlParts, FinishedCall } from './parts.ts';
import { serveRoot } from './root.ts';
import { refuseMethod, sendReply } from './send.ts';

type Called = Request<Readonly<Record<string, string>>>;

/** Routes the requests to the mock itself. Requests to the service fall through. */
export function controlRouter({ Router }: typeof express, parts: ControlParts): Router {
  const api = Router({ caseSensitive: true });
  addRoutes(api, parts, ({ open }) => open === true);
  if (parts.noControl !== true) {
    serveDashboard(api);
    if (parts.onControlCall !== undefined) api.use(reportTo(parts.onControlCall));
    api.use(guard(parts.guard));
    addRoutes(api, parts, ({ open }) => open !== true);
    api.use((request, response) => sendReply(response, unknown(request)));
  }
  const router = Router({ caseSensitive: true });
  router.use(CONTROL_MOUNT, api);
  if (!parts.plain) serveRoot(router, parts);
  router.use(answerMalformed);
  return router;
}

function reportTo(onCall: (call: FinishedCall) => void): RequestHandler {
  return ({ method, originalUrl: target }, response, next) => {
    const at = Date.now();
    const startedAt = performance.now();
    response.once('close', () => {
      const duration = performance.now() - startedAt;
      onCall({ method, target, status: response.statusCode, at, duration });
    });
    next();
  };
}

function addRoutes(
  api: Router,
  parts: ControlParts,
  isWanted: (endpoint: Endpoint) => boolean,
): void {
  const wanted = ENDPOINTS.filter(isWanted);
  for (const path of new Set(wanted.map((endpoint) => endpoint.path))) {
    const endpoints = wanted.filter((endpoint) => endpoint.path === path);
    const route = api.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const endpoint of endpoints) route[endpoint.method](handlerOf(endpoint, parts));
    const methods = endpoints.map(({ method }) => (method === 'get' ? 'get, head' : method));
    route.all(refuseMethod(methods.join(', ').toUpperCase()));
  }
}

function handlerOf(endpoint: Endpoint, parts: ControlParts): RequestHandler<Called['params']> {
  return async (request, response) => {
    const sandbox = sandboxFor(endpoint, request, parts);
    if (!(sandbox instanceof Sandbox)) {
      sendReply(response, sandbox);
      return;
    }
    const body = await readBody(request, endpoint.body);
    const reply = body.ok
      ? await callEndpoint(endpoint, request, parts, sandbox, body.value)
      : body.refusal;
    sendReply(response, reply, sandbox.state.clock);
  };
}

/** The sandbox that a request is for, or the refusal of the request. */
function sandboxFor(
  { open, defaultOnly }: Endpoint,
  request: Called,
  { sandboxes }: ControlParts,
): Sandbox | ControlReply {
  const { sandbox: name = DEFAULT_SANDBOX } = parseAddress(request.baseUrl);
  // A probe creates no sandbox, but a name that cannot be one is refused everywhere.
  if (open && SANDBOX_NAME.test(name)) return sandboxes.default;
  if (defaultOnly && name !== DEFAULT_SANDBOX) return unknown(request);
  const found = locateByName(sandboxes, name);
  return found instanceof Sandbox ? found : ofService(found);
}

/** Runs an endpoint on the current state of the sandbox. */
async function callEndpoint(
  { handle, open }: Endpoint,
  request: Called,
  parts: ControlParts,
  sandbox: Sandbox,
  body: unknown,
): Promise<ControlReply> {
  const { baseUrl: mount, params, headers } = request;
  const url = `${request.protocol}://${headers.host ?? 'localhost'}${mount}`;
  const query = new URLSearchParams(/\?(.*)$/s.exec(request.url)?.[1]);
  try {
    if (!open) await sandbox.current();
    return await handle({ parts, sandbox, params, query, body, mount, url, headers });
  } catch (error) {
    if (error instanceof NotSavedError) return refuse(error.code, 503, error.message);
    throw error;
  }
}

function unknown({ baseUrl, path }: Pick<Request, 'baseUrl' | 'path'>): ControlReply {
  const target = `${baseUrl}${path}`.slice(0, 200);
  const message = `the control API has no ${target}; ${baseUrl}/openapi.json lists its endpoints`;
  return refuse('route_not_found', 404, message);
}

/** Answers a path with an invalid encoding. Express has reset `baseUrl` by then. */
const answerMalformed: ErrorRequestHandler = (error: unknown, request, response, next) => {
  const [baseUrl = ''] = CONTROL_MOUNT.exec(request.path) ?? [];
  const path = request.path.slice(baseUrl.length);
  if (error instanceof URIError) sendReply(response, unknown({ baseUrl, path }));
  else next(error);
};

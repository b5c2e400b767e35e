import type express from 'express';
import type {
  ErrorRequestHandler,
  NextFunction,
  Request,
  RequestHandler,
  Response,
  Router,
} from 'express';
import { locateByName, nameInvalid } from '../http/locate.ts';
import { NotSavedError, Sandbox } from '../sandbox/sandbox.ts';
import { DEFAULT_SANDBOX, SANDBOX_NAME } from '../sandbox/sandbox-names.ts';
import { readBody } from './body.ts';
import { type ControlReply, type Endpoint, refuse } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';
import { guard } from './guard.ts';
import { ofService } from './of-service.ts';
import type { ControlCall, ControlParts } from './parts.ts';
import { sendReply } from './send.ts';

/** Where the control API of the default sandbox is, and that of another. */
const MOUNTS = [/^\/__mock(?=\/|$)/, /^\/~[^/]*\/__mock(?=\/|$)/];

/** The sandbox in a mount, as it is written there. */
const SANDBOX = /\/~([^/]*)\/__mock$/;

/** The control API: what is asked of the mock itself, not of the service. */
export function controlRouter({ Router }: typeof express, parts: ControlParts): Router {
  const api = Router({ caseSensitive: true });
  addRoutes(
    api,
    ENDPOINTS.filter(({ open }) => open === true),
    parts,
  );
  if (parts.enabled) {
    if (parts.onCall !== undefined) api.use(reporting(parts.onCall));
    api.use(uncached, guard(parts.guard));
    addRoutes(
      api,
      ENDPOINTS.filter(({ open }) => open !== true),
      parts,
    );
    api.use(answerUnknown);
  }
  const router = Router({ caseSensitive: true });
  router.use(MOUNTS, api);
  router.use(answerMalformed);
  return router;
}

function reporting(onCall: (call: ControlCall) => void): RequestHandler {
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

function addRoutes(api: Router, endpoints: readonly Endpoint[], parts: ControlParts): void {
  for (const path of new Set(endpoints.map((endpoint) => endpoint.path))) {
    const onPath = endpoints.filter((endpoint) => endpoint.path === path);
    const route = api.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    for (const endpoint of onPath) route[endpoint.method](handlerOf(endpoint, parts));
    const methods = onPath.flatMap(({ method }) => (method === 'get' ? ['get', 'head'] : [method]));
    const allow = methods.join(', ').toUpperCase();
    route.all((request, response) => {
      const message = `${request.method} is not allowed here; ${allow} are`;
      send(request, response, refuse('method_not_allowed', 405, message, { Allow: allow }));
    });
  }
}

function handlerOf(endpoint: Endpoint, parts: ControlParts): RequestHandler {
  return async (request, response) => {
    const { sandbox, refusal } = sandboxFor(endpoint, request, parts);
    if (refusal !== undefined) {
      send(request, response, refusal);
      return;
    }
    const body = await readBody(request, endpoint.body);
    const reply = body.ok
      ? await perform(endpoint, request, parts, sandbox, body.value)
      : body.refusal;
    send(request, response, reply, sandbox);
  };
}

function sandboxFor(
  { open, defaultOnly }: Endpoint,
  request: Request,
  { sandboxes }: ControlParts,
): { sandbox: Sandbox; refusal?: ControlReply } {
  const [, name = DEFAULT_SANDBOX] = SANDBOX.exec(request.baseUrl) ?? [];
  if (!SANDBOX_NAME.test(name)) {
    return { sandbox: sandboxes.default, refusal: ofService(nameInvalid(sandboxes, name)) };
  }
  if (open) return { sandbox: sandboxes.default };
  if (defaultOnly && name !== DEFAULT_SANDBOX) {
    return { sandbox: sandboxes.default, refusal: unknown(request) };
  }
  const found = locateByName(sandboxes, name);
  if (found instanceof Sandbox) return { sandbox: found };
  return { sandbox: sandboxes.default, refusal: ofService(found) };
}

/** Runs an endpoint. A change of the store is saved before it is acknowledged. */
async function perform(
  { handle }: Endpoint,
  request: Request,
  parts: ControlParts,
  sandbox: Sandbox,
  body: unknown,
): Promise<ControlReply> {
  const { version } = sandbox;
  const call = {
    parts,
    sandbox,
    params: Object.fromEntries(
      Object.entries(request.params).map(([name, value]) => [name, String(value)]),
    ),
    query: new URLSearchParams(/\?(.*)$/s.exec(request.url)?.[1]),
    body,
    mount: request.baseUrl,
    url: `${request.protocol}://${request.get('host') ?? 'localhost'}${request.baseUrl}`,
  };
  try {
    const reply = await handle(call);
    await sandbox.saved(version);
    return reply;
  } catch (error) {
    if (error instanceof NotSavedError) return refuse('not_saved', 503, error.message);
    throw error;
  }
}

function send(request: Request, response: Response, reply: ControlReply, sandbox?: Sandbox): void {
  sendReply(response, reply, request.method === 'HEAD', sandbox?.clock);
}

/** Also for what the guard answers. */
function uncached(_request: Request, response: Response, next: NextFunction): void {
  response.setHeader('Cache-Control', 'no-store');
  next();
}

function answerUnknown(request: Request, response: Response): void {
  send(request, response, unknown(request));
}

function unknown({ baseUrl, path }: Pick<Request, 'baseUrl' | 'path'>): ControlReply {
  const message = `the control API has nothing at ${`${baseUrl}${path}`.slice(0, 200)}; ${baseUrl}/openapi.json tells what there is`;
  return refuse('route_not_found', 404, message);
}

/** A mount and what is behind it. */
const MOUNTED = /^((?:\/~[^/]*)?\/__mock)(.*)$/s;

/** A path that is no valid encoding is that of nothing. Express has forgotten where it came to it. */
const answerMalformed: ErrorRequestHandler = (error: unknown, request, response, next) => {
  const [, baseUrl = '', path = ''] = MOUNTED.exec(request.path) ?? [];
  if (error instanceof URIError) send(request, response, unknown({ baseUrl, path }));
  else next(error);
};

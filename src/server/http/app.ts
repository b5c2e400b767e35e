import type { RequestListener, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type expressModule from 'express';
import type { ErrorRequestHandler, Request, Router } from 'express';
import { ROOT } from '../../core/contract/target.ts';
import {
  type ControlCall,
  type ControlParts,
  type ControlRequest,
  type Endpoint,
  readRequest,
} from '../../core/control/endpoint.ts';
import { ENDPOINTS } from '../../core/control/endpoints.ts';
import { readBody, readQuery } from '../../core/control/input.ts';
import {
  type ControlReply,
  fromServiceReply,
  refuse,
  refuseInput,
  refuseMethod,
  sendControlReply,
} from '../../core/control/reply.ts';
import { DEFAULT_SANDBOX, NAME_PATTERN } from '../../core/limits.ts';
import { Sandbox } from '../../core/sandbox/sandbox.ts';
import { StorageError } from '../../core/sandbox/storage.ts';
import { formatProblem } from '../../core/words.ts';
import { ContentError } from '../files.ts';
import { createGuard } from './guard.ts';
import { createPageHandler, createRootReply } from './pages.ts';
import { getOrRefuse, type ServiceHandler } from './service-handler.ts';
import { sendFailure } from './write.ts';

/** @param express passed in, since importing it slows the start: callers do so only when needed */
export function createExpressApp(
  express: typeof expressModule,
  service: ServiceHandler,
  control: ControlParts,
): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  if (!control.plain) {
    app.get(ROOT, (request, response) => {
      const mount = `${request.baseUrl}${request.path.replace(/\/$/, '')}/__mock`;
      sendControlReply(response, createRootReply({ ...readRequest(request), mount }, control));
    });
  }
  app.use(/^(?:\/~[^/]*)?\/__mock(?=\/|$)/, createControlRouter(express, control));
  app.use((request, response) => service(request, response));
  // Express answers errors with HTML, unless a function of four parameters does.
  const answerError: ErrorRequestHandler = (error, _request, response, _next) => {
    // Express throws it for a path parameter that it cannot decode.
    if (error instanceof URIError) {
      sendControlReply(
        response,
        refuse('invalid_input', 400, 'the path has a malformed percent-encoding'),
      );
    } else sendFailure(response, error, control.sandboxes.default.state);
  };
  app.use(answerError);
  return app;
}

function createControlRouter(express: typeof expressModule, parts: ControlParts): Router {
  const router = express.Router({ caseSensitive: true });
  addRoutes(router, parts, true);
  if (parts.noControl) return router;
  const guard = createGuard(parts.guard);
  router.use(createPageHandler(express), (request, response, next) => {
    const isQuiet = ENDPOINTS.some(({ quiet, path }) => quiet && path === request.path);
    if (!isQuiet) reportCall(parts, request.originalUrl, response);
    const refusal = guard(request.headers);
    if (refusal === undefined) next();
    else sendControlReply(response, refusal);
  });
  addRoutes(router, parts, false);
  router.use((request, response) =>
    sendControlReply(response, refuseUnknown(readRequest(request))),
  );
  return router;
}

/** @param unguarded adds the endpoints that need no token, or else all others */
function addRoutes(router: Router, parts: ControlParts, unguarded: boolean): void {
  const endpoints = ENDPOINTS.filter((endpoint) => (endpoint.unguarded ?? false) === unguarded);
  for (const path of new Set(endpoints.map((endpoint) => endpoint.path))) {
    const route = router.route(path.replaceAll(/\{(\w+)\}/g, ':$1'));
    const methods: string[] = [];
    for (const endpoint of endpoints.filter((each) => each.path === path)) {
      methods.push(endpoint.method === 'get' ? 'get, head' : endpoint.method);
      route[endpoint.method](async (request, response) => {
        sendControlReply(response, await answer(endpoint, request, parts));
      });
    }
    const allow = methods.join(', ').toUpperCase();
    route.all((request, response) =>
      sendControlReply(response, refuseMethod(request.method, allow)),
    );
  }
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

async function answer(
  endpoint: Endpoint,
  request: Request,
  parts: ControlParts,
): Promise<ControlReply> {
  const mockRequest = readRequest(request);
  const sandbox = findSandbox(endpoint, mockRequest, parts);
  if (!(sandbox instanceof Sandbox)) return sandbox;
  const body = await readBody(request, endpoint.body);
  if (body.refusal !== undefined) return body.refusal;
  const query =
    endpoint.query && readQuery(endpoint.query, new URLSearchParams(mockRequest.search));
  if (query?.ok === false) return refuseInput(query.problems);
  const texts = Object.entries(request.params).map(([name, text]) => [name, String(text)]);
  const params: ControlCall['params'] = Object.fromEntries(texts);
  const input = { params, query: query?.value, body: body.value };
  const call = { ...mockRequest, ...input, parts, sandbox };
  try {
    // What other servers have done counts, too.
    if (!endpoint.unguarded) await sandbox.read();
    return await endpoint.handle(call);
  } catch (error) {
    if (error instanceof StorageError) return refuse(error.code, 503, error.refusal);
    if (error instanceof ContentError) return refuseInput(error.problems, formatProblem);
    throw error;
  }
}

function findSandbox(
  { unguarded, defaultOnly }: Endpoint,
  mockRequest: ControlRequest,
  { sandboxes }: ControlParts,
): Sandbox | ControlReply {
  const { sandboxName: name } = mockRequest;
  // A probe creates no sandbox, but a name that cannot be one is refused everywhere.
  if (unguarded && NAME_PATTERN.test(name)) return sandboxes.default;
  if (defaultOnly && name !== DEFAULT_SANDBOX) return refuseUnknown(mockRequest);
  const found = getOrRefuse(sandboxes, name);
  return found instanceof Sandbox ? found : fromServiceReply(found);
}

function refuseUnknown({ mount, path }: ControlRequest): ControlReply {
  const target = (mount + path).slice(0, 200);
  const message = `the control API has no ${target}; ${mount}/openapi.json lists its endpoints`;
  return refuse('route_not_found', 404, message);
}

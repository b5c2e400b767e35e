import type { RequestListener, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import type expressModule from 'express';
import type { ErrorRequestHandler, Router } from 'express';
import { CONTROL_PATH, ROOT } from '../../core/contract/target.ts';
import { callControlApi, isLogged, listEndpoints } from '../../core/control/control-api.ts';
import type { ControlParts } from '../../core/control/endpoint.ts';
import { createRootReply } from '../../core/control/root.ts';
import type { Feature, Pages } from '../feature.ts';
import type { FinishedCall } from '../observers.ts';
import { readControlRequest, sendControlReply } from './control-request.ts';
import type { ServiceHandler } from './service-handler.ts';
import { runInTurn, sendFailure } from './write.ts';

const CONTROL = new RegExp(`^(?:/~[^/]*)?${CONTROL_PATH}(?=/|$)`);

/** What the app answers with. */
interface AppParts {
  readonly service: ServiceHandler;
  readonly control: Omit<ControlParts, 'endpoints'>;
  readonly onControlCall?: ((call: FinishedCall) => void) | undefined;
}

/** @param express passed in, since importing it slows the start: callers do so only when needed */
export function createExpressApp(
  express: typeof expressModule,
  { service, control: assembled, onControlCall }: AppParts,
  features: readonly Feature[],
): RequestListener {
  const app = express();
  // Listed here, since most starts need no endpoint: their table is loaded with the app.
  const control = { ...assembled, endpoints: listEndpoints(features) };
  const pages = features.flatMap((feature) => feature.pages ?? []);
  const paths = Object.assign({}, ...pages.map((it) => it.paths));
  app.disable('x-powered-by');
  app.use((_request, response, next) => runInTurn(response, next));
  if (!control.sandboxes.options.plain) {
    app.get(ROOT, (request, response) => {
      const mount = `${request.baseUrl}${request.path.replace(/\/$/, '')}${CONTROL_PATH}`;
      const root = { ...readControlRequest(request), mount };
      sendControlReply(response, createRootReply(root, control, paths));
    });
  }
  app.use(CONTROL, createControlRouter(express, control, onControlCall, pages));
  app.use((request, response) => service(request, response));
  // Express answers errors with HTML, unless a function of four parameters does.
  const sendError: ErrorRequestHandler = (error, _request, response, _next) =>
    sendFailure(response, error, control.sandboxes.default.state);
  app.use(sendError);
  return app;
}

function createControlRouter(
  express: typeof expressModule,
  parts: ControlParts,
  onCall: AppParts['onControlCall'],
  pages: readonly Pages[],
): Router {
  const router = express.Router();
  if (!parts.noControl) for (const { create } of pages) router.use(create(express));
  router.use(async (request, response, next) => {
    const call = readControlRequest(request);
    if (onCall && !parts.noControl && isLogged(call.path, parts))
      reportCall(onCall, request.originalUrl, response);
    const reply = await callControlApi(call, parts);
    if (reply === undefined) next();
    else sendControlReply(response, reply);
  });
  return router;
}

function reportCall(
  onCall: (call: FinishedCall) => void,
  target: string,
  response: ServerResponse,
): void {
  const { method = '' } = response.req;
  const at = Date.now();
  const startedAt = performance.now();
  response.once('close', () => {
    const duration = performance.now() - startedAt;
    onCall({ method, target, status: response.statusCode, at, duration });
  });
}

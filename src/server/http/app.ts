import type { RequestListener, ServerResponse } from 'node:http';
import type expressModule from 'express';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { callControlApi, isLogged, listEndpoints } from '../../core/control/control-api.ts';
import type { ControlParts, ControlRequest } from '../../core/control/endpoint.ts';
import { createRootReply } from '../../core/control/root.ts';
import { steadyNow } from '../../core/service/clock.ts';
import type { Feature, Pages } from '../feature.ts';
import type { FinishedCall } from '../observers.ts';
import { readControlRequest, sendControlReply } from './control-request.ts';
import type { ServiceHandler } from './service-handler.ts';
import { runInTurn, sendFailure } from './write.ts';

/** What the app passes requests on to. */
interface AppHandlers {
  readonly service: ServiceHandler;
  readonly control: Omit<ControlParts, 'endpoints'>;
  readonly onControlCall?: ((call: FinishedCall) => void) | undefined;
}

/** @param express a parameter, so that only callers that need it import it: it slows the start */
export function createExpressApp(
  express: typeof expressModule,
  { service, control: assembled, onControlCall }: AppHandlers,
  features: readonly Feature[],
): RequestListener {
  const app = express();
  // Listed here, so that the table of endpoints is loaded with the app and not at each start.
  const control = { ...assembled, endpoints: listEndpoints(features) };
  const pages = features.flatMap((feature) => feature.pages ?? []);
  app.disable('x-powered-by');
  app.use((_request, response, next) => runInTurn(response, next));
  app.use(createControlHandler(express, control, onControlCall, pages));
  app.use((request, response) => service(request, response));
  // Express answers errors with HTML, unless an error handler (four parameters) comes first.
  const sendError: ErrorRequestHandler = (error, _request, response, _next) =>
    sendFailure(response, error, control.sandboxes.default.state);
  app.use(sendError);
  return app;
}

function createControlHandler(
  express: typeof expressModule,
  parts: ControlParts,
  onCall: AppHandlers['onControlCall'],
  pages: readonly Pages[],
): RequestHandler {
  const paths = Object.assign({}, ...pages.map((it) => it.paths));
  const serve = parts.noControl ? [] : pages.map(({ create }) => create(express));
  const answer = (call: ControlRequest, target: string, response: ServerResponse) => {
    if (call.isRoot) return createRootReply(call, parts, paths);
    if (onCall && !parts.noControl && isLogged(call.path, parts))
      reportCall(onCall, target, response);
    return callControlApi(call, parts);
  };
  return async (request, response, next) => {
    const call = readControlRequest(request);
    if (call === undefined) return next();
    if (!call.isRoot && serve.some((page) => page(call, request, response, next))) return;
    const reply = await answer(call, request.originalUrl, response);
    if (reply === undefined) next();
    else sendControlReply(response, reply);
  };
}

function reportCall(
  onCall: (call: FinishedCall) => void,
  target: string,
  response: ServerResponse,
): void {
  const { method = '' } = response.req;
  const at = Date.now();
  const startedAt = steadyNow();
  response.once('close', () => {
    const duration = steadyNow() - startedAt;
    onCall({ method, target, status: response.statusCode, at, duration });
  });
}

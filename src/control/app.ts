import type { RequestListener } from 'node:http';
import type express from 'express';
import type { ErrorRequestHandler } from 'express';
import { chooseOptions } from '../contract/assumptions.ts';
import type { ServiceHandler } from '../http/service.ts';
import { errorBody } from '../service/reply.ts';
import type { ControlParts } from './parts.ts';
import { controlRouter } from './router.ts';

/**
 * The whole mock as one Express app: the control API, then the service, which answers everything
 * else as well. It can be driven by supertest and mounted in another app.
 *
 * @param load Express itself, which costs a start so much that it is imported when first wanted
 */
export function createExpressApp(
  load: typeof express,
  service: ServiceHandler,
  control: ControlParts,
): RequestListener {
  const app = load();
  app.disable('x-powered-by');
  app.use(controlRouter(load, control));
  app.use((request, response) => service(request, response));
  app.use(answerFault);
  return app;
}

/** Express would answer with a page of HTML. */
const answerFault: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const choices = chooseOptions();
  if (isOfClient(error)) {
    response.status(400).json(errorBody(choices, 'invalid_input', 400, error.message));
    return;
  }
  process.emitWarning(error instanceof Error ? error : new Error(String(error)));
  const body = errorBody(choices, 'internal_error', 500, 'the mock itself failed');
  response.status(500).json(body);
};

/** Whether Express, or a middleware, says that the client is at fault. */
function isOfClient(error: unknown): error is Error {
  if (!(error instanceof Error) || !('status' in error)) return false;
  return typeof error.status === 'number' && error.status >= 400 && error.status < 500;
}

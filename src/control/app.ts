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

/** Express would answer a fault with a page of HTML. */
const answerFault: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
  process.emitWarning(error instanceof Error ? error : new Error(String(error)));
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = errorBody(chooseOptions(), 'internal_error', 500, 'the mock itself failed');
  response.status(500).json(body);
};

import type { RequestListener } from 'node:http';
import type express from 'express';
import type { ErrorRequestHandler } from 'express';
import type { ServiceHandler } from '../http/service-handler.ts';
import { failed } from '../http/write.ts';
import { ofService } from './endpoint.ts';
import type { ControlParts } from './parts.ts';
import { controlRouter, sendReply } from './router.ts';

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
  const answerError: ErrorRequestHandler = (error, _request, response, _next) => {
    if (response.headersSent) response.destroy();
    else sendReply(response, ofService(failed(control.sandboxes.default.state, error)));
  };
  app.use(answerError);
  return app;
}

import type { RequestListener } from 'node:http';
import type express from 'express';
import type { ErrorRequestHandler } from 'express';
import type { Choices } from '../contract/assumption-table.ts';
import type { ErrorBody } from '../contract/records.ts';
import type { ServiceHandler } from '../http/service.ts';
import { errorBody } from '../service/reply.ts';
import type { ControlParts } from './parts.ts';
import { controlRouter } from './router.ts';

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
  app.use(controlRouter(load, control));
  app.use((request, response) => service(request, response));
  app.use(faultAnswerer(control));
  return app;
}

/** Answers errors with JSON. By default, Express answers with HTML. */
function faultAnswerer({ sandboxes }: ControlParts): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const body = bodyOf(error, sandboxes.default.world.choices);
    if (body.status === 500) {
      process.emitWarning(error instanceof Error ? error : new Error(String(error)));
    }
    response.status(body.status).json(body);
  };
}

/** The Error for a client's fault, as Express or a middleware reports it, or for an internal one. */
function bodyOf(error: unknown, choices: Choices): ErrorBody {
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  const message = error instanceof Error ? error.message : '';
  if (status === 413) return errorBody(choices, 'body_too_large', 413, message);
  if (status === 415) return errorBody(choices, 'unsupported_media_type', 415, message);
  if (typeof status === 'number' && status >= 400 && status < 500) {
    return errorBody(choices, 'invalid_input', 400, message);
  }
  return errorBody(choices, 'internal_error', 500, 'the mock itself failed');
}

import type { RequestListener } from 'node:http';
import express from 'express';
import type { ServiceHandler } from '../http/service.ts';
import { controlRouter } from './router.ts';

/**
 * The whole mock as one Express app: the control API, then the service, which answers everything
 * else as well. It can be driven by supertest and mounted in another app.
 */
export function createExpressApp(service: ServiceHandler): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  app.use('/__mock', controlRouter());
  app.use((request, response) => service(request, response));
  return app;
}

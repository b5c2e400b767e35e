import { Router } from 'express';
import { serviceOpenApi } from '../contract/openapi.ts';
import { BASE_PATH } from '../contract/operations.ts';
import { packageVersion } from '../package.ts';

/** The control API: what is asked of the mock itself, not of the service. */
export function controlRouter(): Router {
  const router = Router();
  router.get('/health', (_request, response) => {
    response.json({ status: 'ok', version: packageVersion() });
  });
  router.get('/service.openapi.json', (request, response) => {
    const mount = request.baseUrl.slice(0, -'/__mock'.length);
    const serverUrl = `${request.protocol}://${request.get('host') ?? 'localhost'}${mount}${BASE_PATH}`;
    response.json(serviceOpenApi({ serverUrl, version: packageVersion() }));
  });
  return router;
}

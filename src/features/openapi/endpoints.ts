import { lazyHandlers } from '../../core/control/endpoint.ts';

export const OPENAPI_ENDPOINTS = lazyHandlers(
  async () => (await import('./handlers.ts')).OPENAPI_HANDLERS,
  'getServiceDocument',
  'getControlDocument',
);

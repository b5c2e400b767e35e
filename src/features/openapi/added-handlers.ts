import { addHandlers } from '../../core/control/added-handlers.ts';

export const OPENAPI_DOCUMENTS = addHandlers(
  'openapi',
  ['getServiceDocument', 'getControlDocument'],
  async () => (await import('./handlers.ts')).OPENAPI_HANDLERS,
);

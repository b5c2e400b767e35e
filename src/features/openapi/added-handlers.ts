import type { AddedHandlers } from '../../core/control/endpoint.ts';

export const OPENAPI_DOCUMENTS: AddedHandlers = {
  name: 'openapi',
  handlers: {
    of: ['getServiceDocument', 'getControlDocument'],
    load: async () => (await import('./handlers.ts')).OPENAPI_HANDLERS,
  },
};

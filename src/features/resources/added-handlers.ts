import type { AddedHandlers } from '../../core/control/added-handlers.ts';

/** Records and sandboxes as resources, in lists that filter, sort and page like json-server. */
export const RESOURCES: AddedHandlers = {
  name: 'resources',
  handlers: {
    of: ['Records', 'Sandboxes'],
    load: async () => ({
      ...(await import('./record-handlers.ts')).RECORD_HANDLERS,
      ...(await import('./sandbox-handlers.ts')).SANDBOX_HANDLERS,
    }),
  },
};

import type { AddedHandlers } from '../../core/control/added-handlers.ts';

/** Single records and sandboxes as resources, in lists that filter, sort and page as json-server does. */
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

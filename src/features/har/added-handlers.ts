import type { AddedHandlers } from '../../core/control/endpoint.ts';

/** The journal in HAR, the format of the developer tools of browsers. */
export const HAR: AddedHandlers = {
  name: 'har',
  handlers: {
    of: ['exportRequests'],
    load: async () => (await import('./handlers.ts')).HAR_HANDLERS,
  },
};

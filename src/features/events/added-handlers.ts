import type { AddedHandlers } from '../../core/control/endpoint.ts';

/** Exchanges as they happen: a stream of them, and counts that wait for them. */
export const EVENTS: AddedHandlers = {
  name: 'events',
  handlers: {
    of: ['countRequests', 'streamRequests'],
    load: async () => (await import('./exchange-stream.ts')).EVENT_HANDLERS,
  },
};

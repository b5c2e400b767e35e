import { addHandlers } from '../../core/control/added-handlers.ts';

/** Exchanges as they happen: a stream of them, and counts that wait for them. */
export const EVENTS = addHandlers(
  'events',
  ['countRequests', 'streamRequests'],
  async () => (await import('./exchange-stream.ts')).EVENT_HANDLERS,
);

import { addHandlers } from '../../core/control/added-handlers.ts';

/** Exchanges as they happen: the event stream, and counts that wait. */
export const EVENTS = addHandlers(
  'events',
  ['countRequests', 'streamRequests'],
  async () => (await import('./exchange-stream.ts')).EVENT_HANDLERS,
);

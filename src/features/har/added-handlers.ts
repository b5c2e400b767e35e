import { addHandlers } from '../../core/control/added-handlers.ts';

/** The journal in HAR, the format of the developer tools of browsers. */
export const HAR = addHandlers(
  'har',
  ['exportRequests'],
  async () => (await import('./handlers.ts')).HAR_HANDLERS,
);

import { addHandlers } from '../../core/control/added-handlers.ts';

/** The journal as HAR, the format of the browsers' developer tools. */
export const HAR = addHandlers(
  'har',
  ['exportRequests'],
  async () => (await import('./handlers.ts')).HAR_HANDLERS,
);

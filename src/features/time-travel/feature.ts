import type { Feature } from '../../server/feature.ts';

/** The states around a recorded call: rewind, undo, replay, and what else it could have got. */
export const TIME_TRAVEL: Feature = {
  name: 'time-travel',
  handlers: async () => (await import('./handlers.ts')).TIME_TRAVEL_HANDLERS,
};

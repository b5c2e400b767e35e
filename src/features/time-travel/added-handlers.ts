import type { AddedHandlers } from '../../core/control/endpoint.ts';

/** The states around a recorded call: rewind, undo, replay, and what else it could have got. */
export const TIME_TRAVEL: AddedHandlers = {
  name: 'time-travel',
  handlers: {
    of: [
      ...['getStateOfRequest', 'rewind', 'undo'],
      ...['listAlternatives', 'replay', 'getRuleOfRequest'],
    ],
    load: async () => (await import('./handlers.ts')).TIME_TRAVEL_HANDLERS,
  },
};

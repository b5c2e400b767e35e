import { addHandlers } from '../../core/control/added-handlers.ts';

/** The states before and after a call: rewind, undo, replay, and what else it may have got. */
export const TIME_TRAVEL = addHandlers(
  'time-travel',
  ['getStateOfRequest', 'rewind', 'undo', 'listAlternatives', 'replay', 'getRuleOfRequest'],
  async () => (await import('./handlers.ts')).TIME_TRAVEL_HANDLERS,
);

import { lazyHandlers } from '../../core/control/endpoint.ts';

export const TIME_TRAVEL_ENDPOINTS = lazyHandlers(
  async () => (await import('./handlers.ts')).TIME_TRAVEL_HANDLERS,
  ...(['getStateOfRequest', 'rewind', 'undo'] as const),
  ...(['listAlternatives', 'replay', 'getRuleOfRequest'] as const),
);

import type { AddedHandlers } from '../../core/control/endpoint.ts';

/** Scenarios that a sandbox keeps under names of its own, and the text of those that ship. */
export const SCENARIOS: AddedHandlers = {
  name: 'scenarios',
  handlers: {
    of: ['getScenarioSource', 'saveScenario', 'deleteScenario'],
    load: async () => (await import('./handlers.ts')).OWN_SCENARIO_HANDLERS,
  },
};

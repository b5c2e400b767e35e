import { addHandlers } from '../../core/control/added-handlers.ts';

/** Scenarios that a sandbox keeps under names of its own, and the text of those that ship. */
export const SCENARIOS = addHandlers(
  'scenarios',
  ['getScenarioSource', 'saveScenario', 'deleteScenario'],
  async () => (await import('./handlers.ts')).OWN_SCENARIO_HANDLERS,
);

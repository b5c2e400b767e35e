import { addHandlers } from '../../core/control/added-handlers.ts';

/** A sandbox's own scenarios, and the text of those that ship. */
export const SCENARIOS = addHandlers(
  'scenarios',
  ['getScenarioSource', 'saveScenario', 'deleteScenario'],
  async () => (await import('./handlers.ts')).OWN_SCENARIO_HANDLERS,
);

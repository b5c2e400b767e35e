export { ControlError } from './client/control-client.ts';
export type { ScenarioName } from './core/scenario/scenario-names.ts';
export { ScenarioError } from './core/scenario/scenario-records.ts';
export type { ScenarioDefinition } from './core/scenario/scenario-shape.ts';
export { FixtureError } from './core/store/fixture.ts';
export { createMock, type Mock } from './features/in-process/create-mock.ts';
export type { CreateMockOptions } from './features/in-process/options.ts';

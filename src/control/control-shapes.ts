export type { RecordedExchange, RecordedMessage } from './journal/exchange-text.ts';
export type {
  Coverage,
  EditView,
  Findings,
  JournalView as JournalPage,
} from './journal/journal-endpoints.ts';
export type { SandboxSummary } from './state/sandbox-endpoints.ts';
export type {
  ActiveScenarios,
  ScenarioProblem,
  ScenarioSummary,
} from './state/scenario-endpoints.ts';
export type {
  AssumptionState,
  ClockState,
  SandboxStatus,
  UpstreamState,
} from './state/settings-endpoints.ts';
export type { Snapshot } from './state/state-endpoints.ts';

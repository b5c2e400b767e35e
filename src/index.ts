/// <reference types="node" preserve="true" />
import type { RequestListener } from 'node:http';
import express from 'express';
import { createExpressApp } from './control/app.ts';
import { assembleMock, type MockOptions } from './mock.ts';
import { type StartSettings, startOf } from './scenario/sandbox-start.ts';
import { starterFrom } from './scenario/starter.ts';
import { loadFixtureSync } from './store/fixture/load-fixture.ts';

export type { AssumptionId, Choices, Option } from './contract/assumption-table.ts';
export type { DocumentedCase, KnownReply } from './contract/cases.ts';
export type { OperationId } from './contract/operations.ts';
export type { OrderStatus } from './contract/records.ts';
export type { CoverageReport, ReplyCoverage, Shown } from './evidence/coverage.ts';
export type { Finding, FindingCode, FindingsReport } from './evidence/findings.ts';
export type { Exchange, Observer } from './evidence/journal.ts';
export type { Timeouts } from './http/listener.ts';
export {
  type ConnectOptions,
  connectPetstoreMock,
  type PetstoreMock,
  type ReportScope,
} from './library/connect.ts';
export { ControlError } from './library/control-error.ts';
export { globalSetup } from './library/global-setup.ts';
export type { ClockSetting, MockSandbox, ResetOptions } from './library/mock-sandbox.ts';
export type { RecordControl, RecordQuery } from './library/record-control.ts';
export type {
  Animal,
  Changes,
  CollectionChanges,
  Int64,
  InventoryEntry,
  Order,
  RecordChanges,
  StateChanges,
  StoreState,
  Without,
} from './library/record-types.ts';
export type {
  ActiveRule,
  ActiveScenario,
  AssumptionState,
  CaseCoverage,
  ClockState,
  CoverageShare,
  RecordedBody,
  RecordedExchange,
  RequestCount,
  RequestFilter,
  SandboxSummary,
  ScenarioSummary,
  Snapshot,
} from './library/replies.ts';
export type {
  RuleDefinition,
  Scalar,
  ScenarioDefinition,
  SetAndRemove,
} from './library/scenario-definition.ts';
export { startPetstoreMock } from './library/start-mock.ts';
export type { MockOptions } from './mock.ts';
export type { SandboxLimits } from './sandbox/sandboxes.ts';
export type { Fault } from './scenario/fault-table.ts';
export type { StartSettings } from './scenario/sandbox-start.ts';
export { ScenarioError } from './scenario/scenario.ts';
export type { StoreChoice } from './scenario/starter.ts';
export { type RunningServer, type ServerOptions, startServer } from './server.ts';
export type { Expiry, KeyLists } from './service/keyring.ts';
export type { Basis } from './service/reply.ts';
export { FixtureError } from './store/fixture/parse-fixture.ts';

export interface AppOptions extends StartSettings, MockOptions {
  /** The name of a fixture that the package ships, or the path of one. */
  readonly fixture?: string | undefined;
  /** What the control API asks for; without one it is for callers by a loopback name only. */
  readonly controlToken?: string | undefined;
}

/**
 * The whole mock as an Express app, for supertest or to be mounted in another Express app. What an
 * embedding app does before it applies to the service too. Scenarios are chosen through its control
 * API, or by single requests.
 *
 * @throws FixtureError where the fixture is broken
 * @example
 * await request(createApp()).get('/v1/pets').set('Authorization', 'Bearer demo-key').expect(200);
 */
export function createApp(options: AppOptions = {}): RequestListener {
  const store = loadFixtureSync(options.fixture ?? 'default');
  const { service, control } = assembleMock(
    {
      start: startOf(options, store, []),
      starter: starterFrom(options, () => store),
      guard: { loopback: options.controlToken === undefined, token: options.controlToken },
    },
    options,
  );
  return createExpressApp(express, service, control);
}

/// <reference types="node" preserve="true" />
import type { RequestListener } from 'node:http';
import express from 'express';
import { createExpressApp } from './control/app.ts';
import { assembleMock } from './mock.ts';
import type { AppOptions } from './options.ts';
import { checkAppOptions } from './options.ts';
import { createStart } from './scenario/sandbox-start.ts';
import { loadFixtureSync } from './store/fixture.ts';

export {
  type ControlClient,
  ControlError,
  type Route,
} from './client/control-client.ts';
export type { AssumptionId } from './contract/assumption-table.ts';
export type { Int64 } from './contract/json.ts';
export type { OperationId } from './contract/operations.ts';
export type { RecordedExchange } from './control/journal/exchange-text.ts';
export type { EditView } from './control/journal/journal-endpoints.ts';
export type { Alternative, Undone } from './control/journal/time-travel-endpoints.ts';
export type { StoreState } from './control/state/state-endpoints.ts';
export { CertificateError } from './http/tls.ts';
export { type ConnectOptions, connectPetstoreMock, type PetstoreMock } from './library/connect.ts';
export type {
  Animal,
  InventoryEntry,
  MockSandbox,
  Order,
  RecordControl,
  StateChanges,
} from './library/mock-sandbox.ts';
export {
  DroppedExchangesError,
  type Latch,
  type LatchOptions,
  type RequestFilter,
  type RequestHandle,
} from './library/request-control.ts';
export { globalSetup, startPetstoreMock } from './library/start-mock.ts';
export type { AppOptions, ServerOptions } from './options.ts';
export type { FindingsReport } from './sandbox/coverage.ts';
export type { ObservedExchange } from './sandbox/exchange.ts';
export type { CoverageReport, Finding, FindingCode } from './sandbox/report-shapes.ts';
export type { RuleDefinition } from './scenario/rule-shape.ts';
export { ScenarioError } from './scenario/sandbox-start.ts';
export type { ScenarioName } from './scenario/scenario-names.ts';
export type { ScenarioDefinition } from './scenario/scenario-shape.ts';
export { type RunningServer, startServer } from './server.ts';
export { FixtureError } from './store/fixture.ts';

/**
 * The whole mock as an Express app, to use with supertest or to mount in another Express app, whose
 * middleware then applies to the service too. Choose scenarios through the control API or with
 * `Prefer`.
 *
 * @throws FixtureError if the fixture is broken, RangeError for a wrong option
 * @example
 * await request(createApp()).get('/v1/pets').set('Authorization', 'Bearer demo-key').expect(200);
 */
export function createApp(options: AppOptions = {}): RequestListener {
  checkAppOptions(options);
  const store = loadFixtureSync(options.fixture ?? 'default');
  const { service, control } = assembleMock(
    {
      start: createStart(options, store),
      guard: { token: options.controlToken },
    },
    options,
  );
  return createExpressApp(express, service, control);
}

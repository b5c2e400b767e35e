/// <reference types="node" preserve="true" />
import type { RequestListener } from 'node:http';
import express from 'express';
import { createStart } from './core/sandbox/start.ts';
import { FEATURES, type ServerOptions } from './features.ts';
import { loadFixtureSync } from './server/fixtures.ts';
import { createExpressApp } from './server/http/app.ts';
import { assembleMock } from './server/mock.ts';
import { NODE_PLATFORM } from './server/node-platform.ts';
import { guardCallbacks } from './server/observers.ts';
import { type AppOptions, checkAppOptions } from './server/options.ts';
import { requireVersion } from './server/require-version.ts';
import { type RunningServer, startServerWith } from './server/server.ts';

requireVersion('Node.js', process.versions.node);

export {
  type ControlClient,
  ControlError,
  type Route,
} from './client/control-client.ts';
export type {
  Animal,
  InventoryEntry,
  MockSandbox,
  Order,
  RecordControl,
  StateChanges,
} from './client/mock-sandbox.ts';
export {
  DroppedExchangesError,
  type Latch,
  type LatchOptions,
  type RequestFilter,
  type RequestHandle,
} from './client/request-control.ts';
export type { AssumptionId } from './core/contract/assumption-table.ts';
export type { OperationId } from './core/contract/operations.ts';
export type { EditView } from './core/control/journal/journal-endpoints.ts';
export type { RecordedExchange } from './core/control/journal/recorded-exchange.ts';
export type { Alternative, Undone } from './core/control/journal/time-travel-endpoints.ts';
export type { StoreState } from './core/control/store/store-endpoints.ts';
export type { Int64 } from './core/json.ts';
export type { FindingsReport } from './core/sandbox/coverage.ts';
export type { CoverageReport, Finding, FindingCode } from './core/sandbox/report-shapes.ts';
export type { RuleDefinition } from './core/scenario/rule-shape.ts';
export type { ScenarioName } from './core/scenario/scenario-names.ts';
export { ScenarioError } from './core/scenario/scenario-records.ts';
export type { ScenarioDefinition } from './core/scenario/scenario-shape.ts';
export { FixtureError } from './core/store/fixture.ts';
export {
  type ConnectOptions,
  connectPetstoreMock,
  type PetstoreMock,
} from './features/testing/connect.ts';
export { globalSetup, startPetstoreMock } from './features/testing/start-mock.ts';
export type { ServerOptions } from './features.ts';
export { CertificateError } from './server/http/tls.ts';
export type { AppOptions } from './server/options.ts';
export type { RunningServer } from './server/server.ts';

/**
 * The whole mock as an Express app, to use with supertest or to mount in another Express app, whose
 * middleware then applies to the service too. Choose scenarios through the control API or with
 * `Prefer`.
 *
 * @throws FixtureError if the fixture is broken, RangeError for a wrong option
 * @example
 * await request(createApp()).get('/v1/pets').set('Authorization', 'Bearer demo-key').expect(200);
 */
export function createApp(given: AppOptions = {}): RequestListener {
  checkAppOptions(given);
  const options = guardCallbacks(given, NODE_PLATFORM);
  const store = loadFixtureSync(options.fixture ?? 'default');
  const guard = { token: options.controlToken };
  const parts = { start: createStart(options, store), guard };
  return createExpressApp(express, assembleMock(parts, options), FEATURES);
}

/**
 * Starts a server and waits until it answers.
 *
 * @throws FixtureError, ScenarioError, CertificateError if a file cannot be used, RangeError for a wrong option,
 *   and Node's own errors if the port is taken or not permitted
 * @example const { url, close } = await startServer({ port: 0 });
 */
export function startServer(options: ServerOptions = {}): Promise<RunningServer> {
  return startServerWith(FEATURES, options);
}

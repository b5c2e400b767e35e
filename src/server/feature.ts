import type expressModule from 'express';
import type { RequestHandler } from 'express';
import type { AddedHandlers } from '../core/control/added-handlers.ts';
import type { ControlRequest } from '../core/control/endpoint.ts';
import type { AssumptionNote } from '../core/sandbox/report-shapes.ts';
import type { Responder } from '../core/sandbox/sandboxes.ts';
import type { Start } from '../core/sandbox/start.ts';
import type { ScenarioStorage, Storage } from './open-sandboxes.ts';
import type { AddedOptions, BaseOptions } from './options.ts';

/** What can be taken off the mock: the core and the server know it only by what it adds. */
export interface Feature extends AddedOptions, AddedHandlers {
  /** What it knows of assumptions, by id. */
  noteAssumptions?(options: BaseOptions): ReadonlyMap<string, AssumptionNote> | undefined;
  /** What answers in place of the service, if the options ask for it. */
  openResponder?(options: BaseOptions): Promise<OpenedResponder | undefined>;
  /** Keeps sandboxes elsewhere than in memory, if the options ask for it. */
  openStorage?(options: BaseOptions, context: StorageContext): Promise<Storage | undefined>;
  /** Keeps the own scenarios of the default sandbox, if the options ask for it. */
  openScenarios?(options: BaseOptions): Promise<ScenarioStorage | undefined>;
  /** @internal */
  readonly pages?: Pages;
}

export interface OpenedResponder {
  readonly responder: Responder;
  readonly close: () => void;
}

export interface StorageContext {
  readonly start: Start;
  /** What all servers must have in common that share its sandboxes. */
  readonly agreed: unknown;
}

/**
 * Pages below the mount of a control API.
 *
 * @internal
 */
export interface Pages {
  /** By name; browsers are sent to the first. */
  readonly paths: Readonly<Record<string, string>>;
  readonly create: CreatePages;
}

/**
 * Makes what answers a request for a page, and returns whether it is for one.
 *
 * @internal
 */
export type CreatePages = (
  express: typeof expressModule,
) => (call: ControlRequest, ...exchange: Parameters<RequestHandler>) => boolean;

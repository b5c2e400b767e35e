import type expressModule from 'express';
import type { RequestHandler } from 'express';
import type { AddedHandlers } from '../core/control/added-handlers.ts';
import type { ControlRequest } from '../core/control/endpoint.ts';
import type { AssumptionNote } from '../core/sandbox/report-shapes.ts';
import type { Responder } from '../core/sandbox/sandboxes.ts';
import type { Start } from '../core/sandbox/start.ts';
import type { ScenarioStorage, Storage } from './open-sandboxes.ts';
import type { AddedOptions, BaseOptions } from './options.ts';

/** A removable part of the mock. The core and the server know it only by what it adds here. */
export interface Feature extends AddedOptions, AddedHandlers {
  /** Notes about assumptions, by id, to show beside them. */
  noteAssumptions?(options: BaseOptions): ReadonlyMap<string, AssumptionNote> | undefined;
  /** Opens a responder that answers in place of the operations, if the options ask for one. */
  openResponder?(options: BaseOptions): Promise<OpenedResponder | undefined>;
  /** Opens a storage for sandboxes other than memory, if the options ask for one. */
  openStorage?(options: BaseOptions, context: StorageContext): Promise<Storage | undefined>;
  /** Opens a storage for own scenarios of the default sandbox, if the options ask for one. */
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
  /** Settings that servers must have in common to share sandboxes. */
  readonly agreed: unknown;
}

/**
 * Pages below `/__mock`.
 *
 * @internal
 */
export interface Pages {
  /** The paths of the pages by name. `/` redirects browsers to the first. */
  readonly paths: Readonly<Record<string, string>>;
  readonly create: CreatePages;
}

/**
 * Creates a function that answers requests for pages, and returns whether the request was one.
 *
 * @internal
 */
export type CreatePages = (
  express: typeof expressModule,
) => (call: ControlRequest, ...exchange: Parameters<RequestHandler>) => boolean;

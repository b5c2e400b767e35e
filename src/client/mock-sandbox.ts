import type { Choices } from '../core/contract/assumption-table.ts';
import type { CollectionName } from '../core/contract/records.ts';
import { formatServiceUrl } from '../core/contract/target.ts';
import type { StoreState } from '../core/control/store/store-endpoints.ts';
import type { Int64 } from '../core/json.ts';
import type { FindingsReport } from '../core/sandbox/coverage.ts';
import type { CoverageReport } from '../core/sandbox/report-shapes.ts';
import type { ResetPart } from '../core/sandbox/state.ts';
import type { RuleDefinition } from '../core/scenario/rule-shape.ts';
import type { ScenarioName } from '../core/scenario/scenario-names.ts';
import type { ScenarioDefinition } from '../core/scenario/scenario-shape.ts';
import type { BodyOf, ControlClient, QueryOf, ReplyOf } from './control-client.ts';
import {
  createLatch,
  createRequestControl,
  type Latch,
  type LatchOptions,
  type RequestControl,
} from './request-control.ts';

/** The name of a shipped scenario, or of one that the sandbox knows. */
type AnyScenarioName = ScenarioName | (string & Record<never, never>);

/** One sandbox of a server: where a client finds it, and its control API. */
export interface MockSandbox extends Readonly<ReturnType<typeof createSandbox>> {}

/** How to set a clock. Members left out do not change. */
interface ClockInput extends Omit<BodyOf<'PUT /clock'>, 'now'> {
  readonly now?: string | Date | undefined;
}

/** @param root the server's address, or where it is mounted */
export function createSandbox(root: string, client: ControlClient, name: string, key: string) {
  const control = client.sandbox(name);
  const requests: RequestControl = createRequestControl(control);
  return {
    name,
    /** The service's base URL, for the client that is tested. */
    url: formatServiceUrl({ root, sandbox: name }),
    /** An API key that the sandbox accepts. */
    key,
    controlUrl: control.url,
    /**
     * The client of the control API, which has every endpoint. Calls are checked at compile time.
     *
     * @example await mock.control.call('PUT /clock', { body: { frozen: true } });
     */
    control,
    /** The whole store. */
    state: {
      get: () => control.call('GET /state'),
      /** Replaces it. Collections left out become empty. */
      put: (body: Partial<StoreState>) => control.call('PUT /state', { body }),
      /** Merges records into it by id. */
      patch: (body: StateChanges) => control.call('PATCH /state', { body }),
    },
    animals: createRecordControl(control, 'animals'),
    inventory: createRecordControl(control, 'inventory'),
    orders: createRecordControl(control, 'orders'),
    snapshots: {
      list: () => control.call('GET /snapshots'),
      create: (snapshot: string) => control.call('POST /snapshots', { body: { name: snapshot } }),
      restore: (snapshot: string) =>
        control.call('POST /snapshots/{name}/restore', { path: { name: snapshot } }),
      delete: (snapshot: string) =>
        control.call('DELETE /snapshots/{name}', { path: { name: snapshot } }),
    },
    scenario: {
      get: async () => (await control.call('GET /scenario')).scenarios,
      /** Replaces the active scenarios: names, and at most one definition. Without arguments, removes all. */
      use: async (...scenarios: readonly (AnyScenarioName | ScenarioDefinition)[]) => {
        const names = scenarios.filter((given) => typeof given === 'string');
        const [scenario, ...others] = scenarios.filter((given) => typeof given !== 'string');
        if (others.length > 0) throw new TypeError('scenario.use() takes at most one definition');
        const body = { scenarios: names, scenario };
        return (await control.call('PUT /scenario', { body })).scenarios;
      },
    },
    /** The sandbox's own scenarios, under names of their own. */
    scenarios: {
      /** All that can be named: also those that ship, were started with, or are active. */
      list: () => control.call('GET /scenarios'),
      /**
       * Saves one, and replaces one of that name. An active one stays as it was activated.
       *
       * @param definition an object, or text in YAML
       */
      save: (scenario: string, definition: ScenarioDefinition | string) =>
        control.call('PUT /scenarios/{name}', { path: { name: scenario }, body: definition }),
      /** The text of one, also of one that ships. */
      text: (scenario: string) =>
        control.text('GET /scenarios/{name}', { path: { name: scenario } }),
      delete: (scenario: string) =>
        control.call('DELETE /scenarios/{name}', { path: { name: scenario } }),
    },
    assumptions: () => control.call('GET /assumptions'),
    /** Selects other options: all of these, or none if one is wrong. */
    assume: (options: Partial<Choices>) => control.call('PATCH /assumptions', { body: options }),
    clock: {
      get: () => control.call('GET /clock'),
      set: ({ now, ...setting }: ClockInput) =>
        control.call('PUT /clock', { body: { ...setting, now: formatInstant(now) } }),
      /** Moves it by an ISO 8601 duration such as `P30D` or `-P30D`. */
      advance: (by: string) => control.call('POST /clock/advance', { body: { by } }),
      /** Stops it, at this instant if given. */
      freeze: (now?: string | Date) =>
        control.call('PUT /clock', { body: { now: formatInstant(now), frozen: true } }),
    },
    requests,
    /**
     * Holds the replies of an operation back until the test releases them, or the sandbox ends.
     *
     * @example
     * const latch = await mock.hold('listPets', { where: { status: 'sold' } });
     * await latch.arrived();
     * await latch.release();
     */
    hold: (on: RuleDefinition['on'], options: LatchOptions = {}): Promise<Latch> =>
      createLatch(control, on, options),
    /** The replies that are held back, the oldest first. */
    holds: () => control.call('GET /holds'),
    /** Which replies clients were shown in this sandbox, or in all of them. */
    coverage: (query?: QueryOf<'GET /coverage'>): Promise<CoverageReport> =>
      control.call('GET /coverage', { query }),
    /** What clients did in this sandbox, or in all of them, that they should not do. */
    findings: (query?: QueryOf<'GET /findings'>): Promise<FindingsReport> =>
      control.call('GET /findings', { query }),
    /** Takes back the latest change by the control API, and the calls after it. The journal stays. */
    undo: () => control.call('POST /undo'),
    /**
     * Returns the sandbox to its start, except for what `keep` names; by default `own-scenarios`.
     * `journal` includes coverage and findings.
     */
    reset: (options?: { readonly keep?: readonly ResetPart[] | undefined }) =>
      control.call('POST /reset', { body: options }),
  };
}

function formatInstant(now: string | Date | undefined): string | undefined {
  return now instanceof Date ? now.toISOString() : now;
}

/** An animal of the store. */
export type Animal = ReplyOf<'GET /animals/{id}'>;
/** An inventory entry of the store. */
export type InventoryEntry = ReplyOf<'GET /inventory/{id}'>;
/** An order as the store keeps it, with its state, which the service does not show. */
export type Order = ReplyOf<'GET /orders/{id}'>;

/** Changes of a store. Fields that a record leaves out stay; a new record must be complete. */
export type StateChanges = BodyOf<'PATCH /state'>;

/** The records of one collection. */
export interface RecordControl<Name extends CollectionName> {
  list(query?: QueryOf<`GET /${Name}`>): Promise<ReplyOf<`GET /${Name}`>>;
  /** How many records match. */
  count(query?: QueryOf<`GET /${Name}`>): Promise<number>;
  get(id: Int64): Promise<ReplyOf<`GET /${Name}/{id}`>>;
  /** Adds a record. */
  create(record: BodyOf<`POST /${Name}`>): Promise<ReplyOf<`POST /${Name}`>>;
  /** Replaces or adds a record. */
  put(id: Int64, record: BodyOf<`PUT /${Name}/{id}`>): Promise<ReplyOf<`PUT /${Name}/{id}`>>;
  /** Changes fields of a record; null removes an optional one. */
  patch(id: Int64, changes: BodyOf<`PATCH /${Name}/{id}`>): Promise<ReplyOf<`PATCH /${Name}/{id}`>>;
  delete(id: Int64): Promise<void>;
}

/** What is written for animals holds for each collection. */
function createRecordControl<Name extends CollectionName>(
  control: ControlClient,
  name: Name,
): RecordControl<Name>;
function createRecordControl(control: ControlClient, name: 'animals'): RecordControl<'animals'> {
  return {
    list: (query) => control.call(`GET /${name}`, { query }),
    count: async (query) => {
      const { headers } = await control.send(`GET /${name}`, { query: { ...query, _limit: 0 } });
      return Number(headers.get('X-Total-Count'));
    },
    get: (id) => control.call(`GET /${name}/{id}`, { path: { id } }),
    create: (body) => control.call(`POST /${name}`, { body }),
    put: (id, body) => control.call(`PUT /${name}/{id}`, { path: { id }, body }),
    patch: (id, body) => control.call(`PATCH /${name}/{id}`, { path: { id }, body }),
    delete: (id) => control.call(`DELETE /${name}/{id}`, { path: { id } }),
  };
}

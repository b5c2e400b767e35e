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

/** The name of a shipped scenario, or of another that the sandbox knows. */
type AnyScenarioName = ScenarioName | (string & Record<never, never>);

/** A sandbox of a server: its base URL, a key, and methods that call its control API. */
export interface MockSandbox extends Readonly<ReturnType<typeof createSandbox>> {}

/** How to set a clock. Members that are left out do not change. */
interface ClockInput extends Omit<BodyOf<'PUT /clock'>, 'now'> {
  readonly now?: string | Date | undefined;
}

/** @param root the server's base URL, or where the mock is mounted */
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
      /** Replaces the whole store. Collections that are left out become empty. */
      put: (body: Partial<StoreState>) => control.call('PUT /state', { body }),
      /** Merges records into the store by id. */
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
      /** Replaces the active scenarios by names and at most one definition, or by none. */
      use: async (...scenarios: readonly (AnyScenarioName | ScenarioDefinition)[]) => {
        const names = scenarios.filter((given) => typeof given === 'string');
        const [scenario, ...others] = scenarios.filter((given) => typeof given !== 'string');
        if (others.length > 0) throw new TypeError('scenario.use() takes at most one definition');
        const body = { scenarios: names, scenario };
        return (await control.call('PUT /scenario', { body })).scenarios;
      },
    },
    /** The scenarios that the sandbox has saved under names of its own. */
    scenarios: {
      /** All scenarios that can be used: shipped, own, active, and those of the start. */
      list: () => control.call('GET /scenarios'),
      /**
       * Saves a scenario under a name. If it is active, the earlier version stays active.
       *
       * @param definition an object, or YAML as text
       */
      save: (scenario: string, definition: ScenarioDefinition | string) =>
        control.call('PUT /scenarios/{name}', { path: { name: scenario }, body: definition }),
      /** The text of an own or shipped scenario. */
      text: (scenario: string) =>
        control.text('GET /scenarios/{name}', { path: { name: scenario } }),
      delete: (scenario: string) =>
        control.call('DELETE /scenarios/{name}', { path: { name: scenario } }),
    },
    assumptions: () => control.call('GET /assumptions'),
    /** Chooses options of assumptions: all of the given ones, or none if one is invalid. */
    assume: (options: Partial<Choices>) => control.call('PATCH /assumptions', { body: options }),
    clock: {
      get: () => control.call('GET /clock'),
      set: ({ now, ...setting }: ClockInput) =>
        control.call('PUT /clock', { body: { ...setting, now: formatInstant(now) } }),
      /** Moves the clock by an ISO 8601 duration such as `P30D` or `-P30D`. */
      advance: (by: string) => control.call('POST /clock/advance', { body: { by } }),
      /** Stops the clock, at the given instant if there is one. */
      freeze: (now?: string | Date) =>
        control.call('PUT /clock', { body: { now: formatInstant(now), frozen: true } }),
    },
    requests,
    /**
     * Holds the replies of an operation until the test releases them or the sandbox is deleted.
     *
     * @example
     * const latch = await mock.hold('listPets', { where: { status: 'sold' } });
     * await latch.arrived();
     * await latch.release();
     */
    hold: (on: RuleDefinition['on'], options: LatchOptions = {}): Promise<Latch> =>
      createLatch(control, on, options),
    /** The replies that are held now, the oldest first. */
    holds: () => control.call('GET /holds'),
    /** The replies that clients were shown in this sandbox, or in all sandboxes. */
    coverage: (query?: QueryOf<'GET /coverage'>): Promise<CoverageReport> =>
      control.call('GET /coverage', { query }),
    /** What clients did here, or in all sandboxes, that they should not do. */
    findings: (query?: QueryOf<'GET /findings'>): Promise<FindingsReport> =>
      control.call('GET /findings', { query }),
    /** Undoes the latest change through the control API and later calls. The journal stays. */
    undo: () => control.call('POST /undo'),
    /**
     * Resets the sandbox to its start, except for what `keep` names (`own-scenarios` by default).
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
/** An order in the store, with its status, which the service does not show. */
export type Order = ReplyOf<'GET /orders/{id}'>;

/** Changes of a store. Fields that are left out stay as they are; a new record must be complete. */
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

/** Written for animals; the routes of the other collections only have other names. */
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

import type { Choices } from '../contract/assumption-table.ts';
import { BASE_PATH } from '../contract/operations.ts';
import type {
  ActiveScenario,
  AssumptionState,
  ClockState,
  RecordedExchange,
  RequestCount,
  ScenarioSummary,
  Snapshot,
} from '../control/control-shapes.ts';
import type { CoverageReport } from '../evidence/coverage.ts';
import type { FindingsReport } from '../evidence/findings.ts';
import type { ExchangeFilter } from '../evidence/journal.ts';
import type { Kept } from '../sandbox/sandbox.ts';
import type { ScenarioName } from '../scenario/scenario-names.ts';
import { type ControlClient, queryOf } from './control-client.ts';
import { type RecordControl, recordControl } from './record-control.ts';
import type { Animal, InventoryEntry, Order, StateChanges, StoreState } from './record-types.ts';
import type { ScenarioDefinition } from './scenario-definition.ts';

/** One sandbox of a server: where a client finds it, and its control API. */
export interface MockSandbox {
  readonly name: string;
  /** The service's base URL, for the client that is tested. */
  readonly url: string;
  /** An API key that works as it is. */
  readonly key: string;
  readonly controlUrl: string;
  /** The whole store. */
  readonly state: {
    get(): Promise<StoreState>;
    /** Replaces it; collections that are left out become empty. */
    put(state: Partial<StoreState>): Promise<StoreState>;
    /** Merges records into it by id. */
    patch(changes: StateChanges): Promise<StoreState>;
  };
  readonly animals: RecordControl<Animal, 'id', 'id'>;
  readonly inventory: RecordControl<InventoryEntry, 'petId'>;
  readonly orders: RecordControl<Order, 'id', 'id'>;
  readonly snapshots: {
    list(): Promise<readonly Snapshot[]>;
    create(name: string): Promise<Snapshot>;
    restore(name: string): Promise<void>;
    delete(name: string): Promise<void>;
  };
  readonly scenario: {
    get(): Promise<readonly ActiveScenario[]>;
    /** The scenarios that ship. */
    list(): Promise<readonly ScenarioSummary[]>;
    /** Replaces the active scenarios by names and at most one definition; without any, by none. */
    use(
      ...scenarios: readonly (ScenarioName | ScenarioDefinition)[]
    ): Promise<readonly ActiveScenario[]>;
  };
  assumptions(): Promise<readonly AssumptionState[]>;
  /** Selects other options: all of these, or none if one is wrong. */
  assume(options: Partial<Choices>): Promise<readonly AssumptionState[]>;
  readonly clock: {
    get(): Promise<ClockState>;
    set(setting: ClockSetting): Promise<ClockState>;
    /** Moves it by an ISO 8601 duration such as `P30D`, or back by `-P30D`. */
    advance(by: string): Promise<ClockState>;
    /** Stops it, at an instant if given. */
    freeze(now?: string | Date): Promise<ClockState>;
  };
  readonly requests: {
    /** The exchanges in the journal, the newest last. */
    list(
      filter?: RequestFilter & { readonly limit?: number | undefined },
    ): Promise<readonly RecordedExchange[]>;
    /**
     * How many exchanges match.
     *
     * @throws Error if the journal has dropped exchanges that may match
     */
    count(filter?: RequestFilter): Promise<number>;
    clear(): Promise<void>;
  };
  /** Which replies of the service the client was shown here. */
  coverage(): Promise<CoverageReport>;
  /** What the client did that it should not do with the real service. */
  findings(): Promise<FindingsReport>;
  /** Puts the sandbox back to how it started, except for what `keep` names. */
  reset(options?: ResetOptions): Promise<void>;
}

interface ResetOptions {
  /** What stays as it is; `journal` includes coverage and findings. */
  readonly keep?: readonly Kept[] | undefined;
}

/** Which exchanges are meant: every member given must hold. */
export interface RequestFilter extends Omit<ExchangeFilter, 'from' | 'to'> {
  /** RFC 3339 instants of the sandbox's clock. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** How to set a clock; what is left out stays. */
interface ClockSetting {
  readonly now?: string | Date | undefined;
  readonly frozen?: boolean | undefined;
  /** Back to the time of the server's machine. */
  readonly real?: boolean | undefined;
}

/**
 * @param root the server's address, or where it is mounted
 * @param client of the control API at `root`
 */
export function sandboxAt(
  root: string,
  client: ControlClient,
  name: string,
  key: string,
): MockSandbox {
  const base = name === 'default' ? root : `${root}/~${name}`;
  const control = client.at(`${base}/__mock`);
  return {
    name,
    url: base + BASE_PATH,
    key,
    controlUrl: control.url,
    state: {
      get: () => control.call('GET', '/state'),
      put: (state) => control.call('PUT', '/state', state),
      patch: (changes) => control.call('PATCH', '/state', changes),
    },
    animals: recordControl(control, '/animals'),
    inventory: recordControl(control, '/inventory'),
    orders: recordControl(control, '/orders'),
    snapshots: {
      list: () => control.call('GET', '/snapshots'),
      create: (snapshot) => control.call('POST', '/snapshots', { name: snapshot }),
      restore: (snapshot) =>
        control.call('POST', `/snapshots/${encodeURIComponent(snapshot)}/restore`),
      delete: (snapshot) => control.call('DELETE', `/snapshots/${encodeURIComponent(snapshot)}`),
    },
    scenario: scenarioControl(control),
    assumptions: () => control.call('GET', '/assumptions'),
    assume: (options) => control.call('PATCH', '/assumptions', options),
    clock: {
      get: () => control.call('GET', '/clock'),
      set: ({ now, ...setting }) =>
        control.call('PUT', '/clock', { ...setting, now: instantOf(now) }),
      advance: (by) => control.call('POST', '/clock/advance', { by }),
      freeze: (now) => control.call('PUT', '/clock', { now: instantOf(now), frozen: true }),
    },
    requests: {
      list: async (filter = {}) =>
        (
          await control.call<{ exchanges: readonly RecordedExchange[] }>(
            'GET',
            `/requests${queryOf(filter)}`,
          )
        ).exchanges,
      count: (filter = {}) => countRequests(control, filter),
      clear: () => control.call('DELETE', '/requests'),
    },
    coverage: () => control.call('GET', '/coverage'),
    findings: () => control.call('GET', '/findings'),
    reset: (options) => control.call('POST', '/reset', options),
  };
}

async function countRequests(control: ControlClient, filter: RequestFilter): Promise<number> {
  const { count, complete } = await control.call<RequestCount>('POST', '/requests/count', filter);
  if (complete) return count;
  throw new Error(
    `at least ${count} requests match, but the journal has dropped others that may: start the server with a larger journal, or filter by a later \`from\``,
  );
}

function scenarioControl(control: ControlClient): MockSandbox['scenario'] {
  type Active = { readonly scenarios: readonly ActiveScenario[] };
  return {
    get: async () => (await control.call<Active>('GET', '/scenario')).scenarios,
    list: () => control.call('GET', '/scenarios'),
    use: async (...scenarios) => {
      const names = scenarios.filter((it) => typeof it === 'string');
      const [written, ...others] = scenarios.filter((it) => typeof it !== 'string');
      if (others.length > 0) throw new TypeError('scenario.use() takes at most one definition');
      const body = { scenarios: names, ...(written !== undefined && { scenario: written }) };
      return (await control.call<Active>('PUT', '/scenario', body)).scenarios;
    },
  };
}

function instantOf(now: string | Date | undefined): string | undefined {
  return now instanceof Date ? now.toISOString() : now;
}

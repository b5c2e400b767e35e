import type { Choices } from '../contract/assumption-table.ts';
import { BASE_PATH } from '../contract/operations.ts';
import type {
  ActiveScenarios,
  AssumptionState,
  ClockState,
  ScenarioSummary,
  Snapshot,
  UpstreamState,
} from '../control/control-shapes.ts';
import type { HeldReply } from '../control/journal/hold-endpoints.ts';
import type { Undone } from '../control/journal/time-travel-endpoints.ts';
import { addressOf } from '../http/target.ts';
import type { FindingsReport } from '../sandbox/findings.ts';
import type { CoverageReport } from '../sandbox/report-shapes.ts';
import type { ResetPart } from '../sandbox/state.ts';
import { type ControlClient, searchOf } from './control-client.ts';
import {
  type Animal,
  type InventoryEntry,
  type Order,
  recordControl,
  type StateChanges,
  type StoreState,
} from './record-control.ts';
import { type Latch, type LatchOptions, requestControl, setLatch } from './request-control.ts';
import type { AnyScenarioName, RuleDefinition, ScenarioDefinition } from './scenario-definition.ts';

/** One sandbox of a server: where a client finds it, and its control API. */
export type MockSandbox = Readonly<ReturnType<typeof sandboxAt>>;

/** The scope of a report. */
interface ReportScope {
  /** All sandboxes of the server, including those reset or deleted since. */
  readonly all?: boolean | undefined;
}

/** How to set a clock. Members left out do not change. */
interface ClockSetting {
  readonly now?: string | Date | undefined;
  readonly frozen?: boolean | undefined;
  /** Returns to the time of the server's machine. */
  readonly real?: boolean | undefined;
}

/** A deployment that is to answer. */
interface UpstreamSetting {
  /** Its base URL. */
  readonly url: string;
  /** Sent to it in place of the client's key. */
  readonly key?: string | undefined;
  /** Agrees to send requests to another machine. */
  readonly yes?: boolean | undefined;
}

/**
 * @param root the server's address, or where it is mounted
 * @param client of the control API at `root`
 */
export function sandboxAt(root: string, client: ControlClient, name: string, key: string) {
  const base = addressOf({ root, sandbox: name });
  const control = client.at(`${base}/__mock`);
  const listScenarios = () => control.call<readonly ScenarioSummary[]>('GET', '/scenarios');
  return {
    name,
    /** The service's base URL, for the client that is tested. */
    url: base + BASE_PATH,
    /** An API key that the sandbox accepts. */
    key,
    controlUrl: control.url,
    /** The whole store. */
    state: {
      get: () => control.call<StoreState>('GET', '/state'),
      /** Replaces it. Collections left out become empty. */
      put: (state: Partial<StoreState>) => control.call<StoreState>('PUT', '/state', state),
      /** Merges records into it by id. */
      patch: (changes: StateChanges) => control.call<StoreState>('PATCH', '/state', changes),
    },
    animals: recordControl<Animal, 'id', 'id'>(control, '/animals'),
    inventory: recordControl<InventoryEntry, 'petId'>(control, '/inventory'),
    orders: recordControl<Order, 'id', 'id'>(control, '/orders'),
    snapshots: {
      list: () => control.call<readonly Snapshot[]>('GET', '/snapshots'),
      create: (snapshot: string) =>
        control.call<Snapshot>('POST', '/snapshots', { name: snapshot }),
      restore: (snapshot: string) =>
        control.call<void>('POST', `${inPath('snapshots', snapshot)}/restore`),
      delete: (snapshot: string) => control.call<void>('DELETE', inPath('snapshots', snapshot)),
    },
    scenario: {
      get: async () => (await control.call<ActiveScenarios>('GET', '/scenario')).scenarios,
      /** As `scenarios.list`. */
      list: listScenarios,
      /** Replaces the active scenarios: names, and at most one definition. Without arguments, removes all. */
      use: async (...scenarios: readonly (AnyScenarioName | ScenarioDefinition)[]) => {
        const names = scenarios.filter((it) => typeof it === 'string');
        const [scenario, ...others] = scenarios.filter((it) => typeof it !== 'string');
        if (others.length > 0) throw new TypeError('scenario.use() takes at most one definition');
        const body = { scenarios: names, scenario };
        return (await control.call<ActiveScenarios>('PUT', '/scenario', body)).scenarios;
      },
    },
    /** The sandbox's own scenarios, under names of their own. */
    scenarios: {
      /** All that can be named: also those that ship, were started with, or are active. */
      list: listScenarios,
      /**
       * Saves one, and replaces one of that name. An active one stays as it was activated.
       *
       * @param definition an object, or text in YAML
       */
      save: (scenario: string, definition: ScenarioDefinition | string) => {
        const text = typeof definition === 'string';
        const body = text ? new Blob([definition], { type: 'application/yaml' }) : definition;
        return control.call<ScenarioSummary>('PUT', inPath('scenarios', scenario), body);
      },
      /** The text of one, also of one that ships. */
      text: (scenario: string) => control.text(inPath('scenarios', scenario)),
      delete: (scenario: string) => control.call<void>('DELETE', inPath('scenarios', scenario)),
    },
    assumptions: () => control.call<readonly AssumptionState[]>('GET', '/assumptions'),
    /** Selects other options: all of these, or none if one is wrong. */
    assume: (options: Partial<Choices>) =>
      control.call<readonly AssumptionState[]>('PATCH', '/assumptions', options),
    clock: {
      get: () => control.call<ClockState>('GET', '/clock'),
      set: ({ now, ...setting }: ClockSetting) =>
        control.call<ClockState>('PUT', '/clock', { ...setting, now: instantOf(now) }),
      /** Moves it by an ISO 8601 duration such as `P30D` or `-P30D`. */
      advance: (by: string) => control.call<ClockState>('POST', '/clock/advance', { by }),
      /** Stops it, at this instant if given. */
      freeze: (now?: string | Date) =>
        control.call<ClockState>('PUT', '/clock', { now: instantOf(now), frozen: true }),
    },
    /** The deployment that answers in place of the mock. */
    upstream: {
      get: () => control.call<UpstreamState>('GET', '/upstream'),
      set: (setting: UpstreamSetting) => control.call<UpstreamState>('PUT', '/upstream', setting),
      /** Lets the mock answer again. */
      remove: () => control.call<void>('DELETE', '/upstream'),
    },
    requests: requestControl(control),
    /**
     * Holds the replies of an operation back until the test releases them, or the sandbox ends.
     *
     * @example
     * const latch = await mock.hold('listPets', { where: { status: 'sold' } });
     * await latch.arrived();
     * await latch.release();
     */
    hold: (on: RuleDefinition['on'], options: LatchOptions = {}): Promise<Latch> =>
      setLatch(control, on, options),
    /** The replies that are held back, the oldest first. */
    holds: () => control.call<readonly HeldReply[]>('GET', '/holds'),
    /** Which replies clients were shown in this sandbox, or in all of them. */
    coverage: (scope: ReportScope = {}) =>
      control.call<CoverageReport>('GET', `/coverage${searchOf(scope)}`),
    /** What clients did in this sandbox, or in all of them, that they should not do. */
    findings: (scope: ReportScope = {}) =>
      control.call<FindingsReport>('GET', `/findings${searchOf(scope)}`),
    /** Takes back the latest change by the control API, and the calls after it. The journal stays. */
    undo: () => control.call<Undone>('POST', '/undo'),
    /**
     * Returns the sandbox to its start, except for what `keep` names; by default `own-scenarios`.
     * `journal` includes coverage and findings.
     */
    reset: (options?: { readonly keep?: readonly ResetPart[] | undefined }) =>
      control.call<void>('POST', '/reset', options),
  };
}

function instantOf(now: string | Date | undefined): string | undefined {
  return now instanceof Date ? now.toISOString() : now;
}

function inPath(collection: string, name: string): string {
  return `/${collection}/${encodeURIComponent(name)}`;
}

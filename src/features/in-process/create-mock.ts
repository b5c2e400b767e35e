import { ControlClient } from '../../client/control-client.ts';
import { type ControlledMock, createControlledMock } from '../../client/controlled-mock.ts';
import { formatControlUrl } from '../../core/contract/target.ts';
import { listEndpoints } from '../../core/control/control-api.ts';
import { DEFAULT_SANDBOX, DEFAULTS } from '../../core/limits.ts';
import { type Platform, WEB_PLATFORM } from '../../core/platform.ts';
import { createStart } from '../../core/sandbox/start.ts';
import { loadBases } from '../../core/scenario/scenario-records.ts';
import { findWorkingKey } from '../../core/service/keyring.ts';
import { guardCallbacks } from '../../server/observers.ts';
import { openSandboxes } from '../../server/open-sandboxes.ts';
import { dispatchFetch } from './dispatch-fetch.ts';
import { type CreateMockOptions, readOptions } from './options.ts';
import { BUNDLED_HANDLERS, bundledVersion, shippedText } from './shipped-files.ts';

const PLATFORM: Platform = { ...WEB_PLATFORM, shippedText };

/** A host that no DNS resolves, so that a request past the mock reaches nobody. */
const ADDRESS = { root: 'http://petstore-mock.test', sandbox: DEFAULT_SANDBOX };

/** A mock in this process. It controls its default sandbox. */
export interface Mock extends ControlledMock, AsyncDisposable {
  /**
   * Answers requests for the service and the control API, whatever their host. Rejects like `fetch`
   * on a broken connection, and when its signal aborts.
   */
  fetch(this: void, input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Releases held replies and ends the streams. */
  stop(this: void): Promise<void>;
}

/**
 * Creates a mock that answers `fetch` in this process, without a port.
 *
 * @throws RangeError for a wrong option, FixtureError or ScenarioError for an invalid one
 * @example
 * const mock = createMock({ scenarios: ['shipped-orders'] });
 * const headers = { Authorization: `Bearer ${mock.key}` };
 * const reply = await mock.fetch(`${mock.url}/pets`, { headers });
 */
export function createMock(given: CreateMockOptions = {}): Mock {
  const options = guardCallbacks(given, PLATFORM);
  const opening = open(options, readOptions(options, PLATFORM));
  // Every call reports this error, so it is no unhandled rejection.
  opening.catch(() => {});
  const fetch: Mock['fetch'] = async (input, init) => {
    const { service, control } = await opening;
    return dispatchFetch(new Request(input, init), service, control);
  };
  const stop: Mock['stop'] = async () => {
    const { stopRemoving, service } = await opening;
    stopRemoving?.();
    service.sandboxes.end();
  };
  const client = new ControlClient({ url: formatControlUrl(ADDRESS), fetch });
  const key = findWorkingKey(options.keys ?? {});
  const mock = createControlledMock({ ...ADDRESS, client, key });
  return { ...mock, fetch, stop, [Symbol.asyncDispose]: stop };
}

async function open(
  options: CreateMockOptions,
  { store, generate, scenarios }: ReturnType<typeof readOptions>,
) {
  const { seed = DEFAULTS.seed } = options;
  // Imported late, as it loads the word lists for names of animals.
  const generator = generate && (await import('../../core/store/generate-store.ts'));
  const generated = await generator?.generateStore({ ...generate, seed }, PLATFORM);
  const start = createStart(options, generated ?? store, await loadScenarios(scenarios, seed));
  const platform = PLATFORM;
  const { sandboxes, persistence, stopRemoving } = openSandboxes({ start, platform }, options);
  const control = {
    ...{ sandboxes, persistence, platform },
    endpoints: listEndpoints(BUNDLED_HANDLERS),
    // Only code in this process can call this `fetch`.
    guard: () => undefined,
    version: bundledVersion,
  };
  return { stopRemoving, service: { sandboxes, persistence, platform }, control };
}

async function loadScenarios(given: ReturnType<typeof readOptions>['scenarios'], seed: number) {
  if (given.length === 0) return [];
  // Imported late, as it loads the YAML parser.
  const { resolveScenarios, scenariosByName } = await import(
    '../../core/scenario/resolve-scenarios.ts'
  );
  const objects = given.filter((scenario) => typeof scenario !== 'string');
  const known = new Map(objects.map((scenario) => [scenario.name, scenario]));
  const names = given.map((scenario) => (typeof scenario === 'string' ? scenario : scenario.name));
  return loadBases(resolveScenarios(names, scenariosByName(PLATFORM, known)), PLATFORM, seed);
}

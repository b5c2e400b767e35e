import { ControlError } from '../../client/control-client.ts';
import type { MockSandbox } from '../../client/mock-sandbox.ts';
import { DEFAULT_SANDBOX } from '../../core/limits.ts';
import { createStart } from '../../core/sandbox/start.ts';
import type { Scenario, ScenarioDefinition } from '../../core/scenario/scenario-shape.ts';
import { DEMO_KEY, findWorkingKey, type KeyLists } from '../../core/service/keyring.ts';
import { isShippedFixture } from '../../core/store/fixture.ts';
import { storeText } from '../../core/store/store-text.ts';
import { joinWords } from '../../core/words.ts';
import type { ServerOptions } from '../../features.ts';
import { loadFiles } from '../../server/load-files.ts';
import type { PetstoreMock } from './connect.ts';

type Define = (options: ServerOptions) => ScenarioDefinition;

const generate: Define = ({ animals, orders }) => ({ generate: { animals, orders } });

const setClock: Define = ({ clock, frozen }) => {
  const now = clock === undefined ? undefined : new Date(clock).toISOString();
  return { clock: { now, frozen } };
};

/** The options that a running server's sandbox can take, and how to write each as a scenario. */
const SANDBOX_OPTIONS: Readonly<Record<string, Define>> = {
  scenarios: () => ({}),
  fixture: ({ fixture }) => (isOwnFixture(fixture) ? {} : { fixture }),
  animals: generate,
  orders: generate,
  keys: ({ keys }) => ({ keys: keys && defineKeys(keys) }),
  assume: ({ assume }) => ({ assume }),
  clock: setClock,
  frozen: setClock,
} satisfies { readonly [Name in keyof ServerOptions]?: Define };

function listGiven(options: ServerOptions): readonly string[] {
  return Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : name));
}

/** @throws RangeError for options that only the start of a server can take */
export function refuseServerOptions(options: ServerOptions, url: string): void {
  const given = listGiven(options).filter((name) => !Object.hasOwn(SANDBOX_OPTIONS, name));
  const names = [...given, ...(options.keys?.any ? ['keys.any'] : [])];
  if (names.length === 0) return;
  throw new RangeError(
    `${joinWords(names, 'and')}: the server at ${url} is already running; set this where it starts, in the flags of petstore-mock`,
  );
}

/**
 * Creates a sandbox of a running server: a copy of the one in the server's address, with these
 * options. It is created at once, so that it also records requests with a wrong key.
 *
 * @throws RangeError if there are options and the server shares its sandboxes, which have one start
 */
export async function openSandboxWith(
  server: PetstoreMock,
  options: ServerOptions,
  name?: string,
): Promise<MockSandbox> {
  const names = listGiven(options);
  if (names.length > 0 && (await server.control.call('GET /status')).shared !== undefined) {
    throw new RangeError(
      `${joinWords(names, 'and')}: the server at ${server.url} shares its sandboxes (--shared), which have one start: set this where it starts, in the flags of petstore-mock, or in the test, as with mock.scenario.use()`,
    );
  }
  const sandbox = server.sandbox(name);
  const body = { name: sandbox.name, like: server.name };
  await server.control.sandbox(DEFAULT_SANDBOX).call('POST /sandboxes', { body });
  if (names.length > 0) await applyOptions(sandbox, options);
  return { ...sandbox, key: options.keys === undefined ? server.key : findKey(options) };
}

export function findKey({ keys = {} }: ServerOptions): string {
  return findWorkingKey(keys) ?? DEMO_KEY;
}

/**
 * Sets a sandbox up as if the server had started with the options. The server may run on another
 * machine, so it gets the contents of files.
 */
async function applyOptions(sandbox: MockSandbox, options: ServerOptions): Promise<void> {
  const { fixture } = options;
  const { store, scenarios } = await loadFiles({ scenarios: options.scenarios, fixture });
  const names: string[] = [];
  const definitions = listGiven(options).map((name) => SANDBOX_OPTIONS[name]?.(options));
  const own: ScenarioDefinition = Object.assign({}, ...definitions);
  if (Object.values(own).some((part) => part !== undefined)) {
    // Before the given scenarios, since these win over options.
    await sandbox.scenarios.save(OPTIONS_SCENARIO, own);
    names.push(OPTIONS_SCENARIO);
  }
  for (const scenario of scenarios) names.push(await saveScenario(sandbox, scenario, names));
  if (names.length > 0) await sandbox.scenario.use(...names);
  if ([fixture, ...scenarios.map((scenario) => scenario.fixture)].some(isOwnFixture)) {
    const text = [...storeText(createStart({}, store, scenarios).store)].join('');
    const headers = { 'Content-Type': 'application/json' };
    await sandbox.control.request('PUT /state', { body: text, headers });
  }
  if (names.length > 0 || isOwnFixture(fixture)) await sandbox.control.call('POST /start');
}

const OPTIONS_SCENARIO = 'test-options';

function isOwnFixture(fixture: string | undefined): boolean {
  return fixture !== undefined && !isShippedFixture(fixture);
}

function defineKeys({ valid, readOnly, allReadOnly, invalid, expires = new Map() }: KeyLists) {
  const ends = [...expires].map(([key, end]) => [
    key,
    end.kind === 'at' ? new Date(end.instant).toISOString() : `PT${end.milliseconds / 1000}S`,
  ]);
  return {
    valid,
    readOnly: allReadOnly ? ('all' as const) : readOnly,
    invalid,
    expires: Object.fromEntries(ends),
  };
}

/**
 * Saves a scenario. Those that it extends must have been saved before.
 *
 * @returns its name, with a number if another scenario has the name
 */
async function saveScenario(
  { scenarios }: MockSandbox,
  { name: wanted, file, fixture, definition }: Scenario,
  names: readonly string[],
): Promise<string> {
  // Every server has the shipped scenarios.
  if (file === undefined) return wanted;
  const letters = wanted.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, '-').slice(0, 60);
  const content = { ...Object(definition), extends: undefined };
  if (isOwnFixture(fixture)) content.fixture = undefined;
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? letters : `${letters}-${number}`;
    if (names.includes(name)) continue;
    try {
      await scenarios.save(name, content);
      return name;
    } catch (error) {
      if (!(error instanceof ControlError && error.code === 'already_exists')) throw error;
    }
  }
}

import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { ControlError } from '../../client/control-client.ts';
import { writeJson } from '../../core/contract/json.ts';
import type { RecordedExchange } from '../../core/control/journal/exchange-text.ts';
import { FINDING_CODE_NAMES, type FindingCode } from '../../core/sandbox/report-shapes.ts';
import type { ScenarioDefinition } from '../../core/scenario/scenario-shape.ts';
import type { KeyLists } from '../../core/service/keyring.ts';
import { object, optional } from '../../core/shape/objects.ts';
import { choice, list, readAs } from '../../core/shape/shapes.ts';
import { countText } from '../../core/words.ts';
import { refusalText } from '../../server/option-kinds.ts';
import { checkOptions, type ServerOptions } from '../../server/options.ts';
import { type ConnectOptions, connectPetstoreMock, type PetstoreMock } from './connect.ts';
import type { MockSandbox } from './mock-sandbox.ts';
import {
  findKey,
  findServerOfRun,
  listGivenOptions,
  refuseOptions,
  startPetstoreMock,
} from './start-mock.ts';

export type TestFailure = 'findings' | 'assumed' | FindingCode;

const FAIL_ON = object({
  failOn: optional(list(choice(['findings', 'assumed', ...FINDING_CODE_NAMES])), ''),
});

/** How to start the server of the fixtures, and what its tests may not do. */
export type TestOptions = ServerOptions & {
  /**
   * Fails a test whose client made such calls: `findings` are those with any finding, a code such as
   * `unmatched` those with that one, `assumed` those whose reply rested on an assumption.
   */
  readonly failOn?: readonly TestFailure[] | undefined;
};

export function checkTestOptions({ failOn, ...options }: TestOptions): void {
  checkOptions(options);
  const reading = readAs(FAIL_ON, failOn === undefined ? {} : { failOn });
  if (!reading.ok) throw new RangeError(refusalText(reading.problems, String));
}

export async function openTestMock({ failOn, ...options }: TestOptions): Promise<PetstoreMock> {
  const running = findServerOfRun();
  if (running === undefined) return startPetstoreMock(options);
  refuseServerOptions(options, running);
  return connectPetstoreMock(running);
}

interface RunningTest {
  /** Tests that run in parallel share the output. */
  readonly name: string;
  failed(): boolean;
  attach?(report: string): Promise<void>;
}

export async function withTestSandbox(
  mock: PetstoreMock,
  options: TestOptions,
  test: RunningTest,
  use: (sandbox: MockSandbox) => Promise<void>,
): Promise<void> {
  const sandbox = await openTestSandbox(mock, options, test.name);
  await use(sandbox);
  await closeTestSandbox(mock, sandbox, options, test);
}

/** On a server that others started, the sandbox takes the options itself. */
export async function openTestSandbox(
  mock: PetstoreMock,
  options: TestOptions,
  test: string,
): Promise<MockSandbox> {
  const sandbox = mock.sandbox(createSandboxName(test));
  // Created now, so that it also records requests with a wrong key.
  await sandbox.clock.get();
  if (findServerOfRun() === undefined) return sandbox;
  await applyOptions(sandbox, options);
  return options.keys === undefined ? sandbox : { ...sandbox, key: findKey(options) };
}

/** @throws Error for calls that `failOn` names */
export async function closeTestSandbox(
  mock: PetstoreMock,
  sandbox: MockSandbox,
  { failOn = [] }: TestOptions,
  test: RunningTest,
): Promise<void> {
  const forbidden = failOn.length > 0 ? await listForbidden(sandbox, failOn) : [];
  if (forbidden.length > 0 || test.failed()) {
    const report = await reportExchanges(sandbox, test.name);
    // biome-ignore lint/suspicious/noConsole: the test runner shows this output with its test
    console.error(report);
    await test.attach?.(report);
  }
  await mock.sandboxes.delete(sandbox.name).catch((error: unknown) => {
    // The test may have deleted it.
    if (!(error instanceof ControlError && error.status === 404)) throw error;
  });
  if (forbidden.length > 0) {
    const made = `the client made ${countText(forbidden.length, 'call')} that failOn forbids`;
    throw new Error([`petstore-mock: ${made}:`, ...forbidden].join('\n'));
  }
}

async function listForbidden(
  sandbox: MockSandbox,
  failOn: readonly TestFailure[],
): Promise<string[]> {
  const fails = (kind: TestFailure) => failOn.includes(kind);
  return (await sandbox.requests.list()).flatMap((exchange) => {
    const { basis, by, findings } = exchange;
    const reasons = [
      ...(basis === 'assumed' && fails('assumed') ? [`assumed: ${by.join(', ')}`] : []),
      ...findings.flatMap(({ code, message }) =>
        fails('findings') || fails(code) ? [`${code}: ${message}`] : [],
      ),
    ];
    return reasons.length > 0 ? [formatExchange(exchange), ...reasons.map(indent)].join('\n') : [];
  });
}

const indent = (line: string) => `     ${line}`;

/** Reports name sandboxes, so the name of a sandbox starts with that of its test. */
function createSandboxName(test: string): string {
  const words = test.match(/[a-z0-9]+/gi) ?? [];
  const unique = crypto.randomUUID().slice(0, 13);
  return [words.join('-').slice(0, 50), unique].filter((part) => part !== '').join('-');
}

/** What a sandbox of a running server can take. */
const SANDBOX_OPTIONS: readonly string[] = [
  ...(['scenarios', 'fixture', 'animals', 'orders', 'keys', 'assume', 'clock', 'frozen'] as const),
] satisfies (keyof ServerOptions)[];

function refuseServerOptions(options: ServerOptions, { url }: ConnectOptions): void {
  const given = listGivenOptions(options).filter((name) => !SANDBOX_OPTIONS.includes(name));
  refuseOptions([...given, ...(options.keys?.any ? ['keys.any'] : [])], url);
}

async function applyOptions(
  sandbox: MockSandbox,
  { scenarios = [], fixture, animals, orders, keys, assume, clock, frozen }: TestOptions,
): Promise<void> {
  const isGenerated = animals !== undefined || orders !== undefined;
  const isTimed = clock !== undefined || frozen !== undefined;
  const now = clock === undefined ? undefined : new Date(clock).toISOString();
  const own: ScenarioDefinition = {
    fixture,
    generate: isGenerated ? { animals, orders } : undefined,
    keys: keys && defineKeys(keys),
    assume,
    clock: isTimed ? { now, frozen } : undefined,
  };
  const names = [];
  if (Object.values(own).some((part) => part !== undefined)) {
    // Below the scenarios, which win over the options of a start.
    await sandbox.scenarios.save(OPTIONS_SCENARIO, own);
    names.push(OPTIONS_SCENARIO);
  }
  for (const scenario of scenarios) names.push(await nameScenario(sandbox, scenario));
  if (names.length > 0) await sandbox.scenario.use(...names);
}

const OPTIONS_SCENARIO = 'test-options';

/** The server may be unable to read a file of this machine, so it gets the text. */
async function nameScenario(sandbox: MockSandbox, scenario: string): Promise<string> {
  if (extname(scenario) === '') return scenario;
  const name = basename(scenario, extname(scenario));
  await sandbox.scenarios.save(name, await readFile(scenario, 'utf8'));
  return name;
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

const MAX_SHOWN = 20;

export async function reportExchanges(sandbox: MockSandbox, test: string): Promise<string> {
  const exchanges = await sandbox.requests.list();
  const hidden = Math.max(0, exchanges.length - MAX_SHOWN);
  const lines = exchanges.slice(hidden).flatMap(explainExchange);
  const where = `in sandbox ${sandbox.name} (test "${test}")`;
  if (lines.length === 0) return `petstore-mock got no calls ${where}`;
  const more = hidden > 0 ? [`  (${countText(hidden, 'earlier exchange')} not shown)`] : [];
  return [`petstore-mock ${where}:`, ...more, ...lines].join('\n');
}

export function formatExchange({ number, method, target, status }: RecordedExchange): string {
  return `  ${number}. ${method} ${target} → ${status ?? 'no reply'}`;
}

function explainExchange(exchange: RecordedExchange): string[] {
  const { fault, delay, hold, basis, why, request, reply } = exchange;
  const outcome = [
    formatExchange(exchange),
    ...(fault === undefined ? [] : [`fault ${fault}`]),
    ...(delay > 0 ? [`delayed by ${delay} ms`] : []),
    ...(hold === undefined ? [] : [`${hold.ended ?? 'held'} as ${hold.name}`]),
    basis,
  ];
  return [
    `${outcome.join(', ')}: ${why.join('; ')}`,
    ...formatBody('sent', request.body),
    ...formatBody('got ', reply.body),
  ];
}

function formatBody(label: string, body: unknown): string[] {
  if (body === undefined) return [];
  const text = typeof body === 'object' && body !== null ? writeJson(body) : String(body);
  return [indent(`${label} ${text.length > 400 ? `${text.slice(0, 400)}…` : text}`)];
}

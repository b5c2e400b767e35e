import { ControlError } from '../../client/control-client.ts';
import type { MockSandbox } from '../../client/mock-sandbox.ts';
import {
  listCircumstances,
  type RecordedExchange,
} from '../../core/control/journal/recorded-exchange.ts';
import { writeJson } from '../../core/json.ts';
import { FINDING_CODE_NAMES, type FindingCode } from '../../core/sandbox/report-shapes.ts';
import { checkOptionsOf, inCode } from '../../core/shape/option-kinds.ts';
import { countText, joinWords } from '../../core/words.ts';
import { FEATURES, type ServerOptions } from '../../features.ts';
import { checkOptions } from '../../server/options.ts';
import { FAIL_ON, isFailing } from '../../terminal/fail-on.ts';
import { connectPetstoreMock, type PetstoreMock } from './connect.ts';
import { findServerOfRun, startPetstoreMock } from './start-mock.ts';
import { openSandboxWith, refuseServerOptions } from './test-options.ts';

export type TestFailure = 'findings' | 'assumed' | 'off-contract' | FindingCode;

/** How to start the server, and which calls make a test fail. */
export type TestOptions = ServerOptions & {
  /**
   * Fails a test whose client made such calls. `findings`: calls with any finding; a code such as
   * `unmatched`: calls with that finding; `assumed`: calls whose reply an assumption decided;
   * `off-contract`: calls whose reply a rule made different from what the document allows.
   */
  readonly failOn?: readonly TestFailure[] | undefined;
};

export function checkTestOptions({ failOn, ...options }: TestOptions): void {
  checkOptions(options, FEATURES);
  checkOptionsOf({ failOn: inCode(FAIL_ON) }, { failOn });
}

export async function openTestMock({ failOn, ...options }: TestOptions): Promise<PetstoreMock> {
  const running = findServerOfRun();
  if (running === undefined) return startPetstoreMock(options);
  refuseServerOptions(options, running.url);
  return connectPetstoreMock(running);
}

interface RunningTest {
  /** The name of the test, because parallel tests share the output. */
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

/** Opens a sandbox. On a server that something else started, the sandbox takes the options. */
export function openTestSandbox(
  mock: PetstoreMock,
  { failOn: _, ...options }: TestOptions,
  test: string,
): Promise<MockSandbox> {
  const own = findServerOfRun() === undefined ? {} : options;
  return openSandboxWith(mock, own, createSandboxName(test));
}

/** @throws Error if there were calls that `failOn` forbids */
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
    // The test may have deleted its sandbox.
    if (!(error instanceof ControlError && error.status === 404)) throw error;
  });
  if (forbidden.length > 0) {
    throw new Error(
      ['petstore-mock: the client made calls that failOn forbids:', ...forbidden].join('\n'),
    );
  }
}

async function listForbidden(
  sandbox: MockSandbox,
  failOn: readonly TestFailure[],
): Promise<string[]> {
  const { exchanges, dropped } = await sandbox.control.call('GET /requests');
  const unlisted = dropped > 0 ? await countFailures(sandbox) : new Map<FailureKind, number>();
  const lines = exchanges.flatMap((exchange) => {
    const { basis, by, why, findings, offContract } = exchange;
    const problems = offContract?.declared === false ? offContract.problems.join('; ') : undefined;
    const assumed = by.length > 0 ? by.join(', ') : why.join('; ');
    const all: readonly { readonly code: FailureKind; readonly message: string }[] = [
      ...(basis === 'assumed' ? [{ code: 'assumed' as const, message: assumed }] : []),
      ...(problems === undefined ? [] : [{ code: 'off-contract' as const, message: problems }]),
      ...findings,
    ];
    // The findings that remain belong to exchanges that the journal has dropped.
    for (const { code } of all) unlisted.set(code, (unlisted.get(code) ?? 0) - 1);
    const reasons = all.flatMap(({ code, message }) =>
      isFailing(code, failOn) ? [indent(`${code}: ${message}`)] : [],
    );
    return reasons.length > 0 ? [summarizeExchange(exchange), ...reasons].join('\n') : [];
  });
  const earlier = [...unlisted].flatMap(([kind, count]) =>
    count > 0 && isFailing(kind, failOn) ? [`${kind} (${count})`] : [],
  );
  if (earlier.length === 0) return lines;
  const what = joinWords(earlier, 'and');
  return [
    `  ${what} in calls that the journal has dropped; a larger \`journal\` keeps them`,
    ...lines,
  ];
}

type FailureKind = Exclude<TestFailure, 'findings'>;

/** Counts the failures in all exchanges, dropped ones included. */
async function countFailures(sandbox: MockSandbox): Promise<Map<FailureKind, number>> {
  const [{ counts }, { assumed, offContract }] = await Promise.all([
    sandbox.findings(),
    sandbox.coverage(),
  ]);
  const ofOperations = assumed.reduce((sum, { count }) => sum + count, 0);
  const found = FINDING_CODE_NAMES.map((code) => [code, counts[code] ?? 0] as const);
  // A call that reaches no operation gets an assumed reply, too.
  const all = ofOperations + (counts.unmatched ?? 0);
  const others = [['assumed', all] as const, ['off-contract', offContract.count] as const];
  return new Map<FailureKind, number>([...found, ...others]);
}

const indent = (line: string) => `     ${line}`;

/** Starts the sandbox's name with the test's, because reports name sandboxes. */
function createSandboxName(test: string): string {
  const words = test.match(/[a-z0-9]+/gi) ?? [];
  const unique = crypto.randomUUID().slice(0, 13);
  return [words.join('-').slice(0, 50), unique].filter((part) => part !== '').join('-');
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

export function summarizeExchange({ number, method, target, status }: RecordedExchange): string {
  return `  ${number}. ${method} ${target} → ${status ?? 'no reply'}`;
}

function explainExchange(exchange: RecordedExchange): string[] {
  const { basis, why, request, reply } = exchange;
  const outcome = [summarizeExchange(exchange), ...listCircumstances(exchange), basis];
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

import { ControlError } from '../client/control-client.ts';
import { writeJson } from '../contract/json.ts';
import type { RecordedExchange } from '../control/journal/exchange-text.ts';
import type { ServerOptions } from '../options.ts';
import { countText, cut } from '../words.ts';
import { connectPetstoreMock, type PetstoreMock } from './connect.ts';
import type { MockSandbox } from './mock-sandbox.ts';
import { serverOfRun, startPetstoreMock } from './start-mock.ts';

/** The server of the test run if there is one, else a new one with these options. */
export async function mockForTests(options: ServerOptions): Promise<PetstoreMock> {
  const running = serverOfRun();
  return running === undefined ? startPetstoreMock(options) : connectPetstoreMock(running);
}

/**
 * Gives a test a new sandbox, deletes it afterwards, and prints its exchanges if the test failed.
 *
 * @param test its name: tests that run in parallel share the output
 * @returns what was printed
 */
export async function inSandbox(
  mock: PetstoreMock,
  test: string,
  use: (sandbox: MockSandbox) => Promise<void>,
  failed: () => boolean,
): Promise<string | undefined> {
  const sandbox = mock.sandbox(sandboxNameOf(test));
  // Created now, so that it also records requests with a wrong key.
  await sandbox.clock.get();
  await use(sandbox);
  const report = failed() ? await exchangeReport(sandbox, test) : undefined;
  // biome-ignore lint/suspicious/noConsole: the test runner shows this output with its test
  if (report !== undefined) console.error(report);
  await mock.sandboxes.delete(sandbox.name).catch((error: unknown) => {
    // The test may have deleted it.
    if (!(error instanceof ControlError && error.status === 404)) throw error;
  });
  return report;
}

/** A name that no other sandbox has. Reports name sandboxes, so it starts with that of the test. */
function sandboxNameOf(test: string): string {
  const words = test.match(/[a-z0-9]+/gi) ?? [];
  const unique = crypto.randomUUID().slice(0, 13);
  return [words.join('-').slice(0, 50), unique].filter((part) => part !== '').join('-');
}

/** How many exchanges are shown. */
const SHOWN = 20;

/** The latest exchanges of a sandbox, to explain why a test failed. */
export async function exchangeReport(sandbox: MockSandbox, test: string): Promise<string> {
  const exchanges = await sandbox.requests.list();
  const hidden = Math.max(0, exchanges.length - SHOWN);
  const lines = exchanges.slice(hidden).flatMap(exchangeLines);
  const where = `in sandbox ${sandbox.name} (test "${test}")`;
  if (lines.length === 0) return `petstore-mock got no calls ${where}`;
  const more = hidden > 0 ? [`  (${countText(hidden, 'earlier exchange')} not shown)`] : [];
  return [`petstore-mock ${where}:`, ...more, ...lines].join('\n');
}

function exchangeLines(exchange: RecordedExchange): string[] {
  const { number, method, target, status, fault, delay, hold, basis, why, request, reply } =
    exchange;
  const outcome = [
    status ?? 'no reply',
    ...(fault === undefined ? [] : [`fault ${fault}`]),
    ...(delay ? [`delayed by ${delay} ms`] : []),
    ...(hold === undefined ? [] : [`${hold.ended ?? 'held'} as ${hold.name}`]),
    basis,
  ];
  return [
    `  ${number}. ${method} ${target} → ${outcome.join(', ')}: ${why.join('; ')}`,
    ...bodyLine('sent', request.body),
    ...bodyLine('got ', reply.body),
  ];
}

function bodyLine(label: string, body: unknown): string[] {
  if (body === undefined) return [];
  const text = typeof body === 'object' && body !== null ? writeJson(body) : String(body);
  return [`     ${label} ${text.length > 400 ? `${cut(text, 400)}…` : text}`];
}

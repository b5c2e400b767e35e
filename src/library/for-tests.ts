import type { ServerOptions } from '../server.ts';
import { connectPetstoreMock, type PetstoreMock } from './connect.ts';
import type { RecordedExchange } from './replies.ts';
import type { MockSandbox } from './sandbox.ts';
import { startPetstoreMock } from './start.ts';

/**
 * The server of a test run: that of `PETSTORE_MOCK_URL`, as `petstore-mock exec` sets it, else one
 * of its own. Options are for the latter.
 */
export async function mockForTests(options: ServerOptions): Promise<PetstoreMock> {
  // biome-ignore lint/style/noProcessEnv: where a test runner's process finds a server that runs
  const { PETSTORE_MOCK_URL: url, PETSTORE_MOCK_KEY: key } = process.env;
  if (url === undefined || url === '') return startPetstoreMock(options);
  // biome-ignore lint/style/noProcessEnv: the same
  const token = process.env.PETSTORE_MOCK_CONTROL_TOKEN;
  return connectPetstoreMock({ url, key, token });
}

/** Forgets a test's sandbox, which the test may have done itself, or never used. */
export async function forgetSandbox(mock: PetstoreMock, { name }: MockSandbox): Promise<void> {
  await mock.sandboxes.delete(name).catch((error: unknown) => {
    if (Object(error).status !== 404) throw error;
  });
}

/** More exchanges than a person reads, and more of a body. */
const MOST_TOLD = 20;
const MOST_OF_BODY = 400;

/** The latest exchanges of a sandbox, for whoever reads why a test has failed. */
export async function tellExchanges(sandbox: MockSandbox): Promise<string> {
  const exchanges = await sandbox.requests.list();
  const hidden = Math.max(0, exchanges.length - MOST_TOLD);
  const lines = exchanges.slice(hidden).flatMap(tellExchange);
  const head =
    exchanges.length === 0
      ? `petstore-mock was not called in the sandbox ${sandbox.name}`
      : `petstore-mock in the sandbox ${sandbox.name}:`;
  return [head, ...(hidden > 0 ? [`  (${hidden} earlier ones)`] : []), ...lines].join('\n');
}

function tellExchange(exchange: RecordedExchange): string[] {
  const { number, method, target, status, fault, basis, why, request, reply } = exchange;
  const outcome = [status ?? 'no reply', ...(fault === undefined ? [] : [`fault ${fault}`]), basis];
  return [
    `  ${number}. ${method} ${target} → ${outcome.join(', ')}: ${why.join('; ')}`,
    ...tellBody('sent', request.body),
    ...tellBody('got ', reply.body),
  ];
}

function tellBody(label: string, body: unknown): string[] {
  if (body === undefined) return [];
  const text = typeof body === 'string' ? body : JSON.stringify(body, exactly);
  const shown = text.length > MOST_OF_BODY ? `${text.slice(0, MOST_OF_BODY)}…` : text;
  return [`     ${label} ${shown}`];
}

function exactly(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

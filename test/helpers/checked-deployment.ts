import { createServer } from 'node:http';
import { type Choices, chooseOptions } from '../../src/core/contract/assumption-table.ts';
import { parseBaseUrl } from '../../src/core/contract/base-url.ts';
import { createStart } from '../../src/core/scenario/sandbox-start.ts';
import { advanceClock, currentInstant } from '../../src/core/service/clock.ts';
import { loadFixture } from '../../src/core/store/fixture.ts';
import type { Store } from '../../src/core/store/store.ts';
import type { CheckReport } from '../../src/features/deployment/check/check-report.ts';
import type { CheckTranscript } from '../../src/features/deployment/check/check-transcript.ts';
import type { CheckOptions } from '../../src/features/deployment/check/questions/question.ts';
import { runCheck, type Sender } from '../../src/features/deployment/check/run-check.ts';
import {
  DeploymentClient,
  type DeploymentRequest,
  Pace,
} from '../../src/features/deployment/deployment-client.ts';
import type { DeploymentReply } from '../../src/features/deployment/deployment-reply.ts';
import { SAFE_METHODS } from '../../src/features/deployment/transport.ts';
import { assembleMock } from '../../src/server/mock.ts';
import { listen } from './host.ts';

export const DEPLOYED_AT = Date.UTC(2026, 10, 22, 9, 0, 0);

/** An order that is pending past its ship date, beside those of the fixture. */
export const OVERDUE = 20n;

let fixture: Store | undefined;

async function deploymentStore(): Promise<Store> {
  fixture ??= await loadFixture('default');
  const overdue = {
    id: OVERDUE,
    petId: 5n,
    quantity: 2,
    shipDate: '2026-03-01T09:00:00Z',
    status: 'pending',
  } as const;
  return { ...fixture, orders: fixture.orders.with(overdue) };
}

/** A deployment of the service with the given options. Its clock moves only when a client waits. */
export async function deploy(
  assume: Partial<Choices>,
  { now = DEPLOYED_AT, plain = true }: { now?: number; plain?: boolean } = {},
) {
  const start = createStart(
    { assume: chooseOptions(assume), clock: now, frozen: true, plain },
    await deploymentStore(),
  );
  const guard = { token: undefined, host: '127.0.0.1' };
  const { service, sandboxes } = assembleMock({ start, guard }, {});
  const server = createServer(service);
  const url = parseBaseUrl(`http://127.0.0.1:${await listen(server)}/v1`)!;
  let passed = 0;
  const wait = async (milliseconds: number): Promise<void> => {
    passed += milliseconds;
    const sandbox = sandboxes.default;
    sandbox.take(
      sandbox.change((state, { wall }) => {
        const clock = advanceClock(state.clock, milliseconds, wall) ?? state.clock;
        return { state: { ...state, clock }, result: undefined };
      }, currentInstant()),
    );
  };
  const time = { now: () => passed, wait };
  const client = new DeploymentClient({ url, key: 'demo-key', rate: 1e6, time });
  return {
    client,
    close: () => {
      client.close();
      server.close();
      server.closeAllConnections();
    },
  };
}

export type Change = (reply: DeploymentReply, request: DeploymentRequest) => DeploymentReply;

/** Everything that a check can be told about the fixture's orders and keys. */
export const WHOLE_CHECK: CheckOptions = {
  writes: true,
  cancel: [1n, OVERDUE],
  shipped: [2n],
  cancelled: [3n],
  readOnlyKey: ['demo-read-only-key'],
  invalidKey: ['some-invalid-key'],
  rate: 1e6,
};

/**
 * Checks a deployment with these options.
 *
 * @param more.change changes its replies on their way
 */
export async function checked(
  assume: Partial<Choices>,
  more: { now?: number; plain?: boolean; options?: Partial<CheckOptions>; change?: Change } = {},
): Promise<CheckTranscript> {
  const deployment = await deploy(assume, more);
  const { client } = deployment;
  const { change = (reply) => reply } = more;
  const sender: Sender = {
    time: client.time,
    send: async (request, patient) => change(await client.send(request, patient), request),
  };
  try {
    return await runCheck(sender, { ...WHOLE_CHECK, ...more.options });
  } finally {
    deployment.close();
  }
}

/** The verdicts that are wrong about a deployment with these options. */
export function findWrong(report: CheckReport, truth: Partial<Choices>): object[] {
  const choices = chooseOptions(truth);
  return [
    ...report.assumptions.filter(({ id, verdict, option }) =>
      verdict === 'settled' ? option !== choices[id] : verdict === 'none-of-the-options',
    ),
    ...report.replies.filter(({ verdict }) => verdict === 'different'),
  ];
}

/** What a deployment behind others is like. */
export interface Circumstances {
  /** Milliseconds by which reads are behind writes. */
  readonly lag?: number;
  /** Milliseconds for which a cache keeps a reply whatever a request asks for, which, and whether it says so. */
  readonly cache?: number;
  readonly cached?: RegExp;
  readonly isCacheTold?: boolean;
  /** Writes of another client in a second, and what draws them. */
  readonly writes?: number;
  readonly draw?: (bound: number) => number;
  readonly options?: Partial<CheckOptions>;
  /** Answers in place of the deployment, unless it returns undefined. */
  readonly instead?: (request: DeploymentRequest) => DeploymentReply | undefined;
}

/** A request takes so many milliseconds. */
const LATENCY_MS = 10;

/** Checks a deployment under these circumstances, at five requests in a second of a clock of its own. */
export async function checkedUnder(
  assume: Partial<Choices>,
  circumstances: Circumstances,
): Promise<CheckTranscript> {
  const { lag = 0, cache = 0, isCacheTold, writes = 0, draw = () => 0, instead } = circumstances;
  const { cached: cachedPaths = /./ } = circumstances;
  const [primary, replica] = [await deploy(assume), await deploy(assume)];
  const late: { readonly at: number; readonly request: DeploymentRequest }[] = [];
  const cached = new Map<string, { readonly at: number; readonly reply: DeploymentReply }>();
  const pause = () => (-1000 * Math.log((draw(1000) + 1) / 1001)) / writes;
  let [now, nextWrite] = [0, writes === 0 ? Number.POSITIVE_INFINITY : pause()];
  const wait = async (milliseconds: number) => {
    now += milliseconds;
  };
  const time = { now: () => now, wait };
  const pace = new Pace(5, time);
  const write = (at: number, request: DeploymentRequest) => {
    late.push({ at: at + lag, request });
    return primary.client.send(request);
  };
  /** Lets happen what happened until now. */
  const catchUp = async () => {
    for (; nextWrite <= now; nextWrite += pause()) await write(nextWrite, drawWrite(draw));
    for (; late[0] !== undefined && late[0].at <= now; late.shift()) {
      await replica.client.send(late[0].request);
    }
  };
  const read = async (request: DeploymentRequest): Promise<DeploymentReply> => {
    const name = JSON.stringify(request);
    const hit = cached.get(name);
    const isFresh = hit !== undefined && now - hit.at < cache;
    const reply = isFresh ? hit.reply : await replica.client.send(request);
    if (!isFresh && cachedPaths.test(request.path)) cached.set(name, { at: now, reply });
    const age = isFresh && isCacheTold ? ['Age', `${Math.floor((now - hit.at) / 1000)}`] : [];
    return { ...reply, headers: [...reply.headers, ...age] };
  };
  const sender: Sender = {
    time,
    send: async (request) => {
      await pace.turn();
      now += LATENCY_MS / 2;
      await catchUp();
      const isRead = SAFE_METHODS.test(request.method);
      const reply = instead?.(request) ?? (await (isRead ? read(request) : write(now, request)));
      now += LATENCY_MS / 2;
      return reply;
    },
  };
  try {
    return await runCheck(sender, { ...WHOLE_CHECK, rate: 5, ...circumstances.options });
  } finally {
    for (const deployment of [primary, replica]) deployment.close();
  }
}

/** What another client writes: new animals, stock, and cancellations of orders that no check names. */
function drawWrite(draw: (bound: number) => number): DeploymentRequest {
  const kind = draw(3);
  if (kind === 0) {
    const status = ['', ',"status":"sold"', ',"status":"available"'][draw(3)];
    const body = `{"name":"Other ${draw(1000)}","categoryId":2${status}}`;
    return { method: 'POST', path: '/pets', body };
  }
  if (kind === 1) return { method: 'DELETE', path: `/store/orders/${4 + draw(12)}` };
  const body = `{"quantity":${draw(3) * draw(10)}}`;
  return { method: 'PATCH', path: `/inventory/${1 + draw(64)}`, body };
}

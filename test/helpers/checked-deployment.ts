import { createServer } from 'node:http';
import { type Choices, chooseOptions } from '../../src/contract/assumption-table.ts';
import { baseUrlOf } from '../../src/contract/base-url.ts';
import type { CheckTranscript } from '../../src/deployment/check/check-transcript.ts';
import type { CheckOptions } from '../../src/deployment/check/question.ts';
import { runCheck, type Sender } from '../../src/deployment/check/run-check.ts';
import {
  DeploymentClient,
  type DeploymentRequest,
  Pace,
} from '../../src/deployment/deployment-client.ts';
import type { DeploymentReply } from '../../src/deployment/deployment-reply.ts';
import { SAFE } from '../../src/deployment/transport.ts';
import { assembleMock } from '../../src/mock.ts';
import { createStart } from '../../src/scenario/sandbox-start.ts';
import { advanceClock } from '../../src/service/clock.ts';
import { loadFixture } from '../../src/store/fixture/load-fixture.ts';
import type { Store } from '../../src/store/store.ts';
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
  const url = baseUrlOf(`http://127.0.0.1:${await listen(server)}/v1`)!;
  let passed = 0;
  const wait = async (milliseconds: number): Promise<void> => {
    passed += milliseconds;
    await sandboxes.default.edit((state, { wall }) => ({
      state: { ...state, clock: advanceClock(state.clock, milliseconds, wall) ?? state.clock },
      result: undefined,
    }));
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
    rest: (milliseconds) => client.rest(milliseconds),
    send: async (request, patient) => change(await client.send(request, patient), request),
  };
  try {
    return await runCheck(sender, { ...WHOLE_CHECK, ...more.options });
  } finally {
    deployment.close();
  }
}

/**
 * Checks a deployment whose reads are behind its writes, at five requests in a second.
 *
 * @param instead answers in place of the deployment, unless it returns undefined
 */
export async function checkedWithLag(
  assume: Partial<Choices>,
  lag: number,
  instead: (request: DeploymentRequest) => DeploymentReply | undefined = () => undefined,
): Promise<CheckTranscript> {
  const [primary, replica] = [await deploy(assume), await deploy(assume)];
  const late: { readonly at: number; readonly request: DeploymentRequest }[] = [];
  let now = 0;
  const wait = async (milliseconds: number) => (now += milliseconds);
  const pace = new Pace(5, { now: () => now, wait });
  const sender: Sender = {
    rest: (milliseconds) => pace.rest(milliseconds),
    send: async (request, patient) => {
      await pace.turn();
      const reply = instead(request);
      if (reply !== undefined) return reply;
      if (!SAFE.test(request.method)) {
        late.push({ at: now + lag, request });
        return primary.client.send(request, patient);
      }
      while (late[0] !== undefined && late[0].at <= now) {
        const { request: written } = late[0];
        late.shift();
        await replica.client.send(written);
      }
      return replica.client.send(request, patient);
    },
  };
  try {
    return await runCheck(sender, { ...WHOLE_CHECK, rate: 5 });
  } finally {
    for (const it of [primary, replica]) it.close();
  }
}

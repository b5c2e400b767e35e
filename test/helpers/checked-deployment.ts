import {
  ASSUMPTION_IDS,
  type AssumptionId,
  type Choices,
  chooseOptions,
  optionsOf,
} from '../../src/core/contract/assumption-table.ts';
import { createStart } from '../../src/core/sandbox/start.ts';
import { createStore, type Store } from '../../src/core/store/store.ts';
import { prepareMock } from '../../src/features/deployment/ask-mock.ts';
import {
  type CheckedDeployment,
  checkDeployment,
} from '../../src/features/deployment/check/check.ts';
import type { CheckReport } from '../../src/features/deployment/check/report.ts';
import { type DeploymentRequest, Pace } from '../../src/features/deployment/deployment-client.ts';
import type { DeploymentReply } from '../../src/features/deployment/deployment-reply.ts';
import type { DeploymentFlags } from '../../src/features/deployment/flags.ts';
import { SAFE_METHODS } from '../../src/features/deployment/transport.ts';
import { drawChoices, drawing, OVERDUE } from './drawn-requests.ts';

export const DEPLOYED_AT = Date.UTC(2026, 10, 22, 9, 0, 0);

const STATUSES = ['available', 'sold', 'pending'] as const;
const ANIMALS = 24;

/** Some animals have no status, and some no inventory entry. */
export function deploymentStore(animals = ANIMALS): Store {
  const ids = Array.from({ length: animals }, (_, at) => BigInt(at + 1));
  return createStore({
    animals: ids.map((id) => {
      const animal = { id, name: `Rex ${(id * 7n) % 13n}`, categoryId: id % 3n };
      const status = STATUSES[Number(id % 4n)];
      return status === undefined ? animal : { ...animal, status };
    }),
    inventory: ids.slice(2).map((petId) => ({ petId, quantity: 3, status: 'available' })),
    orders: [
      { id: 1n, petId: 4n, quantity: 2, shipDate: '2027-03-01T09:00:00Z', complete: false },
      { id: 2n, petId: 5n, quantity: 1, shipDate: '2026-03-01T09:00:00Z', status: 'shipped' },
      { id: 3n, petId: 6n, quantity: 1, status: 'cancelled' },
      { id: 5n, petId: 8n, quantity: 1, shipDate: '2027-03-01T09:00:00Z' },
      { id: OVERDUE, petId: 7n, quantity: 2, shipDate: '2026-03-01T09:00:00Z' },
    ],
  });
}

/** Everything that a check can be told about these orders and keys. */
export const WHOLE_CHECK: DeploymentFlags = {
  writes: true,
  cancel: [1n, OVERDUE],
  shipped: [2n],
  cancelled: [3n],
  readOnlyKey: ['demo-read-only-key'],
  invalidKey: ['some-invalid-key'],
  rate: 100,
};

export type Change = (reply: DeploymentReply, request: DeploymentRequest) => DeploymentReply;

/** What a deployment and those between it and a check are like. */
export interface Circumstances {
  readonly animals?: number;
  readonly now?: number;
  readonly options?: Partial<DeploymentFlags>;
  /** Changes its replies on their way, or throws. */
  readonly change?: Change;
  /** Milliseconds by which reads are behind writes. */
  readonly lag?: number;
  /** Milliseconds for which a cache keeps a reply, and whether it says so. */
  readonly cache?: number;
  readonly isCacheTold?: boolean;
  /** Writes of another client in a second, and what draws them. */
  readonly writes?: number;
  readonly draw?: (bound: number) => number;
}

/** Its seed is another than that of the mock that is asked. */
const START = createStart({ plain: true, seed: 7 }, deploymentStore());

/** A request takes so many milliseconds. */
const LATENCY_MS = 10;

/** Checks a deployment that the mock plays, at the rate of a clock of its own. */
export async function checked(
  assume: Partial<Choices>,
  circumstances: Circumstances = {},
): Promise<CheckedDeployment> {
  const {
    now: startsAt = DEPLOYED_AT,
    lag = 0,
    cache = 0,
    isCacheTold,
    writes = 0,
  } = circumstances;
  const { draw = () => 0, change = (reply) => reply } = circumstances;
  const options = { ...WHOLE_CHECK, ...circumstances.options };
  const open = prepareMock(deploymentStore(circumstances.animals), startsAt, START);
  const primary = open(chooseOptions(assume));
  const replica = lag === 0 ? primary : open(chooseOptions(assume));
  const late: { readonly at: number; readonly request: DeploymentRequest }[] = [];
  const cached = new Map<string, { readonly at: number; readonly reply: DeploymentReply }>();
  const pause = () => (-1000 * Math.log((draw(1000) + 1) / 1001)) / writes;
  let [now, nextWrite] = [0, writes === 0 ? Number.POSITIVE_INFINITY : pause()];
  const time = {
    now: () => now,
    wait: async (milliseconds: number) => {
      now += milliseconds;
    },
  };
  const pace = new Pace(options.rate ?? 5, time);
  const write = (at: number, request: DeploymentRequest) => {
    if (lag > 0) late.push({ at: at + lag, request });
    return primary(request, at);
  };
  const catchUp = () => {
    for (; nextWrite <= now; nextWrite += pause()) write(nextWrite, drawWrite(draw));
    for (; late[0] !== undefined && late[0].at <= now; late.shift()) {
      replica(late[0].request, late[0].at);
    }
  };
  const read = (request: DeploymentRequest): DeploymentReply => {
    const name = JSON.stringify(request);
    const hit = cached.get(name);
    const isFresh = hit !== undefined && now - hit.at < cache;
    const reply = isFresh ? hit.reply : replica(request, now);
    if (!isFresh) cached.set(name, { at: now, reply });
    const age = isFresh && isCacheTold ? ['Age', `${Math.floor((now - hit.at) / 1000)}`] : [];
    return { ...reply, headers: [...reply.headers, ...age] };
  };
  const send = async (request: DeploymentRequest, isPatient = true): Promise<DeploymentReply> => {
    for (;;) {
      await pace.turn();
      now += LATENCY_MS / 2;
      catchUp();
      const isRead = SAFE_METHODS.test(request.method);
      const reply = change(isRead ? read(request) : write(now, request), request);
      now += LATENCY_MS / 2;
      if (reply.status !== 429 || !isPatient || reply.headers.includes('86400')) return reply;
      now += 1000;
    }
  };
  return checkDeployment({ time, send }, options);
}

export async function reportOn(...deployment: Parameters<typeof checked>): Promise<CheckReport> {
  return (await checked(...deployment)).report;
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

/** What another client writes: new animals, stock, and cancellations of an order that no check names. */
function drawWrite(draw: (bound: number) => number): DeploymentRequest {
  const kind = draw(3);
  if (kind === 0) {
    const status = ['', ',"status":"sold"', ',"status":"available"'][draw(3)];
    const body = `{"name":"Other ${draw(1000)}","categoryId":2${status}}`;
    return { method: 'POST', path: '/pets', body };
  }
  if (kind === 1) return { method: 'DELETE', path: `/store/orders/${4 + draw(12)}` };
  const body = `{"quantity":${draw(3) * draw(10)}}`;
  return { method: 'PATCH', path: `/inventory/${1 + draw(ANIMALS)}`, body };
}

/** Checks deployments with each option of each assumption in turn, beside drawn ones. */
export async function checkDrawn(seed: number, rounds: number) {
  const draw = drawing(seed);
  const settled = new Map<AssumptionId, number>();
  const wrong: object[] = [];
  for (let count = 0; count < rounds; count += 1) {
    const turn = ASSUMPTION_IDS.filter((_, at) => (at + count) % 2 === 0).map((id) => {
      return [id, optionsOf(id)[Math.floor(count / 2) % optionsOf(id).length]];
    });
    const truth = chooseOptions({ ...drawChoices(draw), ...Object.fromEntries(turn) });
    const report = await reportOn(truth, { options: { stock: draw(2) === 0 ? 1n : 3n } });
    wrong.push(...findWrong(report, truth).map((verdict) => ({ verdict, truth })));
    for (const { id, verdict } of report.assumptions) {
      if (verdict === 'settled') settled.set(id, (settled.get(id) ?? 0) + 1);
    }
  }
  return { wrong, settled };
}

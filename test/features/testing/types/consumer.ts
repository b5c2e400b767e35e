/* Uses every part of a mock, and checks the types that it gets and those it may not pass. */

import * as api from 'petstore-mock';

type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function is<A, B>(..._same: Same<A, B> extends true ? [] : [never]): void {}

type Result<F> = F extends (...args: never[]) => Promise<infer R> ? R : never;

is<Result<typeof api.startPetstoreMock | typeof api.connectPetstoreMock>, api.PetstoreMock>();
is<Result<typeof api.startServer>, api.RunningServer>();
is<NonNullable<Parameters<typeof api.startPetstoreMock>[0]>, api.ServerOptions>();
is<Result<ReturnType<typeof api.globalSetup>>, () => Promise<void>>();

is<api.PetstoreMock['url' | 'key' | 'name' | 'controlUrl'], string>();
is<ReturnType<api.PetstoreMock['sandbox']>, api.MockSandbox>();

is<api.Int64, number | bigint>();
is<
  api.Animal,
  {
    readonly id: api.Int64;
    readonly name: string;
    readonly categoryId: api.Int64;
    readonly status?: string;
  }
>();
is<
  api.InventoryEntry,
  { readonly petId: api.Int64; readonly quantity: number; readonly status: string }
>();
is<api.Order['petId'], api.Int64 | undefined>();
is<api.Order['status'], 'pending' | 'shipped' | 'cancelled' | undefined>();
is<api.StoreState['animals'], readonly api.Animal[]>();

type Sandbox = api.MockSandbox;
is<Result<Sandbox['state']['get' | 'put' | 'patch']>, api.StoreState>();
is<Parameters<Sandbox['state']['patch']>[0], api.StateChanges>();
is<Result<Sandbox['animals']['get' | 'create' | 'put' | 'patch']>, api.Animal>();
is<Sandbox['orders'], api.RecordControl<'orders'>>();
is<Result<Sandbox['scenario']['get' | 'use']>[number]['name' | 'description'], string>();
is<Result<Sandbox['scenarios']['save']>['own' | 'shipped'], boolean>();
is<NonNullable<Parameters<Sandbox['clock']['set']>[0]['now']>, string | Date>();
is<Result<Sandbox['clock']['get' | 'set' | 'advance' | 'freeze']>['frozen' | 'real'], boolean>();
is<Result<Sandbox['requests']['list']>, readonly api.RecordedExchange[]>();
is<
  NonNullable<Parameters<Sandbox['reset']>[0]>['keep'],
  | readonly ('store' | 'scenario' | 'own-scenarios' | 'assumptions' | 'clock' | 'journal')[]
  | undefined
>();
is<Result<Sandbox['coverage']>, api.CoverageReport>();
is<Result<Sandbox['findings']>, api.FindingsReport>();

is<api.RequestFilter['operation'], api.OperationId | undefined>();
is<api.RecordedExchange['basis'], 'documented' | 'assumed' | 'forced' | 'upstream'>();
is<api.RecordedExchange['request']['body'], unknown>();
is<api.RecordedExchange['reply']['headers'], Readonly<Record<string, string>>>();

is<api.CoverageReport['documented' | 'assumed'][number]['operation'], api.OperationId>();
is<
  Parameters<NonNullable<api.ServerOptions['observe']>>,
  [sandbox: string, exchange: api.RecordedExchange]
>();
is<api.FindingsReport['findings'], readonly api.Finding[]>();
is<api.FindingsReport['counts'], Readonly<Partial<Record<api.FindingCode, number>>>>();
is<api.Finding['code'], api.FindingCode>();
is<api.ControlError['code' | 'call' | 'message'], string>();

const rule: api.RuleDefinition = { on: 'getPet', reply: { status: 503 } };
// @ts-expect-error a rule sends a reply of its own, or changes the real one
export const both: api.RuleDefinition = {
  on: 'getPet',
  reply: { status: 503 },
  patch: { status: 503 },
};
const named: api.ScenarioName = 'outage';

const scenario: api.ScenarioDefinition = {
  extends: 'slow',
  state: {
    animals: { set: [{ id: 9007199254740993n, name: 'Rex', categoryId: 1n }] },
    orders: { set: [{ id: 1, status: 'shipped' }], remove: [9007199254740995n] },
    inventory: { remove: 'all', each: { where: { status: ['sold', 'lost'] }, quantity: 0 } },
  },
  assume: { 'cancel-again': '204' },
  clock: { now: '2030-01-01T00:00:00Z', frozen: true },
  rules: [
    { on: 'getPet', where: { petId: 9007199254740993n }, calls: '1-2', reply: { status: 503 } },
    { on: '*', delay: { min: 100, max: 400 }, fault: { kind: 'slow-body', chunks: 2 } },
  ],
};

export async function use(mock: api.PetstoreMock): Promise<api.AssumptionId[]> {
  await mock.scenario.use('slow', 'mine', named, scenario, { rules: [rule] });
  await mock.state.patch({ orders: [{ id: 1n, status: 'cancelled' }] });
  await mock.animals.list({ id: 5, status: 'sold', _sort: 'name', _limit: 3 });
  await mock.orders.patch(1n, { quantity: null, shipDate: undefined });
  await mock.orders.put(2n, await mock.orders.get(2n));
  await mock.requests.list({ operation: 'cancelOrder', basis: 'assumed', limit: 5 });
  const { sandbox, stop } = mock;
  await sandbox('x').assume({ 'unknown-pet': '400' });
  const { frozen } = await mock.control.call('PUT /clock', { body: { frozen: true } });
  is<typeof frozen, boolean>();
  await stop();
  return (await mock.assumptions()).map(({ id }) => id);
}

export function misuse(mock: api.PetstoreMock): void {
  // @ts-expect-error
  mock.assume({ 'cancel-again': '418' });
  // @ts-expect-error
  mock.control.call('GET /clocks');
  // @ts-expect-error
  mock.requests.list({ operation: 'getPets' });
  // @ts-expect-error
  mock.orders.patch(1, { status: 'lost' });
  // @ts-expect-error
  mock.animals.create({ name: 'Rex' });
  // @ts-expect-error
  mock.state.patch({ orders: [{ status: 'shipped' }] });
  // @ts-expect-error
  mock.scenario.use({ state: { orders: { each: { id: 1 } } } });
  // @ts-expect-error
  mock.scenario.use({ rules: [{ on: 'getPet', fault: 'explode' }] });
  // @ts-expect-error
  api.startPetstoreMock({ ports: 1 });
  // @ts-expect-error
  mock.url = 'http://127.0.0.1';
}

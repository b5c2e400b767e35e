import { expect } from 'vitest';
import { parseJson } from '../../src/contract/json.ts';
import { OPERATION_IDS, operationShape } from '../../src/contract/operations.ts';
import type { PetstoreMock } from '../../src/index.ts';
import type { MockSandbox } from '../../src/library/mock-sandbox.ts';
import type { Answer, Call, Id } from '../clients/callers/call.ts';

export interface Step {
  readonly call: Call;
  readonly key: string;
  readonly status: number;
  /** Matches the body of the reply; undefined if it has none. */
  readonly body: unknown;
}

/** The ids that a plan leaves without a record, and the records that it leaves. */
const UNKNOWN = 2;

/** An id that no double holds. */
export const BIG_ID = 9_007_199_254_740_993n;

/** Runs the whole plan in its own sandbox: `answer` sends the steps with the client under test. */
export async function drive(
  mock: PetstoreMock,
  id: Id,
  answer: (url: string, steps: readonly Step[]) => Promise<readonly Answer[]>,
): Promise<void> {
  const sandbox = mock.sandbox();
  await arrange(sandbox, id);
  const steps = planOf(sandbox, id);
  await verify(sandbox, id, steps, await answer(sandbox.url, steps));
}

/** A reply that a client has printed. */
export function answerOf(status: string, text: string): Answer {
  return { status: Number(status), body: text === '' ? undefined : parseJson(text) };
}

/** Puts an animal, its inventory entry and its order into a store, all with this id. */
async function arrange(mock: MockSandbox, id: Id): Promise<void> {
  await mock.state.patch({
    animals: [{ id, name: 'Big', categoryId: id, status: 'available' }],
    inventory: [{ petId: id, quantity: 1, status: 'available' }],
    orders: [{ id, petId: id, quantity: 1 }],
  });
}

/** Calls that get every documented reply of every operation, in a store that is so arranged. */
function planOf(mock: MockSandbox, id: Id): readonly Step[] {
  const unknown = typeof id === 'bigint' ? id + BigInt(UNKNOWN) : id + UNKNOWN;
  const having = (members: object): unknown => expect.objectContaining(members);
  const among = (members: object): unknown => expect.arrayContaining([having(members)]);
  const answered: readonly Omit<Step, 'key'>[] = [
    {
      call: { operation: 'listPets', limit: 100, status: 'available' },
      status: 200,
      body: among({ id, name: 'Big' }),
    },
    {
      call: { operation: 'createPet', name: 'Rex', categoryId: id },
      status: 201,
      body: having({ name: 'Rex', categoryId: id }),
    },
    { call: { operation: 'getPet', petId: id }, status: 200, body: having({ id, categoryId: id }) },
    { call: { operation: 'listInventory' }, status: 200, body: among({ petId: id, quantity: 1 }) },
    {
      call: { operation: 'updateInventory', petId: id, quantity: 7 },
      status: 200,
      body: having({ petId: id, quantity: 7 }),
    },
    { call: { operation: 'listOrders' }, status: 200, body: among({ id, petId: id }) },
    { call: { operation: 'cancelOrder', orderId: id }, status: 204, body: undefined },
    {
      call: { operation: 'cancelOrder', orderId: unknown },
      status: 404,
      body: having({ code: 'order_not_found', status: 404 }),
    },
    {
      call: { operation: 'cancelOrder', orderId: 2 },
      status: 409,
      body: having({ code: 'order_already_shipped', status: 409 }),
    },
  ];
  const refused = answered
    .filter(({ status }) => status < 400)
    .map(({ call }) => ({
      call,
      status: 401,
      body: having({ code: 'unauthorized', status: 401 }),
    }));
  return [
    ...answered.map((step) => ({ ...step, key: mock.key })),
    ...refused.map((step) => ({ ...step, key: 'no-such-key' })),
  ];
}

/** Checks what a client received for each step, and what the mock reports that it was shown. */
async function verify(
  mock: MockSandbox,
  id: Id,
  steps: readonly Step[],
  answers: readonly Answer[],
): Promise<void> {
  expect(answers).toEqual(steps.map(({ status, body }) => ({ status, body })));
  const exchanges = await mock.requests.list();
  expect(exchanges.filter(({ basis }) => basis !== 'documented')).toEqual([]);
  const seen = exchanges.map(({ operation, status }) => `${operation} ${status}`);
  expect([...seen].sort()).toEqual([...DOCUMENTED].sort());
  expect((await mock.orders.get(id)).status).toBe('cancelled');
  expect((await mock.inventory.get(id)).quantity).toBe(7);
  expect(await mock.animals.count({ name: 'Rex', categoryId: id })).toBe(1);
}

const DOCUMENTED = OPERATION_IDS.flatMap((operation) =>
  Object.keys(operationShape(operation).replies).map((status) => `${operation} ${status}`),
);

/** A call as HTTP has it. */
export function requestOf(call: Call): { method: string; path: string; body: string } {
  switch (call.operation) {
    case 'listPets':
      return { method: 'GET', path: `/pets?limit=${call.limit}&status=${call.status}`, body: '' };
    case 'createPet': {
      const body = `{"name":"${call.name}","categoryId":${call.categoryId}}`;
      return { method: 'POST', path: '/pets', body };
    }
    case 'getPet':
      return { method: 'GET', path: `/pets/${call.petId}`, body: '' };
    case 'listInventory':
      return { method: 'GET', path: '/inventory', body: '' };
    case 'updateInventory': {
      const body = `{"quantity":${call.quantity}}`;
      return { method: 'PATCH', path: `/inventory/${call.petId}`, body };
    }
    case 'listOrders':
      return { method: 'GET', path: '/store/orders', body: '' };
    case 'cancelOrder':
      return { method: 'DELETE', path: `/store/orders/${call.orderId}`, body: '' };
  }
}

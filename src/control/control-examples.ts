import type { Json } from '../contract/json.ts';

/** An example request of an endpoint. */
interface Example {
  /** The parameter of the path. */
  readonly path?: string | number;
  readonly body?: Json;
}

const ANIMAL = { name: 'Polly', categoryId: 3, status: 'available' };
const STOCK = { quantity: 12, status: 'available' };
const ORDER = { petId: 1, quantity: 2, shipDate: '2031-01-15T09:30:00Z', complete: false };

const SNAPSHOT = 'before';
const SANDBOX = 'my-test';
const SCENARIO = 'no-cat';
/** An animal that is not in the default fixture, whose animals all have an inventory entry. */
const NEW_ANIMAL = 1000;

/**
 * Example requests by endpoint id. They refer to the default fixture, or to what an earlier POST
 * example creates; `requests/1` exists once a client has called.
 */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  replaceState: {
    body: {
      animals: [{ id: 1, ...ANIMAL }],
      inventory: [{ petId: 1, ...STOCK }],
      orders: [{ id: 1, ...ORDER }],
    },
  },
  mergeState: { body: { orders: [{ id: 1, status: 'shipped' }] } },
  reset: { body: { keep: ['scenario'] } },
  createAnimal: { body: { id: NEW_ANIMAL, ...ANIMAL } },
  getAnimal: { path: 3 },
  putAnimal: { path: 3, body: ANIMAL },
  patchAnimal: { path: 3, body: { status: 'sold' } },
  deleteAnimal: { path: 3 },
  createInventoryEntry: { body: { petId: NEW_ANIMAL, ...STOCK } },
  getInventoryEntry: { path: 2 },
  putInventoryEntry: { path: 2, body: STOCK },
  patchInventoryEntry: { path: 2, body: { quantity: 0 } },
  deleteInventoryEntry: { path: 2 },
  createOrder: { body: ORDER },
  getOrder: { path: 4 },
  putOrder: { path: 4, body: ORDER },
  patchOrder: { path: 4, body: { status: 'shipped' } },
  deleteOrder: { path: 4 },
  createSnapshot: { body: { name: SNAPSHOT } },
  restoreSnapshot: { path: SNAPSHOT },
  deleteSnapshot: { path: SNAPSHOT },
  setScenario: { body: { scenarios: ['shipped-orders'] } },
  getScenarioSource: { path: 'slow' },
  saveScenario: {
    path: SCENARIO,
    body: { description: 'No cat.', rules: [{ on: 'getPet', reply: { status: 404 } }] },
  },
  deleteScenario: { path: SCENARIO },
  checkScenario: { body: { text: 'rules:\n  - { on: getPet, delay: 200 }\n' } },
  chooseOptions: { body: { 'cancel-again': '404' } },
  setClock: { body: { now: '2030-12-06T00:00:00Z', frozen: true } },
  advanceClock: { body: { by: 'P30D' } },
  countRequests: { body: { operation: 'cancelOrder' } },
  getRequest: { path: 1 },
  setUpstream: { body: { url: 'http://127.0.0.1:4011/v1', key: 'staging-key' } },
  createSandbox: { body: { name: SANDBOX } },
  deleteSandbox: { path: SANDBOX },
};

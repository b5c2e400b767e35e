import { expect, test } from 'vitest';
import {
  ASSUMPTION_IDS,
  assumptionShape,
  isOptionOf,
  optionsOf,
} from '../../../src/core/contract/assumption-table.ts';
import { ERROR_CODES } from '../../../src/core/contract/error-codes.ts';
import { OPERATIONS } from '../../../src/core/contract/operations.ts';

/** What users may write behind `--assume`, the default first: a change here breaks their files. */
const PROMISED = `
invalid-input: 400, 422
limit-out-of-range: reject, clamp, default
status-filter: reject, empty, ignore
animal-status-values: seen, any
name-limits: none, non-empty, 255
id-on-create: reject, ignore
unknown-body-fields: ignore, reject
unknown-query: ignore, reject
negative-quantity: reject, accept
media-type: reject, lenient
body-limit: 1mb, 10kb, none
check-order: auth-first, input-first
unknown-pet: 404, 400
pets-order: id, newest, shuffled
pets-paging: none, cursor, offset
created-status: absent, available
assigned-ids: next, int64
deprecation-headers: sent, absent
after-sunset: unchanged, 410, 404
inventory-on-create: entry, none
inventory-missing-entry: 404, create
inventory-status: unchanged, follows-quantity
animal-follows-stock: no, yes
order-status-field: hidden, shown
cancelled-orders: listed, removed
cancel-again: 409, 404, 204
conflict-body: error, empty, problem
order-shipping: manual, at-ship-date
cancel-restocks: no, yes
read-only-keys: ignored, 403
auth-challenge: sent, absent
error-codes: snake_case, UPPER_CASE, kebab-case, numeric
rate-limit: none, 10/s
unknown-method: 405, 404
absent-optionals: omitted, null
date-format: utc-seconds, utc-millis, offset
json-charset: bare, utf-8
cors: allowed, absent
`
  .trim()
  .split('\n');

test('the assumptions are the published ones, with their options in the published order', () => {
  const described = ASSUMPTION_IDS.map((id) => `${id}: ${optionsOf(id).join(', ')}`);
  expect(described).toEqual(PROMISED);
  for (const id of ASSUMPTION_IDS) {
    const { replies = {}, headers = {} } = assumptionShape(id);
    expect(optionsOf(id)).toEqual(expect.arrayContaining(Object.keys({ ...replies, ...headers })));
  }
});

test('any rate is an option of rate-limit', () => {
  for (const rate of ['none', '10/s', '5/s', '600/m']) {
    expect([isOptionOf('rate-limit', rate), isOptionOf('cancel-again', rate)]).toEqual([
      true,
      false,
    ]);
  }
  for (const rate of ['0/s', '05/s', '-1/s', '1.5/s', '5/h', '5', '/s', '5/s ', '']) {
    expect([rate, isOptionOf('rate-limit', rate)]).toEqual([rate, false]);
  }
});

test('the operations are the seven of the interface, with its replies, and 401 everywhere', () => {
  const described = Object.entries(OPERATIONS).map(
    ([id, { method, path, replies }]) => `${id} ${method} ${path} ${Object.keys(replies)}`,
  );
  expect(described).toEqual([
    'listPets GET /pets 200,401',
    'createPet POST /pets 201,401',
    'getPet GET /pets/{petId} 200,401',
    'listInventory GET /inventory 200,401',
    'updateInventory PATCH /inventory/{petId} 200,401',
    'listOrders GET /store/orders 200,401',
    'cancelOrder DELETE /store/orders/{orderId} 204,401,404,409',
  ]);
});

test('the error codes have a unique number for each status', () => {
  const numbers = Object.values(ERROR_CODES).flatMap(({ statuses, serial }) =>
    statuses.map((status) => `${status}${serial}`),
  );
  expect(new Set(numbers).size).toBe(numbers.length);
  for (const number of numbers) expect(number).toMatch(/^[45]\d{4}$/);
});

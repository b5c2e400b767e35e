// openapi-fetch, with the types that openapi-typescript generates from the OpenAPI document.

import { parse, stringify } from 'lossless-json';
import createClient from 'openapi-fetch';
import type { paths } from './schema.ts';

/** @param exact set up so that no id loses a digit, else as it comes */
export function createCalls(url: string, key: string, exact: boolean, id: number | bigint) {
  const client = createClient<paths>({
    baseUrl: url,
    headers: { Authorization: `Bearer ${key}` },
    ...(exact && { bodySerializer: (body: unknown) => stringify(body) ?? '' }),
  });
  const parseAs = exact ? 'text' : 'json';
  const petId = id as number;
  return {
    listPets: () =>
      client.GET('/pets', { params: { query: { limit: 100, status: 'available' } }, parseAs }),
    createPet: () => client.POST('/pets', { body: { name: 'Rex', categoryId: petId }, parseAs }),
    getPet: () => client.GET('/pets/{petId}', { params: { path: { petId } }, parseAs }),
    listInventory: () => client.GET('/inventory', { parseAs }),
    updateInventory: () =>
      client.PATCH('/inventory/{petId}', {
        params: { path: { petId } },
        body: { quantity: 7 },
        parseAs,
      }),
    listOrders: () => client.GET('/store/orders', { parseAs }),
    cancelOrder: (order = id) =>
      client.DELETE('/store/orders/{orderId}', {
        params: { path: { orderId: order as number } },
        parseAs,
      }),
  };
}

interface Result {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}

/** What it got; the body is undefined if there was none. */
export async function read(call: Promise<Result>, exact: boolean) {
  const { data, error, response } = await call;
  const body = data ?? error;
  const isEmpty = response.status === 204 || body === '';
  // It reads an Error itself, whatever `parseAs` says.
  const text = exact && typeof body === 'string' && !isEmpty;
  return { status: response.status, body: isEmpty ? undefined : text ? parse(body) : body };
}

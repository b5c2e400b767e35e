// The client that @hey-api/openapi-ts generates, calls and types.

import { parse, stringify } from 'lossless-json';
import type { Answer, Call, Service } from './call.ts';
import { createClient } from './generated/client/index.ts';
import * as sdk from './generated/sdk.gen.ts';

export async function call({ url, key, exact }: Service, it: Call): Promise<Answer> {
  const client = createClient({
    baseUrl: url,
    auth: key,
    ...(exact && {
      parseAs: 'text' as const,
      bodySerializer: (body: unknown) => stringify(body) ?? '',
    }),
  });
  const { data, error, response } = await send({ client }, it);
  if (response === undefined) throw error;
  const body = data ?? error;
  const none = response.status === 204 || body === '' || isEmpty(body);
  const text = exact && typeof body === 'string' && !none;
  return { status: response.status, body: none ? undefined : text ? parse(body) : body };
}

/** What it gives for an Error without a body. */
function isEmpty(body: unknown): boolean {
  return typeof body === 'object' && body !== null && Object.keys(body).length === 0;
}

function send(
  options: { client: ReturnType<typeof createClient> },
  it: Call,
): Promise<{ data?: unknown; error?: unknown; response?: Response }> {
  switch (it.operation) {
    case 'listPets':
      return sdk.listPets({ ...options, query: { limit: it.limit, status: it.status } });
    case 'createPet': {
      const body = { name: it.name, categoryId: it.categoryId as number };
      return sdk.createPet({ ...options, body });
    }
    case 'getPet':
      return sdk.getPet({ ...options, path: { petId: it.petId as number } });
    case 'listInventory':
      return sdk.listInventory(options);
    case 'updateInventory': {
      const path = { petId: it.petId as number };
      return sdk.updateInventory({ ...options, path, body: { quantity: it.quantity } });
    }
    case 'listOrders':
      return sdk.listOrders(options);
    case 'cancelOrder':
      return sdk.cancelOrder({ ...options, path: { orderId: it.orderId as number } });
  }
}

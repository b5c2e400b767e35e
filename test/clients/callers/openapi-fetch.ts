// openapi-fetch, with the types that openapi-typescript generates.

import { parse, stringify } from 'lossless-json';
import createClient from 'openapi-fetch';
import type { Answer, Call, Service } from './call.ts';
import type { paths } from './schema.ts';

export async function call({ url, key, exact }: Service, it: Call): Promise<Answer> {
  const client = createClient<paths>({
    baseUrl: url,
    headers: { Authorization: `Bearer ${key}` },
    ...(exact && { bodySerializer: (body: unknown) => stringify(body) ?? '' }),
  });
  const parseAs = exact ? 'text' : 'json';
  const { data, error, response } = await send(client, it, parseAs);
  const body = data ?? error;
  // It reads an Error itself, whatever `parseAs` says; a body that is empty is '' or {}.
  const none = response.status === 204 || body === '';
  const text = exact && typeof body === 'string' && !none;
  return { status: response.status, body: none ? undefined : text ? parse(body) : body };
}

function send(
  client: ReturnType<typeof createClient<paths>>,
  it: Call,
  parseAs: 'json' | 'text',
): Promise<{ data?: unknown; error?: unknown; response: Response }> {
  switch (it.operation) {
    case 'listPets': {
      const query = { limit: it.limit, status: it.status };
      return client.GET('/pets', { params: { query }, parseAs });
    }
    case 'createPet': {
      const body = { name: it.name, categoryId: it.categoryId as number };
      return client.POST('/pets', { body, parseAs });
    }
    case 'getPet': {
      const path = { petId: it.petId as number };
      return client.GET('/pets/{petId}', { params: { path }, parseAs });
    }
    case 'listInventory':
      return client.GET('/inventory', { parseAs });
    case 'updateInventory': {
      const path = { petId: it.petId as number };
      const body = { quantity: it.quantity };
      return client.PATCH('/inventory/{petId}', { params: { path }, body, parseAs });
    }
    case 'listOrders':
      return client.GET('/store/orders', { parseAs });
    case 'cancelOrder': {
      const path = { orderId: it.orderId as number };
      return client.DELETE('/store/orders/{orderId}', { params: { path }, parseAs });
    }
  }
}

import axios, { type AxiosInstance, type AxiosResponse } from 'axios';
import { parse, stringify } from 'lossless-json';
import type { Answer, Call, Service } from './call.ts';

export async function call({ url, key, exact }: Service, it: Call): Promise<Answer> {
  const client = axios.create({
    baseURL: url,
    headers: { Authorization: `Bearer ${key}` },
    validateStatus: () => true,
    ...(exact && {
      transformRequest: (body: unknown, headers) => {
        if (body === undefined) return undefined;
        headers.set('Content-Type', 'application/json');
        return stringify(body);
      },
      transformResponse: (text: string) => (text === '' ? '' : parse(text)),
    }),
  });
  const { status, data } = await send(client, it);
  return { status, body: data === '' ? undefined : data };
}

function send(client: AxiosInstance, it: Call): Promise<AxiosResponse<unknown>> {
  switch (it.operation) {
    case 'listPets':
      return client.get('/pets', { params: { limit: it.limit, status: it.status } });
    case 'createPet':
      return client.post('/pets', { name: it.name, categoryId: it.categoryId });
    case 'getPet':
      return client.get(`/pets/${it.petId}`);
    case 'listInventory':
      return client.get('/inventory');
    case 'updateInventory':
      return client.patch(`/inventory/${it.petId}`, { quantity: it.quantity });
    case 'listOrders':
      return client.get('/store/orders');
    case 'cancelOrder':
      return client.delete(`/store/orders/${it.orderId}`);
  }
}

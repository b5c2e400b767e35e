import { describe, expect, test } from 'vitest';
import { openMock } from '../../helpers/in-process.ts';

const REX = { name: 'Rex', categoryId: 1 };

describe('the records of the control API', () => {
  test('have their path in Location, and an animal takes what is of it along', async () => {
    const { control } = await openMock();
    const added = await control('POST animals', REX);
    expect([added.headers.location, added.json]).toEqual([
      '/__mock/animals/65',
      { id: 65, ...REX },
    ]);
    const gone = { status: 404, json: { code: 'pet_not_found', status: 404 } };
    expect(await control('DELETE animals/66')).toMatchObject(gone);
    await control('POST orders', { id: 50, petId: 65 });
    expect((await control('DELETE animals/65')).text).toBe('');
    expect(await control('GET orders/50')).toMatchObject({ json: { code: 'order_not_found' } });
  });

  test('get no id above the highest int64', async () => {
    const { control } = await openMock();
    const last = await control('POST animals', { id: 2n ** 63n - 1n, ...REX });
    expect(last.status).toBe(201);
    const refused = { status: 507, json: { code: 'ids_exhausted' } };
    expect(await control('POST animals', REX)).toMatchObject(refused);
  });
});

describe('an id in the control API', () => {
  test.each(['9007199254740993', '9223372036854775807', '-9223372036854775808'])(
    '%s keeps every digit in every endpoint',
    async (id) => {
      const { send, control } = await openMock();
      const animal = `{"id":${id},"name":"Rex","categoryId":${id}}`;
      const entry = `{"petId":${id},"quantity":1,"status":"sold"}`;
      const order = `{"id":${id},"petId":${id},"status":"pending"}`;
      for (const [collection, body] of Object.entries({
        animals: animal,
        inventory: entry,
        orders: order,
      })) {
        const post = await control(`POST ${collection}`, body);
        expect(post).toMatchObject({ status: 201, text: body });
        expect(post.headers.location).toBe(`/__mock/${collection}/${id}`);
        for (const method of ['GET', 'PUT', 'PATCH']) {
          const sent = method === 'GET' ? undefined : body;
          expect((await control(`${method} ${collection}/${id}`, sent)).text).toBe(body);
        }
        expect((await control(`GET ${collection}`)).text).toContain(body);
      }
      expect((await control(`GET orders?petId=${id}`)).text).toBe(`[${order}]`);
      expect((await send('GET', `/v1/pets/${id}`)).text).toContain(`"id":${id}`);

      const state = `{"animals":[${animal}],"inventory":[${entry}],"orders":[${order}]}`;
      const put = await control('PUT state', state);
      expect(put.text.replaceAll(/\s/g, '')).toBe(state);
      const merged = `{"animals":{"set":[{"id":${id},"name":"Max"}]},"orders":{"remove":[${id}]}}`;
      const after = state.replace('Rex', 'Max').replace(order, '');
      const patched = await control('PATCH state', merged);
      expect(patched.text.replaceAll(/\s/g, '')).toBe(after);
      const scenario = `{"scenario":{"state":{"animals":{"set":[${animal}]}}}}`;
      expect((await control('PUT scenario', scenario)).status).toBe(200);
      expect((await control(`GET animals/${id}`)).text).toBe(animal);
      expect((await control(`DELETE animals/${id}`)).status).toBe(204);
    },
  );

  test.each(['9223372036854775808', '-9223372036854775809', '1.5', '"1"', 'true', 'null'])(
    '%s is refused by every endpoint',
    async (id) => {
      const { control } = await openMock();
      const animal = `{"id":${id},"name":"Rex","categoryId":1}`;
      for (const [call, body] of [
        ['POST animals', animal],
        ['POST animals', `{"name":"Rex","categoryId":${id}}`],
        ['POST inventory', `{"petId":${id},"quantity":1,"status":"sold"}`],
        ['POST orders', `{"id":${id},"petId":1}`],
        ['PUT animals/1', animal],
        ['PATCH animals/1', `{"categoryId":${id}}`],
        ['PUT state', `{"animals":[${animal}]}`],
        ['PATCH state', `{"animals":[${animal}]}`],
        ['PATCH state', `{"animals":{"remove":[${id}]}}`],
        ['PUT scenario', `{"scenario":{"state":{"animals":{"set":[${animal}]}}}}`],
      ] as const) {
        expect([call, body, (await control(call, body)).status]).toEqual([call, body, 400]);
      }
    },
  );
});

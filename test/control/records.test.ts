import { expect, test } from 'vitest';
import { describeServer } from '../helpers/wire.ts';

const REX = { name: 'Rex', categoryId: 1 };

describeServer('the records of the control API', (open) => {
  test('an animal can be created, read, replaced, updated and deleted', async () => {
    const { send } = await open();
    const added = await send('POST', '/__mock/animals', { body: REX });
    expect(added).toMatchObject({ status: 201, json: { ...REX, id: 65 } });
    expect(added.headers.location).toBe('/__mock/animals/65');
    const path = '/__mock/animals/65';
    expect(await send('GET', path)).toMatchObject({ status: 200, json: { ...REX, id: 65 } });
    expect(await send('GET', '/v1/pets/65')).toMatchObject({ status: 200, json: REX });
    const changed = await send('PATCH', path, { body: { status: 'sold' } });
    expect(changed.json).toEqual({ ...REX, id: 65, status: 'sold' });
    const without = await send('PATCH', path, { body: { status: null } });
    expect(without.json).toEqual({ ...REX, id: 65 });
    const replaced = await send('PUT', path, { body: { name: 'Max', categoryId: 2 } });
    expect(replaced).toMatchObject({ status: 200, json: { id: 65, name: 'Max', categoryId: 2 } });
    expect(await send('DELETE', path)).toMatchObject({ status: 204, text: '' });
    expect(await send('DELETE', path)).toMatchObject({
      status: 404,
      json: { code: 'pet_not_found', status: 404 },
    });
  });

  test('deleting an animal deletes its inventory entry and its orders', async () => {
    const { send } = await open();
    const [order] = [(await send('GET', '/__mock/orders/1')).json].map(Object);
    const id = order.petId;
    await send('DELETE', `/__mock/animals/${id}`);
    expect(await send('GET', '/__mock/orders/1')).toMatchObject({ status: 404 });
    expect(await send('GET', `/__mock/inventory/${id}`)).toMatchObject({ status: 404 });
  });

  test('PUT creates a record that does not exist', async () => {
    const { send } = await open();
    const put = await send('PUT', '/__mock/orders/-7', { body: { petId: 1, status: 'cancelled' } });
    expect(put).toMatchObject({ status: 201, json: { id: -7, petId: 1, status: 'cancelled' } });
  });

  test('no id is assigned above the highest int64', async () => {
    const { send } = await open();
    const body = '{"id":9223372036854775807,"name":"Last","categoryId":1}';
    expect(await send('POST', '/__mock/animals', { body })).toMatchObject({ status: 201 });
    expect(await send('POST', '/__mock/animals', { body: REX })).toMatchObject({
      status: 507,
      json: { code: 'ids_exhausted' },
    });
  });

  test('lists take json-server queries and count all records', async () => {
    const { send } = await open();
    const all = await send('GET', '/__mock/animals');
    const { length } = Object(all.json);
    expect(all.headers['x-total-count']).toBe(String(length));
    const page = await send('GET', '/__mock/animals?_sort=id&_order=desc&_page=2&_limit=3');
    expect(page.headers['x-total-count']).toBe(String(length));
    expect(page.json).toEqual(Object(all.json).toReversed().slice(3, 6));
    expect(await send('GET', '/__mock/animals?nmae=Rex')).toMatchObject({
      status: 400,
      json: { code: 'invalid_input', message: expect.stringContaining('did you mean name?') },
    });
  });
});

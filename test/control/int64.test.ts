import { expect, test } from 'vitest';
import { describeServer } from '../helpers/wire.ts';

const EXACT = ['9007199254740993', '9223372036854775807', '-9223372036854775808'];
const WRONG = ['9223372036854775808', '-9223372036854775809', '1.5', '"1"', 'true', 'null'];

describeServer('int64 in the control API', (open) => {
  test.each(EXACT)('%s keeps every digit in every endpoint', async (id) => {
    const { send } = await open();
    const animal = `{"id":${id},"name":"Rex","categoryId":${id}}`;
    const entry = `{"petId":${id},"quantity":1,"status":"sold"}`;
    const order = `{"id":${id},"petId":${id}}`;
    for (const [collection, body] of [
      ['animals', animal],
      ['inventory', entry],
      ['orders', order],
    ] as const) {
      const path = `/__mock/${collection}`;
      const post = await send('POST', path, { body });
      expect(post).toMatchObject({ status: 201, text: body });
      expect(post.headers.location).toBe(`${path}/${id}`);
      expect((await send('GET', `${path}/${id}`)).text).toBe(body);
      expect((await send('PUT', `${path}/${id}`, { body })).text).toBe(body);
      expect((await send('PATCH', `${path}/${id}`, { body })).text).toBe(body);
      expect((await send('GET', path)).text).toContain(body);
    }
    expect((await send('GET', `/__mock/orders?petId=${id}`)).text).toBe(`[${order}]`);
    expect((await send('GET', `/v1/pets/${id}`)).text).toContain(`"id":${id}`);

    const state = `{"animals":[${animal}],"inventory":[${entry}],"orders":[${order}]}`;
    expect(await send('PUT', '/__mock/state', { body: state })).toMatchObject({
      status: 200,
      text: state,
    });
    const merged = `{"animals":{"set":[{"id":${id},"name":"Max"}]},"orders":{"remove":[${id}]}}`;
    expect((await send('PATCH', '/__mock/state', { body: merged })).text).toBe(
      state.replace('Rex', 'Max').replace(order, ''),
    );
    const scenario = `{"scenario":{"state":{"animals":{"set":[${animal}]}}}}`;
    expect(await send('PUT', '/__mock/scenario', { body: scenario })).toMatchObject({
      status: 200,
    });
    expect((await send('GET', `/__mock/animals/${id}`)).text).toBe(animal);
    expect(await send('DELETE', `/__mock/animals/${id}`)).toMatchObject({ status: 204 });
  });

  test.each(WRONG)('%s is refused as an id by every endpoint', async (id) => {
    const { send } = await open();
    const before = (await send('GET', '/__mock/state')).text;
    const animal = `{"id":${id},"name":"Rex","categoryId":1}`;
    for (const [method, path, body] of [
      ['POST', '/__mock/animals', animal],
      ['POST', '/__mock/animals', `{"name":"Rex","categoryId":${id}}`],
      ['POST', '/__mock/inventory', `{"petId":${id},"quantity":1,"status":"sold"}`],
      ['POST', '/__mock/orders', animal.replace('"name":"Rex","categoryId"', '"petId"')],
      ['PUT', '/__mock/animals/1', animal],
      ['PATCH', '/__mock/animals/1', `{"categoryId":${id}}`],
      ['PUT', '/__mock/state', `{"animals":[${animal}]}`],
      ['PATCH', '/__mock/state', `{"animals":[${animal}]}`],
      ['PATCH', '/__mock/state', `{"animals":{"remove":[${id}]}}`],
      ['PUT', '/__mock/scenario', `{"scenario":{"state":{"animals":{"set":[${animal}]}}}}`],
    ] as const) {
      const reply = await send(method, path, { body });
      expect(reply, `${method} ${path} ${body}`).toMatchObject({ status: 400 });
    }
    expect((await send('GET', '/__mock/state')).text).toBe(before);
  });
});

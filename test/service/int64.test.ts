import { expect, test } from 'vitest';
import { describeBothWays, fixtureFile } from '../helpers/wire.ts';

/** 2^53+1, which a double rounds, and both ends of an int64. */
const EXACT = ['9007199254740993', '9223372036854775807', '-9223372036854775808'];

/** Anything but an int64, as JSON text. */
const REFUSED = ['9223372036854775808', '-9223372036854775809', '1.5', '"1"'];

function fixtureOf(id: string): string {
  return `{
    "animals": [{ "id": ${id}, "name": "Rex", "categoryId": ${id}, "status": "available" }],
    "inventory": [{ "petId": ${id}, "quantity": 4, "status": "available" }],
    "orders": [{ "id": ${id}, "petId": ${id}, "quantity": 1 }]
  }`;
}

describeBothWays('an int64', (open) => {
  test.each(EXACT)('%s is exact in a fixture, a path and every reply', async (id) => {
    const client = await open({ fixture: fixtureFile(fixtureOf(id)) });
    const animal = `{"id":${id},"name":"Rex","categoryId":${id},"status":"available"}`;

    expect((await client.send('GET', '/v1/pets')).text).toBe(`[${animal}]`);
    expect(await client.send('GET', `/v1/pets/${id}`)).toMatchObject({ status: 200, text: animal });
    expect((await client.send('GET', '/v1/inventory')).text).toBe(
      `[{"petId":${id},"quantity":4,"status":"available"}]`,
    );
    expect(
      await client.send('PATCH', `/v1/inventory/${id}`, { body: { quantity: 7 } }),
    ).toMatchObject({ status: 200, text: `{"petId":${id},"quantity":7,"status":"available"}` });
    expect((await client.send('GET', '/v1/store/orders')).text).toBe(
      `[{"id":${id},"petId":${id},"quantity":1}]`,
    );
    expect((await client.send('DELETE', `/v1/store/orders/${id}`)).status).toBe(204);
  });

  test.each(EXACT)('%s in a body is returned with the same digits', async (categoryId) => {
    const client = await open();
    const body = `{"name":"Rex","categoryId":${categoryId}}`;

    const created = await client.send('POST', '/v1/pets', { body });
    expect(created).toMatchObject({
      status: 201,
      text: `{"id":65,"name":"Rex","categoryId":${categoryId}}`,
    });
    expect((await client.send('GET', '/v1/pets/65')).text).toBe(created.text);
  });

  test.each(REFUSED)('%s is refused in a path', async (id) => {
    const client = await open();
    const segment = encodeURIComponent(id);

    for (const reply of [
      await client.send('GET', `/v1/pets/${segment}`),
      await client.send('PATCH', `/v1/inventory/${segment}`, { body: { quantity: 1 } }),
      await client.send('DELETE', `/v1/store/orders/${segment}`),
    ]) {
      expect(reply).toMatchObject({ status: 400, json: { code: 'invalid_input', status: 400 } });
    }
  });

  test.each(REFUSED)('%s is refused as a categoryId', async (categoryId) => {
    const client = await open();
    const body = `{"name":"Rex","categoryId":${categoryId}}`;

    const reply = await client.send('POST', '/v1/pets', { body });
    expect(reply).toMatchObject({ status: 400, json: { code: 'invalid_input' } });
    expect(reply.text).toContain('body.categoryId');
    expect((await client.send('GET', '/v1/pets/65')).status).toBe(404);
  });

  test.each([
    ['next', 507],
    ['int64', 201],
  ] as const)('above the highest one, assigned-ids=%s decides the %i', async (option, status) => {
    const fixture = fixtureFile(fixtureOf('9223372036854775807'));
    const client = await open({ fixture, assume: { 'assigned-ids': option } });
    const created = await client.send('POST', '/v1/pets', { body: { name: 'Rex', categoryId: 1 } });
    expect(created.status).toBe(status);
    expect(created.headers['mock-basis']).toBe(`assumed;by="assigned-ids=${option}"`);
    const id = /"id":(\d+)/.exec(created.text)?.[1] ?? '1';
    const found = await client.send('GET', `/v1/pets/${id}`);
    expect(found.status).toBe(status === 201 ? 200 : 404);
  });
});

import { describe, expect, test } from 'vitest';
import { patchReply } from '../../../src/core/sandbox/forced-reply.ts';
import { createReply, jsonBody } from '../../../src/core/service/reply.ts';
import type { RuleDefinition, ServerOptions } from '../../../src/index.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { openMock } from '../../helpers/in-process.ts';
import { openServer, type RequestParts } from '../../helpers/wire.ts';

const NO_BASIS = { kind: 'documented' } as const;

/** RFC 7396, appendix A, without targets that are scalars: a reply of the service is none. */
// biome-ignore format: a row for each
test.each([
  ['{"a":"b"}', { a: 'c' }, '{"a":"c"}'],
  ['{"a":"b"}', { b: 'c' }, '{"a":"b","b":"c"}'],
  ['{"a":"b"}', { a: null }, '{}'],
  ['{"a":"b","b":"c"}', { a: null }, '{"b":"c"}'],
  ['{"a":["b"]}', { a: 'c' }, '{"a":"c"}'],
  ['{"a":"c"}', { a: ['b'] }, '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', { a: { b: 'd', c: null } }, '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', { a: [1] }, '{"a":[1]}'],
  ['["a","b"]', ['c', 'd'], '["c","d"]'],
  ['{"a":"b"}', ['c'], '["c"]'],
  ['{"a":"foo"}', null, 'null'],
  ['{"a":"foo"}', 'bar', '"bar"'],
  ['{"e":null}', { a: 1 }, '{"e":null,"a":1}'],
  ['[1,2]', { a: 'b', c: null }, '{"a":"b"}'],
  ['{}', { a: { bb: { ccc: null } } }, '{"a":{"bb":{}}}'],
  ['{"a":1}', JSON.parse('{"__proto__":{"b":1}}'), '{"a":1,"__proto__":{"b":1}}'],
])('%s patched with %j is %s', (before, body, after) => {
  const reply = createReply(NO_BASIS, 200, jsonBody(before));
  expect(patchReply(reply, { body }, NO_BASIS).body).toBe(after);
});

type Patch = NonNullable<RuleDefinition['patch']>;

/** A mock whose rules patch the replies to every call. */
async function patching(patch: Patch, options: ServerOptions = {}, open = openMock) {
  const { send, control } = await open(options);
  const rules = [{ on: '*', patch }];
  expect((await control('PUT scenarios/mine', { rules })).status).toBe(201);
  expect((await control('PUT scenario', { scenarios: ['mine'] })).status).toBe(200);
  const ask = async (call: string, parts?: RequestParts) => {
    const [method = '', path = ''] = call.split(' ');
    const answer = await send(method, `/v1${path}`, parts);
    const { json } = await control('GET requests?order=desc&limit=1');
    return { ...answer, exchange: Object(json).exchanges[0] };
  };
  return { ask, send, control };
}

const REX = { id: 1, name: 'Rex', categoryId: 1, status: 'available' };

describe('a patch', () => {
  // biome-ignore format: a row for each
  test.each<[string, string, Patch, number, unknown, readonly string[]]>([
    ['replaces members, adds some and removes one', 'GET /pets/1', { body: { name: null, status: 'resting', tag: { a: 1 } } }, 200, { id: 1, categoryId: 1, status: 'resting', tag: { a: 1 } }, ['$.name: "Rex" → nothing', '$.status: "available" → "resting"', '$.tag: nothing → an object']],
    ['changes the status alone, and the body stays', 'GET /pets/1', { status: 203 }, 203, REX, ['status: 200 → 203']],
    ['changes each record of a list, then those that match', 'GET /pets?limit=2', { each: { status: 'resting' }, items: [{ where: { id: [2, 7], tag: null }, body: { status: 'awake' } }] }, 200, [{ ...REX, status: 'resting' }, expect.objectContaining({ id: 2, status: 'awake' })], ['$[0].status: "available" → "resting"', '$[1].status: "available" → "awake"']],
    ['changes an Error, which is a record too', 'GET /pets/99', { items: [{ where: { status: 404 }, body: { code: 'gone' } }] }, 404, expect.objectContaining({ code: 'gone', status: 404 }), ['$.code: "pet_not_found" → "gone"']],
    ['gives a body to a reply that has none', 'DELETE /store/orders/1', { status: 200, body: { ok: true } }, 200, { ok: true }, ['status: 204 → 200', '$: nothing → an object']],
    ['takes the body of a reply whose new status has none', 'GET /pets/1', { status: 204 }, 204, undefined, ['status: 200 → 204']],
    ['takes a list for the record that it becomes', 'GET /inventory', { body: { items: [] } }, 200, { items: [] }, ['$: an array → an object']],
  ])('%s', async (_what, call, patch, status, json, patched) => {
    const { ask } = await patching(patch);
    const answer = await ask(call);
    expect([answer.status, answer.json]).toEqual([status, json]);
    expect(answer.headers['mock-basis']).toMatch(/^forced;by="mine#1"/);
    expect(answer.exchange).toMatchObject({ status, patched, basis: 'forced', by: ['mine#1'] });
  });

  test('sets, repeats and removes headers, over a real connection', async () => {
    const headers = { 'x-own': ['a', 'b'], Deprecation: null, 'Content-Type': 'text/plain' };
    const { ask, send } = await patching({ headers }, {}, openServer);
    const { headers: sent, json, exchange } = await ask('GET /pets/1');
    expect(sent).toMatchObject({ 'x-own': 'a, b', 'content-type': 'text/plain' });
    expect([sent.deprecation, json]).toEqual([undefined, REX]);
    expect(exchange.patched).toContain('header Content-Type: "application/json" → "text/plain"');
    const { headers: head } = await send('HEAD', '/v1/pets/1');
    expect(head['content-length']).toBe(sent['content-length']);
  });

  test('of the reply of a deployment to HEAD keeps its length, and has no body to change', async () => {
    const upstream = (await serverFor()).url;
    const { ask, send } = await patching({ headers: { 'x-own': '1' } }, { upstream }, openServer);
    const whole = await send('GET', '/v1/pets/1');
    const { headers } = await ask('HEAD /pets/1');
    expect([headers['x-own'], headers['content-length']]).toEqual([
      '1',
      whole.headers['content-length'],
    ]);
    const other = await patching({ body: { tag: 1 } }, { upstream }, openServer);
    expect((await other.ask('HEAD /pets/1')).exchange).not.toHaveProperty('patched');
  });

  test('keeps the digits of ids, and of numbers as they are written', async () => {
    const { send, control } = await openMock({ scenarios: ['int64-ids'] });
    const where = '{"id":9007199254740993}';
    const patch = `{"items":[{"where":${where},"body":{"weight":1.50,"twin":9007199254740995}}]}`;
    const scenario = `{"scenario":{"rules":[{"on":"*","patch":${patch}}]}}`;
    expect((await control('PUT scenario', scenario)).status).toBe(200);
    const { text } = await send('GET', '/v1/pets');
    expect(text).toMatch(/"id":9007199254740993,.*"weight":1\.50,"twin":9007199254740995\}/);
    expect(text.match(/weight/g)).toHaveLength(1);
    expect(text).toContain('"id":9007199254740992,');
  });

  test('that changes nothing leaves the reply and its basis', async () => {
    const { ask } = await patching({ body: { tag: null }, items: [{ where: { id: 9 }, body: 1 }] });
    const { headers, json, exchange } = await ask('GET /pets/1');
    expect([json, headers['mock-basis']]).toEqual([REX, 'documented']);
    expect(exchange).not.toHaveProperty('patched');
    const bodiless = await (await patching({ body: { tag: 1 } })).ask('DELETE /store/orders/1');
    expect([bodiless.status, bodiless.headers['mock-basis']]).toEqual([204, 'documented']);
  });

  test('leaves a body as it is that is no JSON or larger than the limit, and says so', async () => {
    const { ask } = await patching({ each: { tag: 1 } }, { animals: 1, orders: 20_000 });
    const { text, headers, exchange } = await ask('GET /store/orders');
    expect(text.includes('tag')).toBe(false);
    expect(headers['mock-basis']).toBe('documented');
    expect(exchange.patched).toEqual([
      expect.stringMatching(/^body: as it was, .* 1048576 bytes$/),
    ]);
  });

  test('of a scenario is reached with Prefer, and runs the operation', async () => {
    const { send, control } = await openMock();
    await control('PUT scenarios/odd', { rules: [{ on: 'createPet', patch: { status: 200 } }] });
    const body = { name: 'Rex', categoryId: 1 };
    const headers = { Prefer: 'scenario=odd' };
    const { status, json } = await send('POST', '/v1/pets', { body, headers });
    expect(status).toBe(200);
    expect((await send('GET', `/v1/pets/${Object(json).id}`)).json).toMatchObject(body);
  });
});

describe('a reply that the document does not allow', () => {
  // biome-ignore format: a row for each
  test.each<[string, object, string, readonly string[]]>([
    ['has an unknown success', { on: 'cancelOrder', reply: { status: 200 } }, 'DELETE /store/orders/1', ['status: expected 204, 401, 404 or 409, or an Error from 400 on, found 200']],
    ['lacks a member', { on: 'getPet', reply: { status: 200, body: { id: 7, name: 'Rex' } } }, 'GET /pets/1', ['$.categoryId: expected an integer from -2^63 to 2^63-1, found nothing']],
    ['has a member of another type, and one more', { on: 'listPets', patch: { each: { name: 5, tag: 1 } } }, 'GET /pets', ['$[].name: expected a string, found 5', '$[]: expected only id, name, categoryId, status, found "tag"']],
    ['has another media type', { on: 'getPet', patch: { headers: { 'Content-Type': 'text/plain' } } }, 'GET /pets/1', ['Content-Type: expected application/json, found "text/plain"']],
    ['is an Error with another status', { on: 'getPet', patch: { status: 503 } }, 'GET /pets/99', ['$.status: expected 503, found 404']],
    ['is not JSON', { on: 'listOrders', reply: { status: 200, headers: { 'Content-Type': 'application/json' }, body: 'x' } }, 'GET /store/orders', ['$: expected an array of Order objects, found "x"']],
    ['is an error of another form', { on: 'getPet', reply: { status: 500, body: [] } }, 'GET /pets/1', ['$: expected one Error object, found an array']],
  ])('%s, and says so', async (_what, rule, call, problems) => {
    const { send, control } = await openMock();
    const [method = '', path = ''] = call.split(' ');
    const count = async () => Object((await control('GET coverage')).json).offContract;
    for (const declared of [false, true]) {
      const scenario = { rules: [rule], offContract: declared };
      expect((await control('PUT scenario', { scenario })).status).toBe(200);
      const { headers } = await send(method, `/v1${path}`);
      expect(headers['mock-basis']).toBe('forced;by="request#1";off-contract');
      const { json } = await control('GET requests?search=is:off-contract&order=desc');
      expect(Object(json).exchanges[0].offContract).toEqual({ problems, declared });
      expect(await count()).toMatchObject({ count: 1, by: ['request#1'] });
    }
  });

  test.each([
    [{ on: 'getPet', reply: { status: 418 } }, 'GET /v1/pets/1'],
    [{ on: 'cancelOrder', reply: { status: 409, body: 'any' } }, 'DELETE /v1/store/orders/1'],
    [{ on: 'getPet', patch: { body: { status: null, name: 'Ada' } } }, 'GET /v1/pets/1'],
    [{ on: 'listPets', fault: 'html' }, 'GET /v1/pets'],
    [{ on: 'getPet', reply: { status: 503, empty: true } }, 'GET /v1/pets/1'],
    [{ on: 'getPet', reply: { status: 200, body: {} }, fault: 'malformed-json' }, 'GET /v1/pets/1'],
  ])('is not what %j gives', async (rule, call) => {
    const { send, control } = await openMock();
    await control('PUT scenario', { scenario: { rules: [rule] } });
    const [method = '', path = ''] = call.split(' ');
    await send(method, path).catch(() => 'broken');
    expect((await control('GET requests')).text).not.toContain('offContract');
  });
});

import { Agent, request } from 'node:http';
import fc from 'fast-check';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { INT64_MAX } from '../../src/contract/int64.ts';
import { parseJson, writeJson } from '../../src/contract/json.ts';
import { type RunningServer, type ServerOptions, startServer } from '../../src/server.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function start(options: ServerOptions = {}): Promise<RunningServer> {
  const server = await startServer({ ...options, port: 0 });
  closers.push(() => server.close());
  return server;
}

interface Answer {
  readonly status: number;
  readonly basis: string | undefined;
  readonly json: unknown;
}

const agent = new Agent({ keepAlive: true, maxSockets: 50 });
afterAll(() => agent.destroy());

/** Asks as a client does that knows nothing of sandboxes but its base URL, key and headers. */
function ask(
  port: number,
  method: string,
  path: string,
  { key = 'demo-key', headers = {}, body }: { key?: string; headers?: object; body?: object } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port,
        host: '127.0.0.1',
        method,
        path,
        agent,
        headers: {
          Authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
      },
      (reply) => {
        const chunks: Buffer[] = [];
        reply.on('data', (chunk: Buffer) => chunks.push(chunk));
        reply.on('error', reject);
        reply.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          const basis = reply.headers['mock-basis'];
          resolve({
            status: reply.statusCode ?? 0,
            basis: Array.isArray(basis) ? basis.join() : basis,
            json: text === '' ? undefined : parseJson(text),
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : writeJson(body));
  });
}

describe('a sandbox', () => {
  test.each<[string, Parameters<typeof ask>]>([
    ['in the path', [0, 'DELETE', '/~one/v1/store/orders/1']],
    ['in the key', [0, 'DELETE', '/v1/store/orders/1', { key: 'demo-key~one' }]],
    ['in a header', [0, 'DELETE', '/v1/store/orders/1', { headers: { 'Mock-Sandbox': 'one' } }]],
  ])('is named %s', async (_where, [, method, path, sent]) => {
    const { port } = await start();
    expect((await ask(port, method, path, sent)).status).toBe(204);
    expect((await ask(port, 'DELETE', '/~one/v1/store/orders/1')).status).toBe(409);
    expect((await ask(port, 'DELETE', '/v1/store/orders/1')).status).toBe(204);
  });

  test('is the one in the path before the one in the key, and that before the header', async () => {
    const { port } = await start();
    const headers = { 'Mock-Sandbox': 'header' };
    const named = { key: 'demo-key~key', headers };
    expect((await ask(port, 'DELETE', '/~path/v1/store/orders/1', named)).status).toBe(204);
    expect((await ask(port, 'DELETE', '/v1/store/orders/1', named)).status).toBe(204);
    expect((await ask(port, 'DELETE', '/v1/store/orders/1', { headers })).status).toBe(204);
    for (const name of ['path', 'key', 'header']) {
      expect((await ask(port, 'DELETE', `/~${name}/v1/store/orders/1`)).status).toBe(409);
    }
  });

  test('named default is the one without a name', async () => {
    const { port } = await start();
    expect((await ask(port, 'DELETE', '/~default/v1/store/orders/1')).status).toBe(204);
    expect((await ask(port, 'DELETE', '/v1/store/orders/1')).status).toBe(409);
  });

  test('takes a key that has a ~ of its own as that key', async () => {
    const { port } = await start({ keys: { valid: ['a~b'] } });
    expect((await ask(port, 'DELETE', '/v1/store/orders/1', { key: 'a~b' })).status).toBe(204);
    expect((await ask(port, 'DELETE', '/v1/store/orders/1', { key: 'a~b' })).status).toBe(409);
    expect((await ask(port, 'DELETE', '/v1/store/orders/1', { key: 'a~b~c' })).status).toBe(204);
  });

  test.each(['a b', '', 'x'.repeat(65), 'ä', '..%2f', 'a/b'])(
    'cannot be called %j in a header',
    async (name) => {
      const { port } = await start();
      const headers = { 'Mock-Sandbox': Buffer.from(name).toString('latin1') };
      const answer = await ask(port, 'GET', '/v1/pets', { headers });
      expect(answer).toMatchObject({ status: 400, json: { code: 'sandbox_name_invalid' } });
    },
  );

  test('must be named where that is required', async () => {
    const { port } = await start({ sandboxRequired: true });
    const answer = await ask(port, 'GET', '/v1/pets');
    expect(answer).toMatchObject({ status: 400, json: { code: 'sandbox_required' } });
    expect((await ask(port, 'GET', '/~one/v1/pets')).status).toBe(200);
    expect((await ask(port, 'GET', '/~staging/v1/pets', { key: 'staging-key' })).status).toBe(200);
  });

  test('is refused where there are as many as there may be, and none is dropped', async () => {
    const { port } = await start({ maxSandboxes: 2 });
    expect((await ask(port, 'DELETE', '/~one/v1/store/orders/1')).status).toBe(204);
    expect((await ask(port, 'GET', '/~two/v1/pets')).status).toBe(200);
    const answer = await ask(port, 'GET', '/~three/v1/pets');
    expect(answer).toMatchObject({ status: 503, json: { code: 'too_many_sandboxes' } });
    expect((await ask(port, 'DELETE', '/~one/v1/store/orders/1')).status).toBe(409);
    expect((await ask(port, 'GET', '/~staging/v1/pets', { key: 'staging-key' })).status).toBe(200);
  });

  test('keeps its rate apart', async () => {
    const { port } = await start({ assume: { 'rate-limit': '10/s' }, clock: 0, frozen: true });
    for (let count = 0; count < 10; count += 1) await ask(port, 'GET', '/~one/v1/pets/1');
    expect((await ask(port, 'GET', '/~one/v1/pets/1')).status).toBe(429);
    expect((await ask(port, 'GET', '/~two/v1/pets/1')).status).toBe(200);
  });
});

/** What a client does, and what the model of its sandbox expects of it. */
type Step =
  | { readonly kind: 'create'; readonly name: string }
  | { readonly kind: 'read'; readonly pick: number }
  | { readonly kind: 'cancel'; readonly order: number }
  | { readonly kind: 'restock'; readonly petId: number; readonly quantity: number }
  | { readonly kind: 'stock'; readonly petId: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), name: fc.string({ minLength: 1 }) }),
  fc.record({ kind: fc.constant('read' as const), pick: fc.nat(20) }),
  fc.record({ kind: fc.constant('cancel' as const), order: fc.constantFrom(1, 2, 3, 4, 5) }),
  fc.record({
    kind: fc.constant('restock' as const),
    petId: fc.integer({ min: 1, max: 5 }),
    quantity: fc.nat(100),
  }),
  fc.record({ kind: fc.constant('stock' as const), petId: fc.integer({ min: 1, max: 5 }) }),
);

/** A model of one sandbox over the default fixture, which knows only what its own client did. */
class Model {
  readonly #names: string[] = [];
  readonly #orders = new Map([
    [1, 204],
    [2, 409],
    [3, 409],
    [4, 204],
    [5, 204],
  ]);
  readonly #stock = new Map<number, number>();

  async take(port: number, base: string, it: Step): Promise<void> {
    switch (it.kind) {
      case 'create': {
        const body = { name: it.name, categoryId: INT64_MAX };
        const id = FIRST_NEW_ID + this.#names.length;
        const { status, json } = await ask(port, 'POST', `${base}/pets`, { body });
        expect({ status, json }).toEqual({ status: 201, json: { id, ...body } });
        this.#names.push(it.name);
        return;
      }
      case 'read': {
        const { status, json } = await ask(port, 'GET', `${base}/pets/${FIRST_NEW_ID + it.pick}`);
        const name = this.#names[it.pick];
        if (name === undefined) expect(status).toBe(404);
        else expect(json).toMatchObject({ name });
        return;
      }
      case 'cancel': {
        const { status } = await ask(port, 'DELETE', `${base}/store/orders/${it.order}`);
        expect(status).toBe(this.#orders.get(it.order));
        this.#orders.set(it.order, 409);
        return;
      }
      case 'restock': {
        const { quantity, petId } = it;
        const body = { quantity };
        const { json } = await ask(port, 'PATCH', `${base}/inventory/${petId}`, { body });
        expect(json).toMatchObject({ petId, quantity });
        this.#stock.set(petId, quantity);
        return;
      }
      case 'stock': {
        const quantity = this.#stock.get(it.petId);
        if (quantity === undefined) return;
        const { json } = await ask(port, 'GET', `${base}/inventory`);
        expect(json).toContainEqual(expect.objectContaining({ petId: it.petId, quantity }));
      }
    }
  }
}

/** The id of the first animal that is created over the default fixture. */
let FIRST_NEW_ID = 0;

async function findFirstNewId(port: number): Promise<void> {
  const body = { name: 'probe', categoryId: 1 };
  const { json } = await ask(port, 'POST', '/~probe/v1/pets', { body });
  FIRST_NEW_ID = Number(new Map(Object.entries(json ?? {})).get('id'));
}

describe('isolation', () => {
  test('200 clients at once, each in its own sandbox, see nothing of one another', async () => {
    const { port } = await start();
    await findFirstNewId(port);
    const scripts = fc.sample(fc.array(step, { minLength: 10, maxLength: 20 }), {
      numRuns: 200,
      seed: 42,
    });
    await Promise.all(
      scripts.map(async (script, client) => {
        const model = new Model();
        for (const it of script) await model.take(port, `/~client-${client}/v1`, it);
      }),
    );
  });

  test('clients that take turns in any order are each alone in their sandbox', async () => {
    const { port } = await start();
    await findFirstNewId(port);
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ client: fc.nat(3), step }), { maxLength: 30 }),
        async (turns) => {
          run += 1;
          const models = new Map<number, Model>();
          for (const { client, step: it } of turns) {
            const model = models.get(client) ?? new Model();
            models.set(client, model);
            await model.take(port, `/~run-${run}-${client}/v1`, it);
          }
        },
      ),
      { numRuns: 30 },
    );
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openSandboxWith } from '../../../src/features/testing/test-options.ts';
import {
  checkTestOptions,
  openTestMock,
  reportExchanges,
  type TestOptions,
  withTestSandbox,
} from '../../../src/features/testing/test-sandbox.ts';
import { createTest } from '../../../src/features/testing/vitest.ts';
import {
  globalSetup,
  type MockSandbox,
  type PetstoreMock,
  startPetstoreMock,
} from '../../../src/index.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { describeWithRedis, RedisServer } from '../../helpers/redis.ts';

let server: PetstoreMock;
beforeAll(async () => {
  server = await startPetstoreMock();
});
afterAll(() => server.stop());

const BIG = 9007199254740993n;
const folder = temporaryFolder();

async function call({ url, key }: MockSandbox, path: string, init: RequestInit = {}) {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  return fetch(url + path, { ...init, headers });
}

function addPet(mock: MockSandbox, pet: object) {
  return call(mock, '/pets', { method: 'POST', body: JSON.stringify(pet) });
}

/** What a test under options does with its own sandbox, as the fixtures run it. */
async function runTest(
  options: TestOptions,
  use: (sandbox: MockSandbox) => Promise<void>,
  name = 'a test',
): Promise<void> {
  const mock = await openTestMock(options);
  onTestFinished(() => mock.stop());
  await withTestSandbox(mock, options, { name, failed: () => false }, use);
}

const withMock = createTest({ failOn: ['unmatched'], scenarios: ['no-orders'] });

withMock('the fixture starts a server with the options', async ({ mock, petstoreMock }) => {
  expect((await call({ ...mock, key: 'wrong' }, '/pets')).status).toBe(401);
  expect(await mock.requests.count()).toBe(1);
  expect(await mock.orders.count()).toBe(0);
  expect((await petstoreMock.sandboxes.list()).map(({ name }) => name)).toContain(mock.name);
});

test('the sandbox of a test has the name of the test, in findings and coverage too', async () => {
  const names: string[] = [];
  for (const title of ['cancels an order: “twice”', 'x'.repeat(200), '日本語']) {
    const use = async (sandbox: MockSandbox) => {
      names.push(sandbox.name);
      await call(sandbox, '/pets/1');
      const { findings } = await sandbox.findings();
      expect(findings.map((finding) => finding.sandbox)).toEqual([sandbox.name]);
    };
    await withTestSandbox(server, {}, { name: title, failed: () => false }, use);
  }
  expect(names).toEqual([
    expect.stringMatching(/^cancels-an-order-twice-[-\da-f]{13}$/),
    expect.stringMatching(/^x{50}-[-\da-f]{13}$/),
    expect.stringMatching(/^[-\da-f]{13}$/),
  ]);
});

const UNMATCHED = `petstore-mock: the client made calls that failOn forbids:
  1. GET /~NAME/v1/v1/pets → 404
     unmatched: `;
const DEPRECATED = '1. GET /~NAME/v1/pets/1 → 200\n     deprecated: getPet is deprecated';
const NO_OPERATION = 'assumed: the service has nothing at /';
const ASSUMED = `made calls that failOn forbids:
  2. GET /~NAME/v1/pets/999 → 404
     assumed: unknown-pet=404`;

// biome-ignore format: a row for each
test.each<[TestOptions['failOn'], paths: readonly string[], error: string | undefined]>([
  [['unmatched'], ['/v1/pets', '/pets', '/pet'], UNMATCHED],
  [['deprecated'], ['/v1/pets', '/pets', '/pet'], undefined],
  [['findings'], ['/pets/1'], DEPRECATED],
  [['deprecated'], ['/pets/1'], DEPRECATED],
  [['early-retry'], ['/pets/1'], undefined],
  [['assumed'], ['/pets', '/pets/999'], ASSUMED],
  [['assumed'], ['/nothing'], NO_OPERATION],
])('failOn %j judges GET %j', async (failOn, paths, expected) => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => printed.mockRestore());
  const use = async (sandbox: MockSandbox) => {
    for (const path of paths) await call(sandbox, path);
  };
  const error = await runTest({ failOn }, use).then(
    () => undefined,
    ({ message }: Error) => message.replaceAll(/~a-test-[-\da-f]+/g, '~NAME'),
  );
  expect(error).toEqual(expected && expect.stringContaining(expected));
  expect(printed).toHaveBeenCalledTimes(error === undefined ? 0 : 1);
});

test.each<[TestOptions, paths: readonly string[], dropped: string]>([
  [{ journal: 0, failOn: ['unmatched'] }, ['/nothing', '/pets'], 'unmatched (1) in calls'],
  [{ journal: 1, failOn: ['findings'] }, ['/nothing', '/pets/1', '/pets'], 'deprecated (1)'],
  [{ journal: 1, failOn: ['assumed'] }, ['/nothing', '/pets/999', '/pets'], 'assumed (2) in'],
])(
  'failOn with %j judges also calls that the journal has dropped: GET %j',
  async (options, paths, dropped) => {
    const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => printed.mockRestore());
    const failing = runTest(options, async (sandbox) => {
      for (const path of paths) await call(sandbox, path);
    });
    await expect(failing).rejects.toThrow(dropped);
  },
);

test('failOn refuses what it does not know', () => {
  // @ts-expect-error: the types exclude it, too
  expect(() => checkTestOptions({ failOn: ['unmatch'] })).toThrow(
    /^failOn: expected assumed, .*, found "unmatch" \(did you mean unmatched\?\)$/,
  );
});

describe('on a server that already runs', () => {
  const during = async (
    options: TestOptions,
    use: (sandbox: MockSandbox) => Promise<void>,
    { url } = server.sandbox('default'),
  ) => {
    vi.stubEnv('PETSTORE_MOCK_URL', url);
    await runTest(options, use);
  };

  test('the sandbox of a test is like the one that the address names, with a key for it', async () => {
    const check = async (sandbox: MockSandbox) => {
      expect((await call(sandbox, '/pets')).status).toBe(200);
      expect((await call({ ...sandbox, key: 'demo-key' }, '/pets')).status).toBe(401);
    };
    await during({}, check, server.sandbox('staging'));
  });

  test('the sandbox of a test takes scenarios, store, keys, assumptions and clock', async () => {
    const file = join(folder, 'nothing-sold.yaml');
    writeFileSync(
      file,
      'rules: [{ on: listPets, where: { status: sold }, reply: { status: 503 } }]',
    );
    const expires = new Map([['brief', { kind: 'after', milliseconds: 1_500 } as const]]);
    const options: TestOptions = {
      scenarios: ['no-orders', file],
      animals: 3,
      orders: 2,
      keys: { valid: ['own-key', 'brief'], expires },
      assume: { 'unknown-pet': '400' },
      clock: Date.UTC(2031, 0, 1),
      frozen: true,
    };
    await during(options, async (sandbox) => {
      expect(sandbox.key).toBe('own-key');
      const status = async (path: string, key = 'own-key') =>
        (await call({ ...sandbox, key }, path)).status;
      expect(await status('/pets', 'demo-key')).toBe(401);
      expect(await status('/pets?status=sold')).toBe(503);
      expect(await status('/pets/999')).toBe(400);
      expect(await sandbox.orders.count()).toBe(0);
      expect(await sandbox.animals.count()).toBe(3);
      expect(await sandbox.clock.get()).toMatchObject({
        now: '2031-01-01T00:00:00.000Z',
        frozen: true,
      });
      expect(await status('/pets', 'brief')).toBe(200);
      await sandbox.clock.advance('PT2S');
      expect(await status('/pets', 'brief')).toBe(401);
    });
    expect(await server.animals.count()).toBe(64);
  });

  test('options that only the start of a server can take are refused in one line', async () => {
    const options: TestOptions = { seed: 2, delay: 5, keys: { any: true } };
    const message = `the server at ${server.url} is already running; set this where it starts, in the flags of petstore-mock`;
    await expect(during(options, async () => {})).rejects.toThrow(
      `seed, delay and keys.any: ${message}`,
    );
    await expect(globalSetup({ seed: 2 })()).rejects.toThrow(`seed: ${message}`);
  });

  test('the sandbox of a test takes the content of files, and a reset returns to it', async () => {
    const [animals, orders] = [[{ id: 7, name: 'Rex', categoryId: 1 }], [{ id: 3, petId: 7 }]];
    const write = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    };
    const fixture = write('own.json', JSON.stringify({ animals, orders }));
    write('base.yaml', 'rules: [{ on: listPets, reply: { status: 503 } }]');
    const long = { description: 'x'.repeat(20_000), extends: ['base.yaml'], fixture: './own.json' };
    const file = write('a long one.json', JSON.stringify(long));
    const named = write('slow.yaml', 'state: { orders: { set: [{ id: 3, status: shipped }] } }');
    for (const options of [
      { fixture, scenarios: [write('plain.yaml', 'extends: base.yaml'), named] },
      { scenarios: [file, named] },
    ]) {
      const check = async (sandbox: MockSandbox) => {
        const status = async () => (await call(sandbox, '/pets')).status;
        const isArranged = async () => {
          expect(await sandbox.animals.list()).toEqual(animals);
          expect(await sandbox.orders.get(3)).toMatchObject({ status: 'shipped' });
          expect(await status()).toBe(503);
        };
        await isArranged();
        await sandbox.state.put({});
        await sandbox.scenario.use();
        expect(await status()).toBe(200);
        await sandbox.reset();
        await isArranged();
      };
      await during(options, check);
      // The same as on a server of its own.
      vi.unstubAllEnvs();
      await runTest(options, check);
      // And where they are given to a global setup.
      vi.stubEnv('PETSTORE_MOCK_URL', server.url);
      const teardown = await globalSetup(options)();
      await runTest({}, check);
      await teardown();
    }
  });
});

describe('the report of a failed test', () => {
  const reportOf = async (sandbox: MockSandbox) =>
    (await reportExchanges(sandbox, 'adds Rex')).replaceAll(sandbox.name, 'NAME').split('\n');

  test('has exact integers, and the reason for a late or a missing reply', async () => {
    const sandbox = server.sandbox();
    await call(sandbox, '/pets', { method: 'POST', body: `{"name":"Rex","categoryId":${BIG}}` });
    await sandbox.scenario.use({ rules: [{ on: 'getPet', delay: 5, reply: { status: 404 } }] });
    await call(sandbox, '/pets/1');
    const latch = await sandbox.hold('cancelOrder');
    const held = call(sandbox, '/store/orders/1', { method: 'DELETE' });
    await latch.arrived();
    await sandbox.scenario.use('connection-reset');
    await expect(call(sandbox, '/pets')).rejects.toThrow();
    const lines = await reportOf(sandbox);
    await latch.release();
    await held;
    expect(lines).toEqual([
      'petstore-mock in sandbox NAME (test "adds Rex"):',
      expect.stringMatching(/^ {2}1\. POST \/~NAME\/v1\/pets → 201, documented: /),
      '     sent {"name":"Rex","categoryId":9007199254740993}',
      '     got  {"id":65,"name":"Rex","categoryId":9007199254740993}',
      expect.stringMatching(/^ {2}2\. GET .* → 404, delayed by 5 ms, /),
      expect.stringMatching(/^ {5}got {2}\{"code"/),
      expect.stringMatching(/^ {2}3\. DELETE .* → 204, held as [-\w ]+, /),
      expect.stringMatching(/^ {2}4\. GET .* → no reply, fault reset, forced: .*connection-reset/),
    ]);
  });

  test('has only the latest calls, and the beginning of long bodies', async () => {
    const sandbox = server.sandbox();
    for (let count = 1; count <= 21; count += 1) await call(sandbox, '/pets');
    const [, hidden, first, body = '', ...others] = await reportOf(sandbox);
    expect([hidden, first]).toEqual([
      '  (1 earlier exchange not shown)',
      expect.stringMatching(/^ {2}2\. GET/),
    ]);
    expect(body).toHaveLength('     got  '.length + 401);
    expect(body).toMatch(/^ {5}got {2}\[\{"id":1,.*…$/);
    expect(others).toHaveLength(38);
  });

  test('says that there was no call', async () => {
    expect(await reportOf(server.sandbox())).toEqual([
      'petstore-mock got no calls in sandbox NAME (test "adds Rex")',
    ]);
  });
});

describe('toHaveReceived', () => {
  /** The message of an expectation that fails. */
  const messageOf = async (mock: MockSandbox, expected: Promise<void>): Promise<string> => {
    const message = await expected.then(
      () => 'passed',
      (error: Error) => error.message,
    );
    return message.replaceAll(mock.name, 'NAME');
  };

  test('finds a call by its operation, its parameters and the fields of its body', async () => {
    const mock = server.sandbox();
    await addPet(mock, { name: 'Rex', categoryId: 1 });
    await call(mock, '/pets?status=sold&limit=5&limit=6&offset=1&offset=2');
    await call(mock, `/store/orders/${BIG}`, { method: 'DELETE' });
    await expect(mock).toHaveReceived('createPet');
    await expect(mock).toHaveReceived('createPet', { name: 'Rex', categoryId: 1n });
    await expect(mock).toHaveReceived('createPet', { name: expect.stringMatching(/^R/) });
    await expect(mock).toHaveReceived('listPets', { status: 'sold', limit: 5 });
    // @ts-expect-error: the types have what the document knows
    await expect(mock).toHaveReceived('listPets', { offset: '1' });
    await expect(mock).toHaveReceived('cancelOrder', { orderId: BIG });
    await expect(mock).not.toHaveReceived('cancelOrder', { orderId: 1 });
    await expect(mock).not.toHaveReceived('listOrders');
  });

  test('names the nearest calls, and in which inputs they differ', async () => {
    const mock = server.sandbox();
    await addPet(mock, { name: 'Max', categoryId: 2, status: 'sold' });
    await addPet(mock, { name: 'Rex', categoryId: 2 });
    const expected = {
      name: expect.stringContaining('Re'),
      categoryId: 1,
      status: expect.any(String),
    };
    expect(await messageOf(mock, expect(mock).toHaveReceived('createPet', expected))).toBe(
      `expected a call of createPet with name StringContaining "Re", categoryId 1, status Any<String>

The nearest of 2 calls of createPet in sandbox NAME:
  2. POST /~NAME/v1/pets → 201
     categoryId: expected 1, found 2
     status: expected Any<String>, found undefined
  1. POST /~NAME/v1/pets → 201
     name: expected StringContaining "Re", found "Max"
     categoryId: expected 1, found 2`,
    );
  });

  test('names the other calls if there was none of the operation, and calls that should not have come', async () => {
    const mock = server.sandbox();
    const none = () => messageOf(mock, expect(mock).toHaveReceived('listOrders'));
    const where =
      'expected a call of listOrders\n\nsandbox NAME received no call of listOrders, but:';
    expect(await none()).toBe(`${where}\n  nothing at all`);
    await call(mock, '/pets');
    for (let more = 0; more < 10; more += 1) await call(mock, '/v1/store/orders');
    const others = (await none()).split('\n');
    expect(others.slice(0, 5)).toEqual([
      ...where.split('\n'),
      '  (1 earlier call)',
      '  2. GET /~NAME/v1/v1/store/orders → 404, no operation',
    ]);
    expect(await messageOf(mock, expect(mock).not.toHaveReceived('listPets'))).toBe(
      `expected no call of listPets

sandbox NAME received:
  1. GET /~NAME/v1/pets → 200`,
    );
  });

  test('says when exchanges or bodies that the journal has dropped may match', async () => {
    await using mock = await startPetstoreMock({ journal: 1 });
    await addPet(mock, { name: 'Rex', categoryId: 1 });
    await call(mock, '/pets');
    const dropped = /journal dropped others that may match/;
    await expect(expect(mock).toHaveReceived('createPet')).rejects.toThrow(dropped);
    await expect(expect(mock).not.toHaveReceived('createPet')).rejects.toThrow(dropped);
    await expect(mock).toHaveReceived('listPets');
  });

  test('refuses an input with a typo, which no call would ever have', async () => {
    const mock = server.sandbox();
    // @ts-expect-error: the types exclude it, too
    await expect(expect(mock).not.toHaveReceived('listPets', { limt: 1 })).rejects.toThrow(
      'listPets has no input "limt" (did you mean limit?)',
    );
  });

  test('refuses an unknown operation and what is no mock', async () => {
    // @ts-expect-error: the types exclude it, too
    await expect(expect(server).toHaveReceived('createPets')).rejects.toThrow(
      'did you mean createPet?',
    );
    await expect(expect({}).toHaveReceived('createPet')).rejects.toThrow(TypeError);
  });
});

describeWithRedis('on a server of a fleet', () => {
  test('options of a sandbox are refused, which a reset could not return to', async () => {
    const redis = await RedisServer.start();
    onTestFinished(() => redis.end());
    const mock = await startPetstoreMock({ shared: redis.url });
    onTestFinished(() => mock.stop());
    const opening = openSandboxWith(mock, { scenarios: ['slow'], animals: 3 });
    await expect(opening).rejects.toThrow(/^scenarios and animals: .* set this where it starts/);
    expect((await openSandboxWith(mock, { scenarios: undefined })).key).toBe('demo-key');
    expect(await mock.sandboxes.list()).toHaveLength(3);
  });
});

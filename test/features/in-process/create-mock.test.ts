import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Fault } from '../../../src/core/scenario/fault-table.ts';
import { rowNames } from '../../../src/core/tables.ts';
import { createMock, FixtureError, type Mock, ScenarioError } from '../../../src/fetch.ts';

const FROZEN = { clock: Date.parse('2030-01-01T00:00:00Z'), frozen: true };

async function get(mock: Mock, path: string, init: RequestInit = {}): Promise<Response> {
  return mock.fetch(`${mock.url}${path}`, {
    ...init,
    headers: { Authorization: `Bearer ${mock.key}` },
  });
}

const fail = (): never => {
  throw new Error('the callback is broken');
};

describe('createMock', () => {
  test('has what a sandbox of the library for tests has, over its own fetch', async () => {
    await using mock = createMock(FROZEN);
    await mock.scenario.use('outage');
    expect((await get(mock, '/pets')).status).toBe(503);
    await mock.scenario.use();
    await mock.orders.patch(1, { status: 'shipped' });
    const reply = await get(mock, '/store/orders/1', { method: 'DELETE' });
    expect([reply.status, await reply.json()]).toMatchObject([
      409,
      { code: 'order_already_shipped' },
    ]);
    await mock.clock.advance('P1D');
    expect((await get(mock, '/pets/1')).headers.get('Date')).toBe('Wed, 02 Jan 2030 00:00:00 GMT');
    expect(await mock.requests.count({ operation: 'cancelOrder', status: 409 })).toBe(1);
    expect((await mock.coverage()).totals.documented.shown).toBe(2);
    expect((await mock.findings()).findings).toMatchObject([{ code: 'deprecated' }]);
    expect((await mock.control.call('GET /health')).status).toBe('ok');
    const other = mock.sandbox('other');
    expect((await other.orders.get(1)).status).toBe('pending');
    expect(
      (await mock.fetch(`${other.url}/pets`, { headers: { Authorization: `Bearer ${other.key}` } }))
        .status,
    ).toBe(200);
    expect((await mock.sandboxes.list()).map(({ name }) => name)).toContain('other');
    const staging = mock.sandbox('staging');
    expect(staging.key).toBe('staging-key');
  });

  test('answers any host, and a request as well as an address', async () => {
    const mock = createMock();
    const headers = { Authorization: 'Bearer demo-key' };
    const request = new Request('https://api.example.com/v1/pets/3#part', { headers });
    expect(await (await mock.fetch(request)).json()).toMatchObject({ id: 3 });
    const post = await mock.fetch(new URL(`${mock.url}/pets`), {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: '{"name":"Zoë","categoryId":9007199254740993}',
    });
    expect([post.status, await post.text()]).toEqual([
      201,
      expect.stringContaining('"name":"Zoë","categoryId":9007199254740993'),
    ]);
    expect(await (await mock.fetch('http://localhost/')).json()).toMatchObject({
      name: 'petstore-mock',
      service: 'http://localhost/v1',
    });
  });

  test('starts from objects, and from scenarios that ship', async () => {
    const keys = { valid: ['mine'] };
    const cat = { id: 2n ** 62n, name: 'Cat', categoryId: 1, status: 'available' };
    const slow = { rules: [{ on: 'getPet' as const, reply: { status: 404 } }] };
    const mock = createMock({ keys, fixture: { animals: [cat] }, scenarios: ['no-orders', slow] });
    expect(mock.key).toBe('mine');
    expect(await (await get(mock, '/pets')).text()).toContain('"id":4611686018427387904,');
    const reply = await get(mock, '/pets/1');
    expect([reply.status, reply.headers.get('Mock-Basis')]).toEqual([
      404,
      'forced;by="scenario-2#1"',
    ]);
    expect((await mock.scenarios.list()).filter(({ shipped }) => !shipped)).toMatchObject([
      { name: 'scenario-2' },
    ]);
    const generated = createMock({ animals: 3, orders: 2, seed: 7 });
    expect([await generated.animals.count(), await generated.orders.count()]).toEqual([3, 2]);
  });

  test('tells observers', async () => {
    const seen: unknown[] = [];
    const mock = createMock({
      observe: (sandbox, { operation }) => seen.push([sandbox, operation]),
      onFinding: ({ code }) => seen.push(code),
    });
    await get(mock, '/pets/3?colour=red');
    expect(seen).toEqual([['default', 'getPet'], 'deprecated', 'unknown-input']);
  });

  test.each([
    ['throws', fail],
    ['rejects', async () => fail()],
  ])('warns of a callback that %s, and goes on', async (_how, broken) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    const all = { observe: broken, onFinding: broken, onNotice: broken };
    await using mock = createMock({ ...all, sandboxIdle: 20 });
    // Of the exchange, of a finding, and of the removal of its sandbox, which goes on.
    for (const warnings of [3, 6]) {
      const { status } = await mock.fetch('http://localhost/~idle/v1/pets?colour=red', {
        headers: { Authorization: `Bearer ${mock.key}` },
      });
      expect(status).toBe(200);
      await vi.waitFor(() => expect(warn).toHaveBeenCalledTimes(warnings), 5_000);
    }
  });

  test('finds a POST that is sent again after its caller has lost patience', async () => {
    const rule = { on: 'createPet' as const, calls: 1, delay: 60_000 };
    const mock = createMock({ scenarios: [{ rules: [rule] }] });
    const headers = { Authorization: 'Bearer demo-key', 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' };
    const caller = new AbortController();
    const first = mock.fetch(`${mock.url}/pets`, { ...init, signal: caller.signal });
    await mock.requests.wait({ operation: 'createPet' });
    caller.abort();
    await expect(first).rejects.toThrow('abort');
    expect((await mock.fetch(`${mock.url}/pets`, init)).status).toBe(201);
    expect((await mock.findings()).counts).toEqual({ 'blind-retry': 1 });
  });

  test.each([
    { delay: 20, apply: true, fault: 'reset' },
    { hold: true, apply: true, fault: 'reset' },
    { hold: true, fault: 'truncate' },
    { hold: true, fault: 'malformed-json' },
  ] as const)(
    'of equal POSTs, only one that is sent after the loss by %j is found',
    async (rule) => {
      const mock = createMock({
        scenarios: [{ rules: [{ on: 'createPet', calls: '1-2', ...rule }] }],
      });
      const headers = { Authorization: 'Bearer demo-key', 'Content-Type': 'application/json' };
      const init = { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' };
      const post = async () => (await mock.fetch(`${mock.url}/pets`, init)).text();
      const first = post();
      // A held reply lasts, so that its call is certain to be answered before the other is sent.
      if ('hold' in rule) await mock.requests.wait({ held: true });
      const together = Promise.allSettled([first, post()]);
      await mock.requests.wait({ operation: 'createPet' }, { atLeast: 2 });
      expect((await mock.findings()).counts).toEqual({});
      await mock.control.call('POST /holds/release', { body: {} });
      await together;
      await post();
      expect((await mock.findings()).counts).toEqual({ 'blind-retry': 1 });
    },
  );

  test('rejects the next call of a sandbox after a stale connection, and no other', async () => {
    const rule = { on: 'getPet' as const, calls: 1, fault: 'stale-connection' as const };
    const mock = createMock({ scenarios: [{ rules: [rule] }] });
    expect((await get(mock, '/pets/1')).status).toBe(200);
    const elsewhere = { headers: { Authorization: `Bearer ${mock.key}~other` } };
    expect((await mock.fetch(`${mock.url}/pets`, elsewhere)).status).toBe(200);
    await expect(get(mock, '/pets/1')).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
    expect((await get(mock, '/pets/1')).status).toBe(200);
  });

  test('ends its held replies and streams when it stops', async () => {
    const mock = createMock();
    const latch = await mock.hold('getPet');
    const reply = get(mock, '/pets/1');
    await latch.arrived();
    const stream = await mock.control.send('GET /requests/stream');
    await mock.stop();
    expect((await reply).status).toBe(200);
    await stream.text();
  });

  test.each<readonly [object, string]>([
    [{ db: 'store.json' }, 'options: expected the name of an option, found "db"'],
    [{ tls: true }, 'options: expected the name of an option, found "tls"'],
    [
      { upstream: 'https://api.example.com' },
      'options: expected the name of an option, found "upstream"',
    ],
    [{ port: 4010 }, 'options: expected the name of an option, found "port"'],
    [{ noControl: true }, 'options: expected the name of an option, found "noControl"'],
    [{ journal: -1 }, 'journal: expected '],
    [{ assume: { 'cancel-again': 409 } }, 'assume cancel-again: expected a string such as "409"'],
    [{ fixture: {}, animals: 3 }, 'animals and fixture exclude each other: drop one of them'],
    [
      { scenarios: ['slwo'] },
      'scenarios[0]: expected the name of a shipped scenario, or an object; found "slwo" (did you mean slow?)',
    ],
  ])('refuses %j', (options, message) => {
    expect(() => createMock(options)).toThrow(RangeError);
    expect(() => createMock(options)).toThrow(message);
  });

  test('refuses an object without the right form, and says where it is wrong', () => {
    const fixture = { animals: [{ id: 1 }] };
    expect(() => createMock(Object({ fixture }))).toThrow(FixtureError);
    expect(() => createMock(Object({ fixture }))).toThrow('fixture.animals[0].name: expected');
    const scenarios = [{ rules: [{ on: 'getPets' }] }];
    expect(() => createMock(Object({ scenarios }))).toThrow(ScenarioError);
    expect(() => createMock(Object({ scenarios }))).toThrow('scenarios[0].rules[0].on: expected');
  });
});

describe('a caller that aborts', () => {
  const waits = [
    ['a delay', { delay: 60_000 }],
    ['a hold', { hold: 'here' }],
    ['a fault that hangs', { fault: 'hang' as const }],
  ] as const;

  test.each(waits)('ends %s with its reason', async (_name, rule) => {
    const mock = createMock();
    await mock.scenario.use({ rules: [{ on: 'getPet', ...rule }] });
    const controller = new AbortController();
    const reply = get(mock, '/pets/1', { signal: controller.signal });
    await mock.requests.wait();
    controller.abort(new Error('enough'));
    await expect(reply).rejects.toThrow('enough');
    const [exchange] = await mock.requests.list();
    expect(exchange?.hold?.ended).toBe('hold' in rule ? 'left' : undefined);
  });

  test('is not recorded if it has done so before', async () => {
    const mock = createMock();
    await expect(get(mock, '/pets/1', { signal: AbortSignal.abort() })).rejects.toThrow(
      expect.objectContaining({ name: 'AbortError' }),
    );
    expect(await mock.requests.count()).toBe(0);
  });

  test('ends a wait of the control API, a stream and a slow body', async () => {
    const mock = createMock({
      scenarios: [
        { rules: [{ on: 'getPet', fault: { kind: 'slow-body', chunks: 2, over: 60_000 } }] },
      ],
    });
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = mock.control.call('POST /requests/count', {
      body: { atLeast: 2, within: 'PT1M' },
      signal,
    });
    const stream = await mock.control.send('GET /requests/stream', { signal });
    const slow = await get(mock, '/pets/1', { signal });
    const ends = Promise.allSettled([waiting, stream.text(), slow.text()]);
    controller.abort(new Error('enough'));
    for (const end of await ends) {
      expect(end).toMatchObject({ status: 'rejected', reason: { message: 'enough' } });
    }
  });
});

describe('a fault', () => {
  /** What a call with this fault shows, and the next one without it. */
  async function show(fault: Fault['kind'], method: string) {
    // Nobody waits for what takes time.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const passing = setInterval(() => vi.advanceTimersByTime(60_000), 1);
    onTestFinished(() => {
      clearInterval(passing);
      vi.useRealTimers();
    });
    const mock = createMock({ scenarios: [{ rules: [{ on: 'getPet', calls: 1, fault }] }] });
    const call = async () => {
      const shown = await get(mock, '/pets/1', { method }).catch((error: unknown) => error);
      if (!(shown instanceof Response)) return { error: shown };
      const { status, headers } = shown;
      const body = await shown.text().catch((error: unknown) => error);
      return { status, length: headers.get('Content-Length'), body };
    };
    return [await call(), await call()];
  }
  const LENGTH = '57';
  const failed = { error: expect.objectContaining({ name: 'TypeError', message: 'fetch failed' }) };
  const broken = expect.objectContaining({ name: 'TypeError', message: 'terminated' });

  const whole = { status: 200, length: LENGTH, body: expect.stringMatching(/^{"id":1,.*}$/) };

  /** A method, what the call shows, and what the next one shows. */
  type Row = [method: string, shown: object, next?: object];

  /** A new fault does not compile until it has its rows here. */
  const SHOWN: Readonly<Record<Fault['kind'], readonly Row[]>> = {
    reset: [['GET', failed]],
    close: [['GET', failed]],
    hang: [['GET', failed]],
    html: [['GET', { status: 502, body: expect.stringContaining('<html') }]],
    truncate: [
      ['GET', { status: 200, length: LENGTH, body: broken }],
      ['HEAD', failed],
    ],
    'malformed-json': [
      ['GET', { status: 200, body: expect.stringMatching(/:}$/) }],
      ['HEAD', { status: 200, length: LENGTH, body: '' }],
    ],
    'bad-chunk': [['GET', { status: 200, length: null, body: broken }]],
    'slow-body': [
      ['GET', whole],
      ['HEAD', { status: 200, length: LENGTH, body: '' }],
    ],
    'stale-connection': [['GET', whole, failed]],
  };

  describe.each(rowNames(SHOWN))('%s', (fault) => {
    test.each(SHOWN[fault])('of a %s is what fetch can show', async (...row) => {
      const [method, shown, next = { status: 200, length: LENGTH }] = row;
      expect(await show(fault, method)).toMatchObject([shown, next]);
    });
  });

  test('slow-body comes in pieces', async () => {
    const mock = createMock({
      scenarios: [{ rules: [{ on: 'getPet', fault: { kind: 'slow-body', chunks: 3, over: 30 } }] }],
    });
    const { body } = await get(mock, '/pets/1');
    const pieces: string[] = [];
    const decoder = new TextDecoder();
    for await (const piece of body ?? []) pieces.push(decoder.decode(piece));
    expect(pieces).toHaveLength(3);
    expect(JSON.parse(pieces.join(''))).toMatchObject({ id: 1 });
  });

  test('the body that breaks off has begun', async () => {
    const mock = createMock({ scenarios: ['truncated-bodies'] });
    const reader = (await get(mock, '/pets')).body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toMatch(/^\[\{"id":1,/);
    await expect(reader?.read()).rejects.toThrow('terminated');
  });
});

test('follows the calls of a client', async () => {
  const mock = createMock();
  const controller = new AbortController();
  const calls = mock.requests.follow({}, controller.signal);
  const first = calls.next();
  // Calls before the stream is open are not of it. More than the journal keeps would end it.
  const calling = setInterval(() => void get(mock, '/pets/1'), 5);
  onTestFinished(() => clearInterval(calling));
  expect((await first).value).toMatchObject({ target: '/v1/pets/1' });
  controller.abort(new Error('enough'));
  const readAll = async () => {
    for await (const { target } of calls) expect(target).toBe('/v1/pets/1');
  };
  await expect(readAll()).rejects.toThrow('enough');
});

test('removes idle sandboxes without keeping the process alive', async () => {
  const start = vi.spyOn(globalThis, 'setInterval');
  onTestFinished(() => start.mockRestore());
  await using mock = createMock({ sandboxIdle: 3_600_000 });
  await get(mock, '/pets');
  expect(start.mock.results.map(({ value }) => value.hasRef())).toEqual([false]);
});

test('what needs a port or a file says so', async () => {
  const mock = createMock();
  await expect(mock.control.text('GET /certificate.pem')).rejects.toThrow('plain HTTP');
  expect((await mock.fetch('http://localhost/__mock/')).status).toBe(404);
  // A page of another site cannot reach what has no port.
  const headers = { Origin: 'https://evil.example', Host: 'evil.example' };
  expect((await mock.fetch('http://localhost/__mock/state', { headers })).status).toBe(200);
});

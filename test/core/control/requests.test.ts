import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { readEvents } from '../../../src/client/control-client.ts';
import { EXCHANGE_FILTER, passes } from '../../../src/core/sandbox/exchange-filter.ts';
import { readAs } from '../../../src/core/shape/shapes.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { exchangeWith } from '../../helpers/exchange.ts';
import { openMock } from '../../helpers/in-process.ts';
import { type Client, clientAt } from '../../helpers/wire.ts';

const FROZEN = { clock: Date.UTC(2030, 0), frozen: true };

/** A part of the journal. */
async function journal({ control }: Client, query = '') {
  return Object((await control(`GET requests?${query}`)).json);
}

async function numbers(client: Client, query: string): Promise<number[]> {
  const { exchanges } = await journal(client, query);
  return exchanges.map(({ number }: { number: number }) => number);
}

/** Calls getPet for each id. */
async function getPets({ send }: Client, ...ids: number[]): Promise<void> {
  for (const id of ids) await send('GET', `/v1/pets/${id}`);
}

describe('the journal in the control API', () => {
  test('masks secrets in headers, and finds none of them', async () => {
    const names =
      'X-Api-Key X-Access-Token Ocp-Apim-Subscription-Key X-Amz-Security-Token Proxy-Authorization Cookie X-Auth X-Secret X-Session-Id Mock-Control-Token';
    const client = await openMock();
    const secrets = Object.fromEntries(names.split(' ').map((name) => [name, 's3cret-of-client']));
    await client.send('GET', '/v1/pets', { headers: { 'Idempotency-Key': 'shown', ...secrets } });
    const { text } = await client.control('GET requests');
    expect(text.match(/s3cr…/g)).toHaveLength(10);
    expect(text).not.toContain('s3cret-of');
    expect(text).toContain('"idempotency-key":"shown"');
    for (const search of ['s3cret-of', 'header:x-api-key=s3cret-of']) {
      expect(await journal(client, `search=${search}`)).toMatchObject({ exchanges: [] });
    }
  });

  test('shows each request, its reply and the reasons, with masked credentials', async () => {
    const { send, control } = await openMock(FROZEN);
    const headers = { 'X-Trace': 'abc', Cookie: 'session=secret' };
    await send('DELETE', '/v1/store/orders/2?x=1', { body: 'none', headers });
    await send('POST', '/v1/pets', { body: '{"name"' });
    await send('GET', '/v1/pets', { key: 'abcd' });
    const { json } = await control('GET requests');
    expect(json).toMatchObject({ dropped: 0, total: 3 });
    const { exchanges } = Object(json);
    expect(exchanges).toMatchObject([
      {
        number: 1,
        at: '2030-01-01T00:00:00.000Z',
        clockMoved: true,
        method: 'DELETE',
        target: '/v1/store/orders/2?x=1',
        operation: 'cancelOrder',
        key: 'demo…',
        delay: 0,
        why: expect.arrayContaining(['order 2 has shipped']),
        findings: [{ code: 'unexpected-body' }, { code: 'unknown-input' }],
        request: { headers: { authorization: 'Bearer demo…', 'x-trace': 'abc', cookie: 'sess…' } },
      },
      { request: { body: '{"name"' }, reply: { body: { status: 400 } } },
      { key: 'a…', request: { headers: { authorization: 'Bearer a…' } } },
    ]);
    expect((await control('GET requests/1')).json).toEqual(exchanges[0]);
    expect(JSON.stringify(exchanges)).not.toMatch(/demo-key|secret|abcd/);
  });

  test('keeps a bounded part of whatever a client sends', async () => {
    const client = await openMock({
      assume: { 'pets-paging': 'cursor', 'animal-status-values': 'any', 'status-filter': 'ignore' },
    });
    const { send } = client;
    const long = 'x'.repeat(5000);
    const unknown = Array.from({ length: 150 }, (_, at) => `unknown-${at}`);
    const headers = Object.fromEntries(unknown.map((name) => [name, '']));
    await send('GET', `/v1/pets?limit=1&status=${long}`, {
      headers: { ...headers, 'x-long': long },
    });
    await send('GET', `/v1/pets?limit=1${long}`, { key: long });
    await send('GET', `/v1/pets?${unknown.join('&')}`);
    await send('OPTIONS', '/v1/pets', {
      headers: {
        'access-control-request-method': 'GET',
        'access-control-request-headers': long,
        origin: 'http://page.example',
      },
    });
    await send('POST', '/v1/pets', { body: { [long]: long } });
    const { exchanges } = await journal(client);
    for (const it of exchanges) expect(JSON.stringify(it).length).toBeLessThan(16_000);
    const findings = exchanges.map((it: { findings: object[] }) => it.findings.length);
    expect(findings).toEqual([0, 0, 20, 0, 1]);
  });

  test('shows a body that is nested too deeply as text, which every reader can read', async () => {
    const client = await openMock();
    const body = `{"name":"a","categoryId":1,"x":${'['.repeat(4000)}${']'.repeat(4000)}}`;
    await client.send('POST', '/v1/pets', { body });
    const { exchanges } = await journal(client);
    expect(exchanges).toMatchObject([{ request: { body } }]);
  });

  test('filters by what its query, or the body of a count, says', async () => {
    const client = await openMock(FROZEN);
    const { send, control } = client;
    await getPets(client, 1, 999);
    await send('DELETE', '/v1/store/orders/1');
    await control('POST clock/advance', { by: 'PT1S' });
    await send('GET', '/v1/store/orders', { key: null });
    const filters: Readonly<Record<string, readonly number[]>> = {
      'operation=getPet': [1, 2],
      'status=404': [2],
      'status=404&operation=listPets': [],
      'statusClass=4xx': [2, 4],
      'statusClass=5xx': [],
      'findings=true': [1, 2],
      'unmatched=true': [],
      'unmatched=false': [1, 2, 3, 4],
      'basis=documented': [1, 3, 4],
      'method=DELETE': [3],
      'key=demo-key': [1, 2, 3],
      'key=demo': [],
      'after=1': [2, 3, 4],
      'after=1&before=4': [2, 3],
      'text=ORDERS': [3, 4],
      'text=is+missing': [4],
      'text=PET_not_found': [2],
      'text=nowhere': [],
      'from=2030-01-01T00:00:01Z': [4],
      'to=2030-01-01T00:00:00Z': [1, 2, 3],
      '': [1, 2, 3, 4],
    };
    for (const [query, found] of Object.entries(filters)) {
      expect([query, await numbers(client, query)]).toEqual([query, found]);
      const members = [...new URLSearchParams(query)].map(([name, text]) => [
        name,
        /^(?:\d+|true|false)$/.test(text) ? JSON.parse(text) : text,
      ]);
      const { json } = await control('POST requests/count', Object.fromEntries(members));
      expect([query, json]).toEqual([query, { count: found.length, complete: true }]);
    }
  });

  test('searches in one language, and says what a mistyped search should be', async () => {
    const client = await openMock(FROZEN);
    const { send, control } = client;
    await getPets(client, 1, 999);
    await send('DELETE', '/v1/store/orders/2', { headers: { 'X-Trace': 'Ab-7', Cookie: 'id=7' } });
    await send('GET', '/v1/store/orders', { key: null });
    await send('GET', '/v1/nothing', { key: 'Upper-Key' });
    await control('POST requests/1/replay');
    const found: Readonly<Record<string, readonly number[]>> = {
      '': [1, 2, 3, 4, 5, 6],
      'method:delete status:409': [3],
      'status:4XX -status:401': [2, 3, 5],
      'operation:getpet basis:assumed': [2],
      'by:unknown-pet': [2],
      'key:Upper-Key': [5],
      'key:upper-key': [],
      'key:demo…': [1, 2, 3, 6],
      'key:none': [4],
      'header:x-trace': [3],
      'header:x-trace=ab': [3],
      'header:cookie=id=7': [],
      'header:mock-basis=unknown-pet': [2],
      'finding:unmatched': [5],
      'finding:any -finding:deprecated': [5],
      'fault:reset': [],
      'hold:default': [],
      'trace:none': [],
      'is:held': [],
      'is:unmatched': [5],
      'is:replay': [6],
      'is:manual': [6],
      'body:shipped': [3],
      'orders 409': [3],
      'before:#3 -before:2': [2],
      'after:4 get': [5, 6],
      '"has shipped"': [3],
      'shipped HAS': [3],
      '-missing -shipped after:2 before:6 -nothing': [],
      '-"order 2" orders': [4],
    };
    for (const [search, numbersFound] of Object.entries(found)) {
      const query = `${new URLSearchParams({ search })}`;
      expect([search, await numbers(client, query)]).toEqual([search, numbersFound]);
    }
    for (const [search, message] of [
      ['metod:GET', /"metod:" \(did you mean method\?\)/],
      [
        'basis:asumed',
        /documented, assumed,? .* after basis:, found .* \(did you mean assumed\?\)/,
      ],
      ['constructor:x', /expected a field \(after, .*, found "constructor:"/],
      ['status:', /expected a value after status:/],
      ['status:4', /such as 409 or 4xx/],
      ['before:x', /the number of an exchange after before:/],
      ['x'.repeat(201), /at most 200 characters/],
      ['x '.repeat(11), /at most 10 words and fields/],
    ] as const) {
      const query = `${new URLSearchParams({ search })}`;
      const { status, json } = await control(`GET requests?${query}`);
      expect([status, Object(json).message]).toEqual([400, expect.stringMatching(message)]);
    }
  });

  test('finds the exchanges of a trace, and ignores a malformed traceparent', async () => {
    const client = await openMock();
    const [trace, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    const good = [`00-${trace}-${span}-01`, `cc-${trace}-${span}-00-what-else`];
    const bad = [
      `00-${trace}-${span}`,
      `00-${trace}-${span}-01-more`,
      `ff-${trace}-${span}-01`,
      `00-${trace.toUpperCase()}-${span}-01`,
      `00-${'0'.repeat(32)}-${span}-01`,
      `00-${trace}-${'0'.repeat(16)}-01`,
      `${good[0]}, ${good[0]}`,
    ];
    for (const traceparent of [...good, ...bad]) {
      await client.send('GET', '/v1/nothing', { headers: { traceparent } });
    }
    const { exchanges } = await journal(client, `trace=${trace}`);
    expect(exchanges).toMatchObject(good.map(() => ({ traceId: trace })));
    const all = (await journal(client)).exchanges;
    expect(all.filter((it: object) => 'traceId' in it)).toHaveLength(good.length);
  });

  test('lists the latest exchanges, the newest last, and pages back from it', async () => {
    const client = await openMock();
    await getPets(client, 1, 2, 3, 4, 5);
    for (const [query, ...found] of [
      ['limit=2', 4, 5],
      ['limit=0'],
      ['order=desc&limit=2', 5, 4],
      ['order=desc&limit=2&before=4', 3, 2],
      ['order=desc&limit=2&before=2', 1],
      ['order=desc&limit=2&before=1'],
    ]) {
      expect([query, await numbers(client, String(query))]).toEqual([query, found]);
    }
    expect(await journal(client, 'limit=2')).toMatchObject({ total: 5 });
    expect(await client.control('DELETE requests')).toMatchObject({ status: 204 });
    expect(await journal(client)).toMatchObject({ total: 0, dropped: 0 });
  });

  test('has only the exchanges that it keeps, and says where that could change a count', async () => {
    const client = await openMock({ ...FROZEN, journal: 2 });
    const read = async (number: string) => {
      const { status, json } = await client.control(`GET requests/${number}`);
      return [status, Object(json).message ?? Object(json).number];
    };
    expect(await read('1')).toEqual([404, 'there is no exchange "1"; none is left']);
    for (const id of [1, 2, 3]) {
      await getPets(client, id);
      if (id === 1) {
        const only = 'there is no exchange "2"; only exchange 1 is left';
        expect(await read('2')).toEqual([404, only]);
      }
      await client.control('POST clock/advance', { by: 'PT1S' });
    }
    expect(await read('2')).toEqual([200, 2]);
    expect(await read('1')).toEqual([404, 'exchange 1 was cleared; exchanges 2 to 3 are left']);
    for (const number of ['0', '4', '1.5', 'one', '99999999999999999999']) {
      const message = `there is no exchange "${number}"; exchanges 2 to 3 are left`;
      expect(await read(number)).toEqual([404, message]);
    }
    expect(await journal(client)).toMatchObject({ dropped: 1, total: 2 });
    for (const [filter, count, complete] of [
      [undefined, 2, false],
      [{ status: 500 }, 0, false],
      [{ from: '2030-01-01T00:00:00Z' }, 2, false],
      [{ from: '2030-01-01T00:00:02Z' }, 1, true],
    ] as const) {
      const { json } = await client.control('POST requests/count', filter);
      expect([filter, json]).toEqual([filter, { count, complete }]);
    }
  });
});

test('a stream has what matches after Last-Event-ID or `after`, and ends with its sandbox', async () => {
  const { url, port } = await serverFor();
  const { send, control } = clientAt(port);
  for (const path of ['/v1/pets/1', '/~a/v1/pets/1', '/~a/v1/pets/998']) await send('GET', path);
  const eventsAt = async (query: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(new URL(`/~a/__mock/requests/stream?${query}`, url), { headers });
    expect(response.headers.get('cache-control')).toBe('no-store');
    return readEvents(response.body ?? expect.fail('There is no stream.'));
  };
  const streams = [
    await eventsAt('after=0&status=404'),
    await eventsAt('after=0', { 'Last-Event-ID': '1' }),
    await eventsAt('after=1'),
  ];
  for (const events of streams) {
    const { value } = await events.next();
    expect(value.type).toBe('exchange');
    expect(JSON.parse(value.data)).toMatchObject({ number: 2, status: 404, operation: 'getPet' });
  }
  await control('DELETE sandboxes/a');
  for (const events of streams) expect(await events.next()).toMatchObject({ done: true });
});

test('a search reads each exchange once for all listeners, and only bodies that the journal keeps', () => {
  const reading = readAs(EXCHANGE_FILTER, { search: 'NEEDLE -text header:x' });
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  const exchangeOf = (body: string) =>
    exchangeWith({ request: { headers: ['X', 'y'], body: Buffer.from(body), size: body.length } });
  const lowered = vi.spyOn(String.prototype, 'toLowerCase');
  onTestFinished(() => lowered.mockRestore());
  for (const [size, isFound, times] of [
    [256 * 1024, true, 1],
    [256 * 1024 + 1, false, 0],
  ] as const) {
    lowered.mockClear();
    const exchange = exchangeOf('Needle'.padEnd(size));
    for (let count = 0; count < 3; count += 1) {
      expect(passes(exchange, reading.value)).toBe(isFound);
    }
    expect(lowered.mock.contexts.filter((text) => String(text).length >= size)).toHaveLength(times);
  }
});

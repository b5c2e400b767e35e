import { expect, test } from 'vitest';
import { eventsOf } from '../../src/event-stream.ts';
import { serverFor } from '../helpers/deployment.ts';
import { type Client, describeServer } from '../helpers/wire.ts';

const FROZEN = { clock: Date.UTC(2030, 0), frozen: true };

/** A part of the journal. */
async function journal({ send }: Client, query = '') {
  return Object((await send('GET', `/__mock/requests?${query}`)).json);
}

async function numbers(client: Client, query: string): Promise<number[]> {
  const { exchanges } = await journal(client, query);
  return exchanges.map(({ number }: { number: number }) => number);
}

/** Calls getPet for each id. */
async function getPets({ send }: Client, ...ids: number[]): Promise<void> {
  for (const id of ids) await send('GET', `/v1/pets/${id}`);
}

describeServer('the journal in the control API', (open) => {
  test('shows each request, its reply and the reasons', async () => {
    const { send } = await open(FROZEN);
    await send('DELETE', '/v1/store/orders/2?x=1', { key: 'demo-key' });
    await send('POST', '/v1/pets', { body: { name: 'Rex', categoryId: 7 } });
    const { json } = await send('GET', '/__mock/requests');
    expect(json).toMatchObject({ dropped: 0, total: 2 });
    const [first, second] = Object(json).exchanges;
    expect(first).toMatchObject({
      number: 1,
      at: '2030-01-01T00:00:00.000Z',
      method: 'DELETE',
      target: '/v1/store/orders/2?x=1',
      operation: 'cancelOrder',
      key: 'demo…',
      delay: 0,
      why: expect.arrayContaining(['order 2 has shipped']),
    });
    expect(second).toMatchObject({
      status: 201,
      basis: expect.any(String),
      by: expect.any(Array),
      request: { body: { name: 'Rex', categoryId: 7 } },
      reply: { body: { id: 65, name: 'Rex' } },
    });
    expect(JSON.stringify(json)).not.toContain('demo-key');
  });

  test('names the first 20 unknown inputs of an exchange', async () => {
    const { send } = await open({
      assume: { 'unknown-query': 'reject', 'unknown-body-fields': 'reject' },
    });
    const names = Array.from({ length: 50_000 }, (_, at) => `unknown-${at}`);
    const body = Object.fromEntries(names.map((name) => [name, 1]));
    const refused = await send('POST', '/v1/pets', { body });
    expect(Object(refused.json).message).toMatch(/"unknown-17" \(use .*\); and 49982 more$/);
    await send('GET', `/v1/pets?${names.slice(0, 500).join('&')}`);
    const { exchanges } = Object((await send('GET', '/__mock/requests')).json);
    const messages = exchanges.map(({ findings }: { findings: { message: string }[] }) =>
      findings.map(({ message }) => message),
    );
    expect(messages[0]).toHaveLength(20);
    expect(messages[0].at(-1)).toBe('The body field "unknown-19" is unknown to createPet.');
    expect(messages[1]).toHaveLength(20);
    const { counts } = Object((await send('GET', '/__mock/findings')).json);
    expect(counts).toEqual({ 'unknown-input': 40 });
  });

  test('keeps a bounded part of whatever a client sends', async () => {
    const { send } = await open({
      assume: { 'pets-paging': 'cursor', 'animal-status-values': 'any', 'status-filter': 'ignore' },
    });
    const long = 'x'.repeat(5000);
    const many = Array.from({ length: 400 }, (_, at) => [`x-${at}`, '']);
    const asked = { headers: { ...Object.fromEntries(many), 'x-long': long } };
    await send('GET', `/v1/pets?limit=1&status=${long}`, asked);
    await send('GET', `/v1/pets?limit=1${long}`, { key: long });
    await send('OPTIONS', '/v1/pets', {
      headers: {
        origin: 'http://page.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': long,
      },
    });
    await send('POST', '/v1/pets', { body: { [long]: long } });
    const { exchanges } = Object((await send('GET', '/__mock/requests')).json);
    for (const exchange of exchanges) {
      expect(JSON.stringify(exchange).length).toBeLessThan(16_000);
    }
    const found = await send('POST', '/__mock/requests/count', { body: { key: long } });
    expect(found.json).toMatchObject({ count: 1 });
  });

  test('shows a body that is not JSON as text, and marks a truncated one', async () => {
    const { send } = await open();
    await send('POST', '/v1/pets', { body: '{"name"' });
    await send('POST', '/v1/pets', { body: { name: 'x'.repeat(5000), categoryId: 1 } });
    await send('GET', '/v1/pets/65');
    const { exchanges } = Object((await send('GET', '/__mock/requests')).json);
    expect(exchanges[0].request).toMatchObject({ body: '{"name"' });
    expect(exchanges[0].request).not.toHaveProperty('cut');
    expect(exchanges[1].request).toMatchObject({
      cut: true,
      body: expect.stringMatching(/^\{"name":"x/),
    });
    expect(exchanges[1].request.body).toHaveLength(4096);
    expect(exchanges[2].reply).toMatchObject({ cut: true });
    expect(exchanges[2].reply).not.toHaveProperty('body');
  });

  test('filters by what its query, or the body of a count, says', async () => {
    const client = await open(FROZEN);
    const { send } = client;
    await getPets(client, 1, 999);
    await send('DELETE', '/v1/store/orders/1');
    await send('POST', '/__mock/clock/advance', { body: { by: 'PT1S' } });
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
      const body = Object.fromEntries(members);
      const { json } = await send('POST', '/__mock/requests/count', { body });
      expect([query, json]).toEqual([query, { count: found.length, complete: true }]);
    }
  });

  test('finds the exchanges of a trace, and ignores a malformed traceparent', async () => {
    const { send } = await open();
    const [trace, span] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    const get = (traceparent: string, path = '/v1/pets/1') =>
      send('GET', path, { headers: { traceparent } });
    const good = [`00-${trace}-${span}-01`, `cc-${trace}-${span}-00-what-else`];
    for (const traceparent of good) await get(traceparent);
    await get(`00-${trace}-${span}-01`, '/v1/nothing');
    const bad = [
      `00-${trace}-${span}`,
      `00-${trace}-${span}-01-more`,
      `ff-${trace}-${span}-01`,
      `00-${trace.toUpperCase()}-${span}-01`,
      `00-${'0'.repeat(32)}-${span}-01`,
      `00-${trace}-${'0'.repeat(16)}-01`,
      `${good[0]}, ${good[0]}`,
    ];
    for (const traceparent of bad) await get(traceparent);
    const found = Object((await send('GET', `/__mock/requests?trace=${trace}`)).json);
    expect(found).toMatchObject({ total: 3, exchanges: [{ traceId: trace }, {}, {}] });
    const all = Object((await send('GET', '/__mock/requests')).json).exchanges;
    expect(all.slice(3).filter((it: object) => 'traceId' in it)).toEqual([]);
  });

  test('lists the latest exchanges, the newest last, and pages back from it', async () => {
    const client = await open();
    await getPets(client, 1, 2, 3, 4, 5);
    expect(await journal(client, 'limit=2')).toMatchObject({
      total: 5,
      exchanges: [{ number: 4 }, { number: 5 }],
    });
    expect(await numbers(client, 'limit=0')).toEqual([]);
    const page = (query: string) => numbers(client, `order=desc&limit=2${query}`);
    expect(await page('')).toEqual([5, 4]);
    expect(await page('&before=4')).toEqual([3, 2]);
    expect(await page('&before=2')).toEqual([1]);
    expect(await page('&before=1')).toEqual([]);
    expect(await client.send('DELETE', '/__mock/requests')).toMatchObject({ status: 204 });
    expect(await journal(client)).toMatchObject({ total: 0, dropped: 0 });
  });

  test('returns one exchange by number, with headers, findings and masked credentials', async () => {
    const { send } = await open();
    await send('DELETE', '/v1/store/orders/1', {
      body: 'none',
      headers: { 'X-Trace': 'abc', Cookie: 'session=secret' },
    });
    const { json, text } = await send('GET', '/__mock/requests/1');
    expect(json).toMatchObject({
      number: 1,
      duration: expect.any(Number),
      findings: [{ code: 'unexpected-body', advice: expect.any(String) }],
      request: {
        headers: { authorization: 'Bearer demo…', 'x-trace': 'abc', cookie: 'sess…' },
      },
    });
    expect(text).not.toMatch(/demo-key|secret/);
  });

  test('has only the exchanges that it keeps', async () => {
    const { send } = await open({ journal: 2 });
    const read = async (number: string) => {
      const { status, json } = await send('GET', `/__mock/requests/${number}`);
      return [status, Object(json).message ?? Object(json).number];
    };
    expect(await read('1')).toEqual([404, 'there is no exchange "1"; the journal has none']);
    await getPets({ send }, 1, 2, 3, 4);
    expect(await read('3')).toEqual([200, 3]);
    for (const number of ['0', '1', '5', '1.5', 'one', '99999999999999999999']) {
      const message = `there is no exchange "${number}"; the journal has exchanges 3 to 4`;
      expect(await read(number)).toEqual([404, message]);
    }
  });

  test('counts dropped exchanges, and marks counts that they could change as incomplete', async () => {
    const { send } = await open({ ...FROZEN, journal: 2 });
    for (const id of [1, 2, 3]) {
      await send('GET', `/v1/pets/${id}`);
      await send('POST', '/__mock/clock/advance', { body: { by: 'PT1S' } });
    }
    expect((await send('GET', '/__mock/requests')).json).toMatchObject({ dropped: 1, total: 2 });
    const count = async (body?: object) =>
      (await send('POST', '/__mock/requests/count', body === undefined ? {} : { body })).json;
    expect(await count()).toEqual({ count: 2, complete: false });
    expect(await count({ status: 500 })).toEqual({ count: 0, complete: false });
    expect(await count({ from: '2030-01-01T00:00:00Z' })).toEqual({ count: 2, complete: false });
    expect(await count({ from: '2030-01-01T00:00:02Z' })).toEqual({ count: 1, complete: true });
  });

  test('every exchange has its findings, including those that the report lists once', async () => {
    const { send } = await open();
    await send('GET', '/v1/pets/1');
    await send('GET', '/v1/pets/1?colour=red', { key: 'undefined' });
    const codes = async (number: number) =>
      Object((await send('GET', `/__mock/requests/${number}`)).json).findings.map(
        ({ code }: { code: string }) => code,
      );
    expect(await codes(1)).toEqual(['deprecated']);
    expect(await codes(2)).toEqual(['deprecated', 'placeholder-key', 'unknown-input']);
  });
});

/** The events of a stream. */
async function eventsAt(url: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(url, { headers });
  expect(response.headers.get('cache-control')).toBe('no-store');
  if (response.body === null) throw new Error('There is no stream.');
  return eventsOf(response.body);
}

async function origin(): Promise<string> {
  const { url } = await serverFor();
  return new URL(url).origin;
}

const KEY = { headers: { Authorization: 'Bearer demo-key' } };

test('a stream has each exchange of its sandbox that matches, and ends with the sandbox', async () => {
  const server = await origin();
  const events = await eventsAt(`${server}/~a/__mock/requests/stream?status=404`);
  await fetch(`${server}/v1/pets/999`, KEY);
  await fetch(`${server}/~a/v1/pets/1`, KEY);
  await fetch(`${server}/~a/v1/pets/998`, KEY);
  const { value } = await events.next();
  expect(value.type).toBe('exchange');
  expect(JSON.parse(value.data)).toMatchObject({ number: 2, status: 404, operation: 'getPet' });
  await fetch(`${server}/__mock/sandboxes/a`, { method: 'DELETE' });
  expect(await events.next()).toMatchObject({ done: true });
});

test('a stream resumes where Last-Event-ID or `after` says', async () => {
  const server = await origin();
  for (const id of [1, 2, 3]) await fetch(`${server}/v1/pets/${id}`, KEY);
  const firstOf = async (...stream: Parameters<typeof eventsAt>) => {
    const events = await eventsAt(...stream);
    const { value } = await events.next();
    await events.return(undefined);
    return JSON.parse(value.data).number;
  };
  const url = `${server}/__mock/requests/stream?after=0`;
  expect(await firstOf(url)).toBe(1);
  expect(await firstOf(url, { 'Last-Event-ID': '2' })).toBe(3);
});

import { get, type IncomingMessage } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { type RunningServer, type ServerOptions, startServer } from '../../src/index.ts';
import { describeServer } from '../helpers/wire.ts';

const FROZEN = { clock: Date.UTC(2030, 0), frozen: true };

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
    expect(messages[0].at(-1)).toBe('The body field `unknown-19` is unknown to createPet.');
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
      expect(JSON.stringify(exchange).length).toBeLessThan(12_000);
      expect(Object.keys(exchange.request.headers).length).toBeLessThanOrEqual(100);
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

  test.each([
    ['operation=getPet', 2],
    ['status=404', 1],
    ['status=404&operation=listPets', 0],
    ['statusClass=4xx', 2],
    ['statusClass=5xx', 0],
    ['findings=true', 2],
    ['unmatched=true', 0],
    ['unmatched=false', 4],
    ['basis=documented', 3],
    ['method=DELETE', 1],
    ['key=demo-key', 3],
    ['key=demo', 0],
    ['after=1', 3],
    ['after=1&before=4', 2],
    ['text=ORDERS', 2],
    ['text=is+missing', 1],
    ['text=PET_not_found', 1],
    ['text=nowhere', 0],
    ['from=2030-01-01T00:00:01Z', 1],
    ['to=2030-01-01T00:00:00Z', 3],
    ['', 4],
  ])('filters by %s', async (query, count) => {
    const { send } = await open(FROZEN);
    await send('GET', '/v1/pets/1');
    await send('GET', '/v1/pets/999');
    await send('DELETE', '/v1/store/orders/1');
    await send('POST', '/__mock/clock/advance', { body: { by: 'PT1S' } });
    await send('GET', '/v1/store/orders', { key: null });
    const { json } = await send('GET', `/__mock/requests?${query}`);
    expect(Object(json).exchanges.map(({ number }: { number: number }) => number)).toHaveLength(
      count,
    );
    const filter = Object.fromEntries(
      [...new URLSearchParams(query)].map(([name, text]) => [
        name,
        /^(?:\d+|true|false)$/.test(text) ? JSON.parse(text) : text,
      ]),
    );
    const counted = await send('POST', '/__mock/requests/count', { body: filter });
    expect(counted.json).toEqual({ count, complete: true });
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

  test('lists the latest exchanges, the newest last', async () => {
    const { send } = await open();
    for (const id of [1, 2, 3]) await send('GET', `/v1/pets/${id}`);
    const { json } = await send('GET', '/__mock/requests?limit=2');
    expect(json).toMatchObject({ total: 3, exchanges: [{ number: 2 }, { number: 3 }] });
    expect((await send('GET', '/__mock/requests?limit=0')).json).toMatchObject({ exchanges: [] });
    expect(await send('DELETE', '/__mock/requests')).toMatchObject({ status: 204 });
    expect((await send('GET', '/__mock/requests')).json).toMatchObject({ total: 0, dropped: 0 });
  });

  test('pages back from the newest exchange', async () => {
    const { send } = await open();
    for (const id of [1, 2, 3, 4, 5]) await send('GET', `/v1/pets/${id}`);
    const page = async (query: string) => {
      const { json } = await send('GET', `/__mock/requests?order=desc&limit=2${query}`);
      return Object(json).exchanges.map(({ number }: { number: number }) => number);
    };
    expect(await page('')).toEqual([5, 4]);
    expect(await page('&before=4')).toEqual([3, 2]);
    expect(await page('&before=2')).toEqual([1]);
    expect(await page('&before=1')).toEqual([]);
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
    expect(await read('1')).toEqual([
      404,
      expect.stringMatching(/"1" in the journal; none is kept/),
    ]);
    for (const id of [1, 2, 3, 4]) await send('GET', `/v1/pets/${id}`);
    expect(await read('3')).toEqual([200, 3]);
    for (const number of ['0', '1', '5', '1.5', 'one', '99999999999999999999']) {
      expect(await read(number)).toEqual([
        404,
        expect.stringContaining('; exchanges 3 to 4 are kept'),
      ]);
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

  test.each([
    ['GET', '/__mock/requests?operation=getpet', undefined, 'did you mean getPet?'],
    ['GET', '/__mock/requests?status=ok', undefined, 'an HTTP status'],
    ['GET', '/__mock/requests?stauts=404', undefined, 'did you mean status?'],
    ['GET', '/__mock/requests?limit=-1', undefined, 'an integer from 0'],
    ['GET', '/__mock/requests?order=newest', undefined, 'asc or desc'],
    ['GET', '/__mock/requests?from=now', undefined, 'an RFC 3339 instant'],
    ['GET', '/__mock/requests?status=404&status=409', undefined, 'one value'],
    ['GET', '/__mock/requests/stream?bases=assumed', undefined, 'did you mean basis?'],
    ['POST', '/__mock/requests/count', { status: '404' }, 'an HTTP status'],
    ['POST', '/__mock/requests/count', { limit: 1 }, 'operation, status'],
    ['POST', '/__mock/requests/count', [], 'an object'],
  ] as const)('%s %s %j is refused', async (method, path, body, told) => {
    const { send } = await open();
    const reply = await send(method, path, body === undefined ? {} : { body });
    expect(reply).toMatchObject({ status: 400, json: { code: 'invalid_input' } });
    expect(Object(reply.json).message).toContain(told);
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

async function serve(options: ServerOptions = {}): Promise<RunningServer & { origin: string }> {
  const server = await startServer({ ...options, port: 0 });
  const closed = { done: false };
  onTestFinished(async () => {
    if (!closed.done) await server.close();
  });
  const close = (): Promise<void> => {
    closed.done = true;
    return server.close();
  };
  return { ...server, close, origin: server.url.replace('/v1', '') };
}

interface Stream {
  readonly response: IncomingMessage;
  /** Waits until the text received holds this. */
  until(text: string): Promise<string>;
  readonly ended: Promise<void>;
  leave(): void;
}

function stream(url: string, headers: Record<string, string> = {}): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const request = get(url, { headers }, (response) => {
      let received = '';
      response.on('data', (chunk) => {
        received += chunk;
      });
      response.on('error', () => {});
      const ended = new Promise<void>((end) => response.on('close', () => end()));
      const until = async (text: string): Promise<string> => {
        while (!received.includes(text)) {
          await new Promise((next) => response.once('data', next));
        }
        return received;
      };
      resolve({ response, until, ended, leave: () => request.destroy() });
    });
    request.on('error', reject);
  });
}

const KEY = { headers: { Authorization: 'Bearer demo-key' } };

test('a stream has each exchange of its sandbox that matches the filter', async () => {
  const { origin } = await serve();
  const all = await stream(`${origin}/~a/__mock/requests/stream?status=404`);
  expect(all.response.headers).toMatchObject({
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
  });
  await fetch(`${origin}/v1/pets/999`, KEY);
  await fetch(`${origin}/~a/v1/pets/1`, KEY);
  await fetch(`${origin}/~a/v1/pets/998`, KEY);
  const text = await all.until('pets/998');
  const events = text.split('\n\n').filter((event) => event.includes('event: exchange'));
  expect(events).toHaveLength(1);
  const [, data = ''] = /^id: 2\nevent: exchange\ndata: (.*)$/.exec(events[0] ?? '') ?? [];
  expect(JSON.parse(data)).toMatchObject({ number: 2, status: 404, operation: 'getPet' });
  all.leave();
});

test('a stream resumes where Last-Event-ID or `after` says', async () => {
  const { origin } = await serve();
  for (const id of [1, 2, 3]) await fetch(`${origin}/v1/pets/${id}`, KEY);
  const ids = async (stream: Stream): Promise<string[]> => {
    const text = await stream.until('id: 3');
    stream.leave();
    return [...text.matchAll(/^id: (\d)$/gm)].map(([, id = '']) => id);
  };
  const url = `${origin}/__mock/requests/stream`;
  expect(await ids(await stream(`${url}?after=0`))).toEqual(['1', '2', '3']);
  expect(await ids(await stream(`${url}?after=0`, { 'Last-Event-ID': '2' }))).toEqual(['3']);
});

test('a stream ends with its sandbox', async () => {
  const { origin } = await serve();
  const { ended } = await stream(`${origin}/~a/__mock/requests/stream`);
  expect((await fetch(`${origin}/__mock/sandboxes/a`, { method: 'DELETE' })).status).toBe(204);
  await ended;
});

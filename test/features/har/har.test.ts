import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { ExchangeRecorder } from '../../../src/cli/exchange-recorder.ts';
import { writeHar } from '../../../src/terminal/har.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { exchangeWith } from '../../helpers/exchange.ts';
import { openMock } from '../../helpers/in-process.ts';
import { clientAt } from '../../helpers/wire.ts';

const TEXT = { type: 'string' };
const SIZE = { type: 'integer', minimum: -1 };
const TIME = { type: 'number', minimum: 0 };

/** HAR 1.2 (w3c.github.io/web-performance/specs/HAR/Overview.html), and custom members with `_`. */
function strict(required: object, optional: object = {}): object {
  return {
    type: 'object',
    required: Object.keys(required),
    properties: { ...required, ...optional, comment: TEXT },
    patternProperties: { '^_': {} },
    additionalProperties: false,
  };
}

function listOf(items: object): object {
  return { type: 'array', items };
}

const PAIRS = listOf(strict({ name: TEXT, value: TEXT }));
const SIZES = { headersSize: SIZE, bodySize: SIZE };
const MESSAGE = { httpVersion: { enum: ['HTTP/1.1'] }, cookies: PAIRS, headers: PAIRS, ...SIZES };
const CONTENT = strict({ size: SIZE, mimeType: TEXT }, { text: TEXT, encoding: TEXT });
const HAR = strict({
  log: strict(
    {
      version: { const: '1.2' },
      creator: strict({ name: TEXT, version: TEXT }),
      entries: listOf(
        strict(
          {
            startedDateTime: { type: 'string', format: 'date-time' },
            time: TIME,
            request: strict(
              {
                ...MESSAGE,
                method: TEXT,
                url: { type: 'string', format: 'uri' },
                queryString: PAIRS,
              },
              { postData: strict({ mimeType: TEXT, text: TEXT }) },
            ),
            response: strict({
              ...MESSAGE,
              status: { type: 'integer', minimum: 0, maximum: 999 },
              statusText: TEXT,
              redirectURL: TEXT,
              content: CONTENT,
            }),
            cache: strict({}),
            timings: strict({ send: TIME, wait: TIME, receive: TIME }),
          },
          { pageref: TEXT },
        ),
      ),
    },
    {
      pages: listOf(
        strict({
          startedDateTime: { type: 'string', format: 'date-time' },
          id: TEXT,
          title: TEXT,
          pageTimings: strict({}),
        }),
      ),
    },
  ),
});

const isHar = new Ajv2020({
  strict: false,
  formats: {
    'date-time': (text: string) => new Date(text).toISOString() === text,
    uri: (text: string) => /^https?:$/.test(new URL(text).protocol),
  },
}).compile(HAR);

describe('exchanges as HAR', () => {
  test('of a run have a page for each sandbox, and no reply that the client never got', async () => {
    const server = await serverFor({});
    const recorder = new ExchangeRecorder();
    server.sandboxes.events.add(({ kind, sandbox, exchange }) => {
      if (kind === 'exchange') recorder.record(sandbox.name, exchange);
      else recorder.endHold(sandbox.name, exchange);
    });
    const { send, control } = clientAt(server.port);
    const rules = [
      { on: 'listPets', hold: 'slow' },
      { on: 'createPet', apply: true, fault: 'reset' },
    ];
    await control('PUT scenario', { scenario: { rules } });
    const held = send('GET', '/v1/pets');
    await control('POST requests/count', { atLeast: 1 });
    await send('GET', '/~b/v1/inventory');
    const body = { name: 'Rex', categoryId: 1 };
    await expect(send('POST', '/v1/pets', { body })).rejects.toThrow();
    const har = JSON.parse([...writeHar('1', server.url, recorder.newest())].join(''));
    expect(isHar(har), JSON.stringify(isHar.errors)).toBe(true);
    expect(har.log.pages).toMatchObject([{ id: 'default' }, { id: 'b', title: 'sandbox b' }]);
    const none = { status: 0, headers: [], content: { size: 0 } };
    expect(har.log.entries).toMatchObject([
      { pageref: 'default', response: { ...none, comment: 'held back as slow' } },
      { pageref: 'b', response: { status: 200 } },
      { pageref: 'default', response: { ...none, comment: 'fault reset', _error: 'reset' } },
    ]);
    expect(JSON.stringify(har)).not.toContain('demo-key');
    await control('POST holds/release');
    await held;
    const [first] = JSON.parse([...writeHar('1', server.url, recorder.newest())].join('')).log
      .entries;
    expect(first.response).toMatchObject({ status: 200, comment: 'released as slow' });
  });

  test('of a run are the newest of each sandbox, as far as the memory lasts', () => {
    const record = (calls: string, recorder = new ExchangeRecorder(4500)) => {
      for (const [index, name] of [...calls].entries())
        recorder.record(name, exchangeWith({ number: index + 1 }));
      return recorder.newest().map(({ sandbox, exchange }) => sandbox + exchange.number);
    };
    expect(record('aba')).toEqual(['a1', 'b2', 'a3']);
    expect(record('abaca')).toEqual(['b2', 'a3', 'c4', 'a5']);
    const many = record(`b${'a'.repeat(1001)}`, new ExchangeRecorder());
    expect([many.length, ...many.slice(0, 2)]).toEqual([1001, 'b1', 'a3']);
  });

  test('have absolute addresses and the page of a proxy', async () => {
    const { send, control } = await openMock();
    await send('OPTIONS', '*');
    const scenario = { rules: [{ on: 'getPet', fault: 'html' }] };
    await control('PUT scenario', { scenario });
    await send('GET', '/v1/pets/1');
    const [about, page] = Object((await control('GET requests.har')).json).log.entries;
    expect(about.request.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(page.response).toMatchObject({
      status: 502,
      headers: expect.arrayContaining([{ name: 'Server', value: 'proxy' }]),
      content: { mimeType: 'text/html', text: expect.stringMatching(/^<html>/) },
    });
  });

  test('are what the client sent and got', async () => {
    const { send, control } = await openMock({ clock: Date.UTC(2030, 0), frozen: true });
    await send('POST', '/v1/pets?x=1&x=%20', { body: { name: 'Røde', categoryId: 1 } });
    const { json } = await control('GET requests.har');
    expect(isHar(json), JSON.stringify(isHar.errors)).toBe(true);
    const [entry] = Object(json).log.entries;
    expect(entry).toMatchObject({
      startedDateTime: '2030-01-01T00:00:00.000Z',
      request: {
        method: 'POST',
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1\/pets\?x=1&x=%20$/),
        queryString: [
          { name: 'x', value: '1' },
          { name: 'x', value: ' ' },
        ],
        postData: { mimeType: 'application/json', text: '{"name":"Røde","categoryId":1}' },
        bodySize: 31,
      },
      response: { status: 201, statusText: 'Created', content: { mimeType: 'application/json' } },
    });
    expect(entry.request.headers).toContainEqual({ name: 'Authorization', value: 'Bearer demo…' });
    expect(JSON.parse(entry.response.content.text)).toMatchObject({ name: 'Røde' });
    expect(entry.response.bodySize).toBe(Buffer.byteLength(entry.response.content.text));
  });

  test('say what the journal did not keep, and which fault left the client without a reply', async () => {
    const { send, control } = await openMock();
    await send('POST', '/v1/pets', { body: '{"name":"Rex","categoryId":1}'.padEnd(300_000) });
    await control('PATCH state', {
      animals: [1, 2, 3, 4, 5].map((id) => ({ id, name: 'x'.repeat(60_000) })),
    });
    await send('GET', '/v1/pets?limit=5');
    await send('HEAD', '/v1/pets/1');
    await control('PUT scenario', { scenario: { rules: [{ on: 'getPet', fault: 'reset' }] } });
    await expect(send('GET', '/v1/pets/1')).rejects.toThrow();
    const { json } = await control('GET requests.har');
    expect(isHar(json), JSON.stringify(isHar.errors)).toBe(true);
    const { entries } = Object(json).log;
    const [
      ,
      {
        response: { bodySize: size },
      },
    ] = entries;
    expect(size).toBeGreaterThan(300_000);
    const latest = await control('GET requests.har?operation=getPet&limit=1&order=desc');
    expect(Object(latest.json).log.entries).toEqual(entries.slice(-1));
    const comment = expect.any(String);
    expect(entries).toMatchObject([
      { request: { bodySize: 300_000, postData: { comment } } },
      { response: { bodySize: size, content: { size: size, comment } } },
      { response: { bodySize: 0, content: { size: 0 } } },
      { response: { status: 0, _error: 'reset' } },
    ]);
    const [first, second] = Object((await control('GET requests')).json).exchanges;
    expect(first.request).toEqual({ headers: first.request.headers, cut: true, size: 300_000 });
    expect(second.reply).toMatchObject({ cut: true, size: size });
  });
});

test.each([
  ['a page', {}, { headers: { origin: 'https://page.example' } }],
  ['a page, under --plain', { plain: true }, { headers: { origin: 'https://page.example' } }],
  ['a page that gets no CORS', { assume: { cors: 'absent' } }, { headers: { origin: 'null' } }],
  ['a charset', { assume: { 'json-charset': 'utf-8' } }, {}],
  ['a moved clock', { clock: Date.UTC(2040, 0) }, {}],
  ['a forced status', {}, { headers: { prefer: 'code=404' } }],
] as const)('the journal has the headers that the mock sends: %s', async (_name, options, sent) => {
  const { send, control } = clientAt((await serverFor({ ...options })).port);
  for (const [method, path] of [
    ['GET', '/v1/pets/1'],
    ['HEAD', '/v1/pets'],
    ['GET', '/v1/none'],
    ['DELETE', '/v1/store/orders/1'],
    ['OPTIONS', '/v1/pets'],
  ] as const) {
    const { headers } = await send(method, path, sent);
    const { json } = await control('GET requests?limit=1');
    const { date, ...others } = Object(json).exchanges[0].reply.headers;
    const { date: sentAt, connection: _, 'keep-alive': __, ...rest } = headers;
    expect(others).toEqual(rest);
    expect(Math.abs(Date.parse(date) - Date.parse(String(sentAt)))).toBeLessThanOrEqual(1000);
  }
});

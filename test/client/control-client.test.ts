import { createServer } from 'node:http';
import { beforeAll, describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import {
  type BodyOf,
  ControlClient,
  type QueryOf,
  type ReplyOf,
  type Route,
} from '../../src/client/control-client.ts';
import { startServer } from '../../src/index.ts';
import type { RunningServer } from '../../src/server/server.ts';
import { listen } from '../helpers/host.ts';

let server: RunningServer;
let client: ControlClient;

beforeAll(async () => {
  server = await startServer({ port: 0 });
  client = new ControlClient({ url: `${new URL(server.url).origin}/__mock` });
  return () => server.close();
});

const list = async (key = 'demo-key') => {
  await fetch(`${server.url}/pets`, { headers: { authorization: `Bearer ${key}` } });
};

describe('a call', () => {
  test('has the path, the query and the body of its route, and the type of its reply', async () => {
    const clock = await client.call('PUT /clock', { body: { frozen: true } });
    expectTypeOf(clock).toEqualTypeOf<{
      readonly now: string;
      readonly frozen: boolean;
      readonly real: boolean;
    }>();
    expect(clock).toMatchObject({ frozen: true, real: false });
    const animals = await client.call('GET /animals', { query: { q: 're', _limit: 1 } });
    expect(animals).toEqual([expect.objectContaining({ id: 1 })]);
    const animal = await client.call('PATCH /animals/{id}', {
      path: { id: 1 },
      body: { status: null },
    });
    expect(animal).not.toHaveProperty('status');
    expectTypeOf(client.call<'DELETE /animals/{id}'>).returns.resolves.toEqualTypeOf<undefined>();
    expect(await client.call('DELETE /animals/{id}', { path: { id: 1 } })).toBeUndefined();
  });

  test('keeps every digit of an integer, both ways, and escapes what a path contains', async () => {
    const body = { id: 9007199254740993n, name: 'Rex', categoryId: 1 };
    await client.call('POST /animals', { body });
    expect(await client.call('GET /animals/{id}', { path: { id: body.id } })).toEqual(body);
    const call = client.call('DELETE /snapshots/{name}', { path: { name: '../orders/1' } });
    await expect(call).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });

  test('does not compile with another route, member or value', () => {
    const calls = (): unknown => [
      // @ts-expect-error no such route
      client.call('GET /clocks'),
      // @ts-expect-error a body is required
      client.call('PUT /clock'),
      // @ts-expect-error not an option
      client.call('PUT /clock', { body: { freeze: true } }),
      // @ts-expect-error the parameter of the path is required
      client.call('GET /requests/{number}'),
      // @ts-expect-error no such filter
      client.call('GET /requests', { query: { operations: 'listPets' } }),
      // @ts-expect-error a reply of text
      client.call('GET /requests/{number}/rule', { path: { number: 1 } }),
    ];
    expect(calls).toBeTypeOf('function');
  });

  test('has a type for the body, the query and the reply of every route', () => {
    type Untyped = {
      [R in Route]: unknown extends BodyOf<R> | QueryOf<R> | ReplyOf<R> ? R : never;
    }[Route];
    expectTypeOf<Untyped>().toEqualTypeOf<never>();
  });

  test('reads text, and headers', async () => {
    const path = { name: 'no-cat' };
    const yaml = 'description: No cat.\n';
    await client.call('PUT /scenarios/{name}', { path, body: yaml });
    expect(await client.text('GET /scenarios/{name}', { path })).toBe(yaml);
    const reply = await client.send('GET /scenarios/{name}', { path });
    const ifMatch = { 'If-Match': reply.headers.get('ETag') ?? '' };
    const body = { description: 'Still no cat.' };
    await client.call('PUT /scenarios/{name}', { path, body, headers: ifMatch });
    const late = client.call('PUT /scenarios/{name}', { path, body, headers: ifMatch });
    await expect(late).rejects.toMatchObject({ status: 412, code: 'changed_meanwhile' });
  });
});

test('a client of another sandbox calls the same server', async () => {
  const other = client.sandbox('other');
  expect(other.url).toBe(`${new URL(server.url).origin}/~other/__mock`);
  expect((await other.call('GET /status')).sandbox).toBe('other');
  expect(other.sandbox('default').url).toBe(client.url);
});

describe('a refusal', () => {
  test('says what was called, and each problem with its place', async () => {
    const call = client.call('PUT /scenario', {
      body: { scenario: { rules: [{ on: 'getPet', delay: -1 }] } },
    });
    await expect(call).rejects.toMatchObject({
      name: 'ControlError',
      status: 400,
      code: 'invalid_input',
      message: expect.stringMatching(/^\$\.scenario\.rules\[0\]\.delay: expected milliseconds/),
      call: `PUT ${client.url}/scenario`,
      problems: [
        {
          path: '$.scenario.rules[0].delay',
          expected: expect.stringMatching(/^milliseconds from 0/),
          found: '-1',
        },
      ],
    });
  });

  test('says the line and the column in a text', async () => {
    const call = client.call('PUT /scenario', { body: { text: 'rules:\n  - { on: getPets }\n' } });
    await expect(call).rejects.toMatchObject({
      message: expect.stringMatching(/^request:2:11: \$\.rules\[0\]\.on: expected /),
      problems: [
        { path: '$.rules[0].on', found: expect.stringMatching(/getPets/), line: 2, column: 11 },
      ],
    });
  });

  test('says when something else answers, or nothing', async () => {
    const other = createServer((_request, response) => response.end('<html>'));
    const url = `http://127.0.0.1:${await listen(other)}/__mock`;
    onTestFinished(() => void other.close());
    const strange = new ControlClient({ url }).call('GET /clock');
    await expect(strange).rejects.toThrow(/got 200 from something other than petstore-mock/);
    const polite = createServer((_request, response) => response.end('{}'));
    const other200 = `http://127.0.0.1:${await listen(polite)}/__mock`;
    onTestFinished(() => void polite.close());
    const believed = new ControlClient({ url: other200 }).ping();
    await expect(believed).rejects.toThrow(/got 200 from something other than petstore-mock/);
    const nobody = new ControlClient({ url: 'http://127.0.0.1:1/__mock' }).call('GET /clock');
    await expect(nobody).rejects.toThrow('no petstore-mock answers at http://127.0.0.1:1/__mock');
  });
});

test.each([
  ['nock', Object.assign(new TypeError('fetch failed'), { cause: Error('Nock: Disallowed net') })],
  ['MSW', new Error('[MSW] Cannot bypass a request when using the "error" strategy')],
])('a call that %s blocks says so, and what to do', async (name, error) => {
  const url = 'http://127.0.0.1:4010/__mock';
  const call = new ControlClient({ url, fetch: () => Promise.reject(error) }).call('GET /clock');
  const [blocks, before] = [
    `${name} blocks calls to ${url}`,
    `petstore-mock before ${name} starts`,
  ];
  await expect(call).rejects.toThrow(blocks);
  await expect(call).rejects.toThrow(before);
});

describe('events', () => {
  test('come with their types, until the signal aborts', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const events = client.events('GET /requests/stream', {
      query: { status: 401, after: 0 },
      signal,
    });
    const seen: ReplyOf<'GET /requests/{number}'>[] = [];
    const read = async () => {
      for await (const event of events) {
        if (event.name !== 'exchange') continue;
        seen.push(event.data);
        controller.abort(new Error('enough'));
      }
    };
    await list('no-key');
    await expect(read()).rejects.toThrow('enough');
    expect(seen).toEqual([expect.objectContaining({ operation: 'listPets', status: 401 })]);
  });
});

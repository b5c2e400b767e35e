import { afterEach, describe, expect, test } from 'vitest';
import { shippedScenarios } from '../../src/scenario/load-scenario.ts';
import { type RunningServer, startServer } from '../../src/server.ts';
import { type Answer, type Ask, asker } from '../helpers/ask.ts';
import { openRaw, rawRequest } from '../helpers/raw.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function start(...scenarios: string[]): Promise<RunningServer> {
  const server = await startServer({ scenarios, port: 0 });
  closers.push(() => server.close());
  return server;
}

/** Every operation, called as a client would that expects a success. */
const EVERY_CALL: readonly [method: string, path: string, body?: object][] = [
  ['GET', '/pets'],
  ['POST', '/pets', { name: 'Rex', categoryId: 1 }],
  ['GET', '/pets/1'],
  ['GET', '/inventory'],
  ['PATCH', '/inventory/1', { quantity: 3 }],
  ['GET', '/store/orders'],
  ['DELETE', '/store/orders/1'],
];

async function askAll(ask: Ask): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const [method, path, body] of EVERY_CALL) {
    answers.push(await ask(method, path, body === undefined ? {} : { body }));
  }
  return answers;
}

const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status);
const READS = ['/pets', '/pets/1', '/inventory', '/store/orders'];

/** What shows on the wire that each preset does what its description says. */
const SHOWS: Readonly<Record<string, (ask: Ask, port: number) => Promise<void>>> = {
  'after-sunset': async (ask) => {
    const answer = await ask('GET', '/pets/1');
    expect(answer).toMatchObject({ status: 410, json: { code: 'gone' } });
    expect(answer.headers.date).toMatch(/^Fri, 06 Dec 2030 00:00:/);
    expect((await ask('GET', '/pets')).status).toBe(200);
  },
  'cancelled-orders': async (ask) => {
    for (let id = 1; id <= 14; id += 1) {
      const { status, headers } = await ask('DELETE', `/store/orders/${id}`);
      expect(status).toBe(409);
      expect(headers['mock-basis']).toBe('assumed;by="cancel-again=409"');
    }
  },
  'conflict-without-body': async (ask) => {
    const { status, text } = await ask('DELETE', '/store/orders/2');
    expect([status, text]).toEqual([409, '']);
  },
  'connection-reset': async (ask) => {
    for (const [method, path, body] of EVERY_CALL) {
      const asked = ask(method, path, body === undefined ? {} : { body });
      await expect(asked).rejects.toMatchObject({ code: 'ECONNRESET' });
    }
  },
  'empty-inventory': async (ask) => {
    expect((await ask('GET', '/inventory')).json).toEqual([]);
    expect((await ask('PATCH', '/inventory/1', { body: { quantity: 1 } })).status).toBe(404);
    expect((await ask('GET', '/pets/1')).status).toBe(200);
  },
  'empty-store': async (ask) => {
    for (const path of ['/pets', '/inventory', '/store/orders']) {
      expect((await ask('GET', path)).json).toEqual([]);
    }
    expect((await ask('GET', '/pets/1')).status).toBe(404);
    expect((await ask('DELETE', '/store/orders/1')).status).toBe(404);
  },
  'expiring-key': async (ask, port) => {
    expect((await ask('GET', '/pets')).status).toBe(200);
    await advance(port, 'PT59S');
    expect((await ask('GET', '/pets')).status).toBe(200);
    await advance(port, 'PT1S');
    expect(statuses(await askAll(ask))).toEqual(EVERY_CALL.map(() => 401));
  },
  flaky: async (ask) => {
    const answers: Answer[] = [];
    for (let count = 0; count < 200; count += 1) answers.push(await ask('GET', '/pets'));
    const failed = answers.filter(({ status }) => status === 503);
    expect(failed.length).toBeGreaterThan(20);
    expect(failed.length).toBeLessThan(60);
    expect(failed.every(({ headers }) => headers['retry-after'] !== undefined)).toBe(true);
    expect(failed[0]?.headers['mock-basis']).toBe('forced;by="flaky#1"');
  },
  'int64-ids': async (ask) => {
    const reply = await ask('GET', '/pets/9007199254740993');
    expect(reply.text).toContain('"id":9007199254740993,"name":"Whiskers"');
    expect((await ask('GET', '/pets/9007199254740992')).text).toContain('"name":"Rex"');
    expect((await ask('DELETE', '/store/orders/9223372036854775807')).status).toBe(409);
    const created = await ask('POST', '/pets', { body: { name: 'Bo', categoryId: 1 } });
    expect(created.text).toMatch(/"id":\d{16,19},/);
  },
  'invalid-keys': async (ask) => {
    expect(statuses(await askAll(ask))).toEqual(EVERY_CALL.map(() => 401));
    const { json } = await ask('GET', '/pets', { key: 'demo-read-only-key' });
    expect(json).toMatchObject({ message: 'this key is listed as invalid' });
  },
  'large-store': async (ask) => {
    expect((await ask('GET', '/pets/100000')).status).toBe(200);
    expect((await ask('GET', '/pets/100001')).status).toBe(404);
    expect((await ask('GET', '/inventory')).json).toHaveLength(100_000);
    expect((await ask('GET', '/store/orders')).json).toHaveLength(10_000);
  },
  'lost-reply': async (ask) => {
    const reset = { code: 'ECONNRESET' };
    await expect(ask('DELETE', '/store/orders/1')).rejects.toMatchObject(reset);
    expect((await ask('DELETE', '/store/orders/1')).status).toBe(409);
    const update = { body: { quantity: 77 } };
    await expect(ask('PATCH', '/inventory/1', update)).rejects.toMatchObject(reset);
    expect((await ask('GET', '/inventory')).json).toContainEqual(
      expect.objectContaining({ petId: 1, quantity: 77 }),
    );
    const create = { body: { name: 'Rex', categoryId: 1 } };
    await expect(ask('POST', '/pets', create)).rejects.toMatchObject(reset);
    const { json } = await ask('POST', '/pets', create);
    expect(json).toMatchObject({ id: 66 });
  },
  'malformed-json': async (ask) => {
    for (const path of READS) {
      const { status, headers, text } = await ask('GET', path);
      expect(status).toBe(200);
      expect(headers['content-type']).toMatch(/^application\/json/);
      expect(Buffer.byteLength(text)).toBe(Number(headers['content-length']));
      expect(() => JSON.parse(text)).toThrow(SyntaxError);
    }
  },
  'no-orders': async (ask) => {
    expect((await ask('GET', '/store/orders')).json).toEqual([]);
    expect((await ask('DELETE', '/store/orders/1')).status).toBe(404);
    expect((await ask('GET', '/pets/1')).status).toBe(200);
  },
  outage: async (ask) => {
    for (const answer of await askAll(ask)) {
      expect(answer).toMatchObject({ status: 503, json: { code: 'service_unavailable' } });
      expect(answer.headers['retry-after']).toBe('30');
    }
  },
  'proxy-error-page': async (ask) => {
    for (const { status, headers, text } of await askAll(ask)) {
      expect(status).toBe(502);
      expect(headers['content-type']).toMatch(/^text\/html/);
      expect(headers['mock-basis']).toBeUndefined();
      expect(text).toMatch(/^<html>|^<!DOCTYPE html>/i);
    }
  },
  'rate-limited': async (ask) => {
    const answers = [];
    for (let count = 0; count < 3; count += 1) answers.push(await ask('GET', '/pets'));
    expect(statuses(answers)).toEqual([200, 200, 429]);
    expect(answers[2]?.headers['retry-after']).toBe('1');
  },
  'read-only-key': async (ask) => {
    expect(statuses(await askAll(ask))).toEqual([200, 403, 200, 200, 403, 200, 403]);
  },
  'shipped-orders': async (ask) => {
    for (let id = 1; id <= 14; id += 1) {
      const { status, headers } = await ask('DELETE', `/store/orders/${id}`);
      expect([status, headers['mock-basis']]).toEqual([409, 'documented']);
    }
  },
  slow: async (ask) => {
    const started = performance.now();
    expect((await ask('GET', '/pets')).status).toBe(200);
    expect(performance.now() - started).toBeGreaterThan(490);
  },
  'sold-out': async (ask) => {
    expect((await ask('GET', '/pets')).json).toHaveLength(3);
    expect((await ask('GET', '/pets?status=sold')).json).toHaveLength(3);
    expect((await ask('GET', '/inventory')).json).toEqual(
      [1, 2, 3].map((petId) => ({ petId, quantity: 0, status: 'sold' })),
    );
  },
  'sparse-orders': async (ask) => {
    const { json } = await ask('GET', '/store/orders');
    expect(json).toHaveLength(7);
    expect(json).toContainEqual({ id: 1 });
  },
  'truncated-bodies': async (_ask, port) => {
    for (const path of READS) {
      const connection = await openRaw(port);
      connection.send(rawRequest('GET', `/v1${path}`));
      const [head = '', body = ''] = (await connection.rest()).split('\r\n\r\n');
      const promised = Number(/Content-Length: (\d+)/i.exec(head)?.[1]);
      expect(body.length).toBeGreaterThan(0);
      expect(body.length).toBeLessThan(promised);
    }
  },
  'unseen-statuses': async (ask) => {
    expect((await ask('GET', '/pets/1')).json).toMatchObject({ status: 'quarantined' });
    expect((await ask('GET', '/pets?status=reserved')).json).toHaveLength(1);
    expect((await ask('GET', '/pets/3')).json).toMatchObject({ status: '' });
  },
};

/** Moves the clock of the default sandbox. */
async function advance(port: number, by: string): Promise<void> {
  const url = `http://127.0.0.1:${port}/__mock/clock/advance`;
  const headers = { 'Content-Type': 'application/json' };
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ by }) });
  expect(reply.status).toBe(200);
}

describe('a preset', () => {
  test.each(Object.entries(SHOWS))('%s does what its description says', async (name, show) => {
    const { port } = await start(name);
    await show(asker(port), port);
  });

  test('has a test here, every one that ships', () => {
    expect(Object.keys(SHOWS).sort()).toEqual(shippedScenarios().map(({ name }) => name));
  });

  test('can be combined with another, and the later one wins', async () => {
    const { port } = await start('shipped-orders', 'conflict-without-body');
    const { status, text } = await asker(port)('DELETE', '/store/orders/1');
    expect([status, text]).toEqual([409, '']);
  });
});

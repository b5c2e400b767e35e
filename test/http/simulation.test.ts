import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { type RunningServer, type ServerOptions, startServer } from '../../src/server.ts';
import { asker } from '../helpers/ask.ts';
import { closeRaw, openRaw, rawRequest } from '../helpers/raw.ts';

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  closeRaw();
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function start(options: ServerOptions = {}): Promise<RunningServer> {
  const server = await startServer({ ...options, port: 0 });
  closers.push(() => server.close());
  return server;
}

/** Writes a scenario called `test` for the running test and returns its path. */
function scenario(content: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'scenario-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'test.json');
  writeFileSync(path, JSON.stringify(content));
  return path;
}

const withRules = (...rules: object[]): ServerOptions => ({ scenarios: [scenario({ rules })] });

describe('a rule', () => {
  test('for calls 1 and 2 fires exactly twice when 100 requests arrive at once', async () => {
    const { port } = await start(
      withRules({ on: 'createPet', calls: '1-2', reply: { status: 503 } }),
    );
    const ask = asker(port);
    const body = { name: 'Rex', categoryId: 1 };
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => ask('POST', '/pets', { body })),
    );
    expect(answers.filter(({ status }) => status === 503)).toHaveLength(2);
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(98);
  });

  test('sends the documented body of a status, and is named in Mock-Basis', async () => {
    const { port } = await start(
      withRules({ on: 'cancelOrder', where: { orderId: 3 }, reply: { status: 404 } }),
    );
    const ask = asker(port);
    const answer = await ask('DELETE', '/store/orders/3');
    expect(answer).toMatchObject({ status: 404, json: { code: 'order_not_found', status: 404 } });
    expect(answer.headers['mock-basis']).toBe('forced;by="test#1"');
    expect((await ask('DELETE', '/store/orders/1')).status).toBe(204);
  });

  test('sends any body, even an invalid one, with its exact digits', async () => {
    const body =
      '{"rules":[{"on":"createPet","reply":{"status":201,"body":{"id":9007199254740993}}}]}';
    const path = scenario({});
    writeFileSync(path, body);
    const { port } = await start({ scenarios: [path] });
    const { text } = await asker(port)('POST', '/pets', { body: { name: 'Rex' } });
    expect(text).toBe('{"id":9007199254740993}');
  });

  test('decides before the key is checked', async () => {
    const { port } = await start(withRules({ on: '*', reply: { status: 500 } }));
    expect((await asker(port)('GET', '/pets', { key: null })).status).toBe(500);
  });

  test('can make the change and lose the reply', async () => {
    const { port } = await start(
      withRules({ on: 'cancelOrder', apply: true, fault: 'close', calls: 1 }),
    );
    const ask = asker(port);
    await expect(ask('DELETE', '/store/orders/1')).rejects.toThrow('socket hang up');
    expect((await ask('DELETE', '/store/orders/1')).status).toBe(409);
  });

  test('that only delays does not change the reply or its basis', async () => {
    const { port } = await start(withRules({ on: 'getPet', delay: 30 }));
    const started = performance.now();
    const { status, headers } = await asker(port)('GET', '/pets/1');
    expect([status, headers['mock-basis']]).toEqual([200, 'documented']);
    expect(performance.now() - started).toBeGreaterThan(28);
  });

  test('for --delay delays what no other rule decides, and survives a reset', async () => {
    const { port } = await start({
      delay: 30,
      ...withRules({ on: 'getPet', reply: { status: 503 } }),
    });
    const ask = asker(port);
    for (const _time of ['before', 'after']) {
      const started = performance.now();
      const { status, headers } = await ask('GET', '/inventory');
      expect([status, headers['mock-basis']]).toEqual([200, 'documented']);
      expect(performance.now() - started).toBeGreaterThan(28);
      await fetch(`http://127.0.0.1:${port}/__mock/reset`, { method: 'POST' });
    }
    expect((await ask('GET', '/pets/1')).status).toBe(503);
  });

  test('counts separately in each sandbox', async () => {
    const { port } = await start(withRules({ on: '*', calls: 1, reply: { status: 503 } }));
    for (const base of ['/v1', '/~one/v1', '/~two/v1']) {
      const ask = asker(port, base);
      expect((await ask('GET', '/pets')).status).toBe(503);
      expect((await ask('GET', '/pets')).status).toBe(200);
    }
  });
});

describe('Prefer', () => {
  test('gets a status, and is told so', async () => {
    const { port } = await start();
    const answer = await asker(port)('DELETE', '/store/orders/1', {
      headers: { Prefer: 'code=409' },
    });
    expect(answer).toMatchObject({ status: 409, json: { status: 409 } });
    expect(answer.headers['preference-applied']).toBe('code=409');
  });

  test('changes nothing', async () => {
    const { port } = await start();
    const ask = asker(port);
    const preferring = { headers: { Prefer: 'code=204' } };
    expect((await ask('DELETE', '/store/orders/1', preferring)).status).toBe(204);
    expect((await ask('DELETE', '/store/orders/1')).status).toBe(204);
  });

  test('applies the rules of a scenario to this request only', async () => {
    const { port } = await start();
    const ask = asker(port);
    const answer = await ask('GET', '/pets', { headers: { Prefer: 'scenario=outage' } });
    expect(answer.status).toBe(503);
    expect(answer.headers['preference-applied']).toBe('scenario=outage');
    expect((await ask('GET', '/pets')).status).toBe(200);
  });

  test.each([
    'return=minimal',
    'wait=10, respond-async; x="code=409"',
    'code=abc',
    'code=999',
    'scenario=nothing',
    'scenario=../../etc/passwd',
  ])('%s is ignored', async (preference) => {
    const { port } = await start();
    const answer = await asker(port)('GET', '/pets', { headers: { Prefer: preference } });
    expect(answer.status).toBe(200);
    expect(answer.headers['preference-applied']).toBeUndefined();
  });

  test.each([
    ['code=999', 'Prefer: code: expected a status from 200 to 599, found "999"'],
    ['scenario=outtage', 'one of this sandbox, found "outtage" (did you mean outage?)'],
    ['scenario', 'one of this sandbox, found ""'],
    ['status=401', 'Prefer: the mock knows no preference "status" (did you mean code?)'],
    ['return=minimal, scenari=slow', 'no preference "scenari" (did you mean scenario?)'],
  ])(
    '%s is explained in the journal, is a finding, and gets 400 with handling=strict',
    async (preference, why) => {
      const { port } = await start();
      const ask = asker(port);
      await ask('GET', '/pets', { headers: { Prefer: preference } });
      const { json } = await asker(port, '/__mock')('GET', '/requests');
      const finding = { code: 'unknown-preference', message: expect.stringContaining(why) };
      const explained = { why: [expect.stringContaining(why)], findings: [finding] };
      expect(json).toMatchObject({ exchanges: [explained] });
      const strict = await ask('GET', '/pets', {
        headers: { Prefer: `handling=strict, ${preference}` },
      });
      expect(strict).toMatchObject({
        status: 400,
        json: { code: 'invalid_input', message: expect.stringContaining(why) },
      });
      const right = await ask('GET', '/pets', { headers: { Prefer: 'code=401; handling=strict' } });
      expect(right.status).toBe(401);
    },
  );

  test('is ignored under --plain', async () => {
    const { port } = await start({ plain: true });
    const answer = await asker(port)('GET', '/pets', { headers: { Prefer: 'code=401' } });
    expect(answer.status).toBe(200);
    expect(answer.headers['preference-applied']).toBeUndefined();
  });
});

describe('a frozen clock', () => {
  test('produces the same bytes in every run', async () => {
    const requests = [
      rawRequest('GET', '/v1/pets?limit=3'),
      rawRequest('GET', '/v1/pets/1'),
      rawRequest('DELETE', '/v1/store/orders/1'),
      rawRequest('DELETE', '/v1/store/orders/1'),
    ];
    const body = '{"name":"Rex","categoryId":1}';
    const created = rawRequest('POST', '/v1/pets', {
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
    });
    const journal = rawRequest('GET', '/__mock/requests', { Connection: 'close' });
    const run = async (): Promise<string> => {
      const { port } = await start({ clock: Date.UTC(2030, 0, 1), frozen: true });
      const connection = await openRaw(port);
      connection.send(requests.join('') + created);
      const replies = await connection.replies(requests.length);
      // It comes later than its request, by a time that differs from run to run.
      connection.send(body + journal);
      return JSON.stringify(replies) + (await connection.rest());
    };
    const first = await run();
    expect(first).toContain('Date: Tue, 01 Jan 2030 00:00:00 GMT');
    expect(first).toContain('"number":5');
    expect(await run()).toBe(first);
  });
});

describe('a delay', () => {
  test('does not keep a server from closing', async () => {
    const server = await start(withRules({ on: 'getPet', delay: 300_000 }));
    const answer = asker(server.port)('GET', '/pets/1');
    await asker(server.port)('GET', '/pets');
    await server.close();
    expect((await answer).status).toBe(200);
  });

  test('ends when the client disconnects', async () => {
    const server = await start(withRules({ on: 'getPet', delay: 300_000 }));
    const connection = await openRaw(server.port);
    connection.send(rawRequest('GET', '/v1/pets') + rawRequest('GET', '/v1/pets/1'));
    expect((await connection.reply()).status).toBe(200);
    closeRaw();
    await server.close();
  });
});

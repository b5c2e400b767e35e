import { once } from 'node:events';
import { Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import {
  openLog,
  renderControlCall,
  renderFinding,
  renderJson,
  renderPretty,
} from '../../src/cli/log.ts';
import {
  type RecordedExchange,
  recordExchange,
} from '../../src/core/control/journal/recorded-exchange.ts';
import type { Exchange } from '../../src/core/sandbox/exchange.ts';
import type { Finding } from '../../src/core/sandbox/report-shapes.ts';
import { startCommand } from '../helpers/command.ts';
import { exchangeWith } from '../helpers/exchange.ts';
import { TOKEN_HOST } from '../helpers/host.ts';
import { serveInProcess } from '../helpers/invocation.ts';

const PLAIN = { width: 80, colour: false };

function logged(members: Partial<Exchange> = {}): RecordedExchange {
  const at = Date.UTC(2030, 11, 6, 1, 2, 3, 4);
  const exchange = { duration: 0.44, number: 7, at, target: '/v1/pets?limit=3', status: 200 };
  const told = { authorization: 'Bearer demo-key', reasons: ['as the document prescribes'] };
  return recordExchange(exchangeWith({ ...exchange, ...told, ...members }));
}

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const TRACEPARENT = ['traceparent', `00-${TRACE}-b7ad6b7169203331-01`];
const HOLD = { name: 'list', since: 0 };
const RELEASED = { ...HOLD, ended: 'released', lasted: 5.000_49 } as const;

describe('an exchange is a pretty line, and a line of JSON without members that have no value', () => {
  // biome-ignore format: a row for each
  test.each<[sandbox: string, Partial<Exchange>, line: string, json: object]>([
    ['default', { request: { headers: TRACEPARENT, body: undefined, size: 0 } }, `/v1/pets?limit=3 200 documented, 0.4 ms, trace ${TRACE}\n`, { target: '/v1/pets?limit=3', traceId: TRACE }],
    ['a', { operation: 'getPet', status: 404, duration: 5.123_45, basis: { kind: 'assumed', by: ['unknown-pet=404'] }, reasons: ['assumption unknown-pet=404', 'there is no animal 9'] }, '/v1/pets?limit=3 404 assumed, 5.1 ms, in sandbox a: assumption unknown-pet=404; there is no animal 9\n', { time: '2030-12-06T01:02:03.004Z', sandbox: 'a', number: 7, method: 'GET', operation: 'getPet', status: 404, duration: 5.123, basis: 'assumed', by: ['unknown-pet=404'], why: ['assumption unknown-pet=404', 'there is no animal 9'], key: 'demo…' }],
    ['default', { status: undefined, basis: { kind: 'forced', by: 'flaky#1' }, fault: { kind: 'reset' }, delay: 120, reasons: ['scenario flaky, rule 1, call 2 of 2'] }, '/v1/pets?limit=3 --- forced, 0.4 ms, fault reset, delayed by 120 ms: scenario flaky, rule 1, call 2 of 2\n', { fault: 'reset', delay: 120, basis: 'forced', by: ['flaky#1'] }],
    ['default', { hold: HOLD }, '/v1/pets?limit=3 200 documented, 0.4 ms, held as list\n', { hold: { name: 'list' } }],
    ['default', { hold: RELEASED }, '/v1/pets?limit=3 200 documented, 0.4 ms, released as list\n', { hold: { name: 'list', ended: 'released', lasted: 5 } }],
  ])('in sandbox %s: %j', (sandbox, members, line, json) => {
    const exchange = logged(members);
    expect(renderPretty(sandbox, exchange, PLAIN)).toBe(`01:02:03.004 GET    ${line}`);
    const entry = JSON.parse(renderJson(sandbox, exchange));
    expect(entry).toMatchObject(json);
    expect(Object.values(entry)).not.toContain(null);
    if (exchange.status === undefined) expect(entry).not.toHaveProperty('status');
  });
});

test('input from a client cannot forge or flood a line', () => {
  const hostile = '/v1/\r\n\u001B[2Jfake\u009B31m\u202Eabc\u2028';
  const long = hostile + 'x'.repeat(100_000);
  for (const members of [{ target: long }, { reasons: [long] }, { method: hostile }]) {
    const exchange = logged(members);
    for (const line of [renderPretty('a', exchange, PLAIN), renderJson('a', exchange)]) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern excludes these.
      expect(line).toMatch(/^[^\u0000-\u001F\u007F-\u009F\u2028\u202E]{1,2500}\n$/);
    }
  }
});

function exchanged(number: number): RecordedExchange {
  return recordExchange(exchangeWith({ number, target: `/v1/${'x'.repeat(900)}`, status: 404 }));
}

test('the log gathers lines; for a slow reader it drops some, says how many, and continues', async () => {
  const texts: string[] = [];
  const waiting: (() => void)[] = [];
  const output = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, taken) {
      texts.push(chunk.toString());
      waiting.push(() => taken());
    },
  });
  const log = openLog({ output, style: PLAIN }, 'json');
  const logAll = (from: number, to: number) => {
    for (let number = from; number <= to; number += 1)
      log?.hooks.observe?.('default', exchanged(number));
  };
  logAll(1, 3);
  expect(texts).toEqual([]);
  await expect.poll(() => texts.length).toBe(1);
  logAll(4, 5000);
  log?.flush();
  const drained = once(output, 'drain');
  waiting.shift()?.();
  waiting.shift()?.();
  await drained;
  logAll(5001, 5001);
  await expect.poll(() => texts.length).toBe(3);
  const entries: { number?: number; dropped?: number }[] = texts
    .flatMap((text) => text.trimEnd().split('\n'))
    .map((line) => JSON.parse(line));
  const kept = entries.filter(({ number }) => number !== undefined).length;
  const dropped = entries.findIndex((entry) => entry.dropped !== undefined);
  expect(entries[dropped]?.dropped).toBe(5001 - kept);
  expect(entries[dropped - 1]?.number).toBe(kept - 1);
  expect(entries.at(-1)?.number).toBe(5001);
  expect(texts[1]?.length).toBeLessThan(1.1 * 2 ** 20);
});

const get = (url: string, key: string, colour = 'red') =>
  fetch(`${url}/pets?colour=${colour}`, { headers: { Authorization: `Bearer ${key}` } });

test('a server answers and stops even if nobody reads its log', async () => {
  const server = await startCommand(['--port', '0']);
  server.process.stdout.pause();
  // Lines so long that they fill what lies between the two processes.
  const long = 'red'.repeat(600);
  for (let round = 0; round < 10; round += 1) {
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => get(server.url, 'demo-key', long)),
    );
    await Promise.all(replies.map((reply) => reply.arrayBuffer()));
  }
  server.process.kill('SIGTERM');
  expect(await new Promise((resolve) => server.process.once('exit', resolve))).toBe(0);
  server.process.stdout.resume();
  await server.exited;
});

test('with --log json every line but the ready line is JSON: exchanges, findings, control calls and notices', async () => {
  const server = await serveInProcess(['--port', '0', '--host', TOKEN_HOST, '--log', 'json']);
  await get(server.url, 'demo-key');
  await get(server.url.replace('/v1', '/~mine/v1'), 'secret-and-wrong-key');
  for (const path of ['health', 'status', 'state']) {
    await fetch(new URL(`/__mock/${path}`, server.url));
  }
  await server.stop();
  const [ready, ...lines] = `${server.stdout()}${server.stderr()}`.trimEnd().split('\n');
  expect(ready).toBe(`petstore-mock ready ${server.url}`);
  const entries = lines.map((line) => JSON.parse(line));
  expect(entries).toMatchObject([
    { sandbox: 'default', number: 1, target: '/v1/pets?colour=red', key: 'demo…' },
    { number: 1, finding: 'unknown-input', message: expect.stringContaining('colour') },
    { sandbox: 'default', number: 2, operation: 'listPets', status: 401, key: 'secr…' },
    { sandbox: 'default', finding: 'unknown-input' },
    { control: true, method: 'GET', target: '/__mock/state', status: 401 },
    { notice: expect.stringContaining('requires the token') },
  ]);
  expect(lines.join('\n')).not.toMatch(/demo-key|secret-and-wrong-key/);
  for (const number of JSON.stringify(entries).match(/\d+\.\d+/g) ?? []) {
    expect(number).toMatch(/^\d+\.\d{1,3}$/);
  }
});

test('findings and control calls have pretty lines', () => {
  const at = '2030-12-06T01:02:03.004Z';
  const finding: Finding = {
    ...{ code: 'rounded-id', sandbox: 'default', exchange: 7, operation: 'getPet', at },
    ...{ method: 'GET', target: '/v1/pets/1' },
    ...{ message: '1 is unknown.', advice: 'Read ids as 64-bit integers.' },
  };
  expect(renderFinding(finding, 'pretty', PLAIN)).toBe(
    '01:02:03.004 finding rounded-id: 1 is unknown. Read ids as 64-bit integers.\n',
  );
  const call = { method: 'PATCH', target: '/__mock/orders/1', status: 200 };
  const finished = { ...call, at: Date.parse(at), duration: 1.26 };
  expect(renderControlCall(finished, 'pretty', PLAIN)).toBe(
    '01:02:03.004 PATCH  /__mock/orders/1 200 control API, 1.3 ms\n',
  );
});

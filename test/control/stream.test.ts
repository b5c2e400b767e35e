import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { MOST_STREAMS, streamsOf } from '../../src/control/journal/exchange-stream.ts';
import { REQUEST_ENDPOINTS } from '../../src/control/journal/request-endpoints.ts';
import type { ExchangeFilter } from '../../src/evidence/report-shapes.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { Sandboxes } from '../../src/sandbox/sandboxes.ts';
import { startOf } from '../../src/scenario/sandbox-start.ts';
import { EMPTY_STORE } from '../../src/store/store.ts';
import { controlCall } from '../helpers/control-call.ts';
import { exchangeWith } from '../helpers/exchange.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const createSandboxes = () => new Sandboxes(startOf({}, EMPTY_STORE, []));

/** A stream whose client reads nothing until `read` is called. */
function slowStream({
  sandboxes = createSandboxes(),
  filter = {},
  sandbox = sandboxes.default,
  after,
  perSecond,
}: {
  readonly sandboxes?: Sandboxes;
  readonly filter?: ExchangeFilter;
  readonly sandbox?: Sandbox | undefined;
  readonly after?: number;
  readonly perSecond?: number;
} = {}) {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const written: string[] = [];
  let waiting = 0;
  vi.spyOn(response, 'write').mockImplementation((chunk) => {
    written.push(String(chunk));
    waiting += String(chunk).length;
    return false;
  });
  vi.spyOn(response, 'writableLength', 'get').mockImplementation(() => waiting);
  streamsOf({ sandboxes: sandboxes }).open(response, sandbox, { filter, after, perSecond });
  const read = (): void => {
    waiting = 0;
    vi.advanceTimersByTime(50);
  };
  /** The numbers of the exchanges that were sent. */
  const sent = (): number[] =>
    [...written.join('').matchAll(/^id: (\d+)\nevent: exchange$/gm)].map(([, id]) => Number(id));
  const dropped = (): number =>
    [...written.join('').matchAll(/^event: dropped\ndata: \{"count":(\d+)\}$/gm)].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  return { sandboxes, response, written, read, sent, dropped };
}

function record({ evidence }: Sandbox, count: number, target = '/v1/pets'): void {
  for (let left = count; left > 0; left -= 1) evidence.add(exchangeWith({ target }));
}

const upTo = (length: number): number[] => Array.from({ length }, (_, index) => index + 1);

test('a stream keeps up with 2,000 exchanges per second', () => {
  const { sandboxes, read, sent, dropped } = slowStream();
  for (let look = 0; look < 20; look += 1) {
    record(sandboxes.default, 100);
    read();
  }
  expect(sent()).toEqual(upTo(2000));
  expect(dropped()).toBe(0);
});

test('a stream that falls behind by more than 1,000 exchanges skips the oldest and says how many', () => {
  const { sandboxes, read, sent, dropped } = slowStream();
  for (let look = 0; look < 20; look += 1) {
    record(sandboxes.default, 1000);
    read();
  }
  for (let look = 0; look < 10; look += 1) read();
  expect(sent().at(-1)).toBe(20_000);
  expect(sent().length + dropped()).toBe(20_000);
  expect(sent()).toHaveLength(2900);
});

test('perSecond limits the rate after a burst of one second, and the rest counts as dropped', () => {
  const { sandboxes, read, sent, dropped } = slowStream({ perSecond: 200 });
  record(sandboxes.default, 200);
  for (let look = 0; look < 2; look += 1) read();
  expect(sent()).toEqual(upTo(200));
  for (let look = 0; look < 200; look += 1) {
    record(sandboxes.default, 100);
    read();
  }
  for (let look = 0; look < 40; look += 1) read();
  expect(sent().at(-1)).toBe(20_200);
  expect(sent().length + dropped()).toBe(20_200);
  expect(sent().length).toBeGreaterThan(2_000);
  expect(sent().length).toBeLessThan(2_400);
});

test('for a client that does not read, at most 1 MiB and one poll are buffered', () => {
  const { sandboxes, written, read, sent, dropped } = slowStream();
  for (let look = 0; look < 100; look += 1) {
    record(sandboxes.default, 100, `/v1/pets?${'x'.repeat(2000)}`);
    vi.advanceTimersByTime(50);
  }
  expect(written.join('').length).toBeLessThan(2 ** 20 + 300_000);
  expect(dropped()).toBe(0);
  for (let look = 0; look < 10; look += 1) read();
  expect(sent().at(-1)).toBe(10_000);
  expect(sent().length + dropped()).toBe(10_000);
});

test('a stream resumes after the last exchange that its client has read', () => {
  const sandboxes = createSandboxes();
  record(sandboxes.default, 5);
  const resumed = slowStream({ sandboxes, after: 3 });
  const fresh = slowStream({ sandboxes });
  const restarted = slowStream({ sandboxes, after: 1000 });
  record(sandboxes.default, 1);
  resumed.read();
  expect(resumed.sent()).toEqual([4, 5, 6]);
  expect(fresh.sent()).toEqual([6]);
  expect(restarted.sent()).toEqual(upTo(6));
});

test('an idle stream sends a comment every 15 s until it closes', () => {
  const { response, written } = slowStream();
  vi.advanceTimersByTime(15_000);
  expect(written).toEqual([':\n\n', ':\n\n']);
  response.emit('close');
  expect(vi.getTimerCount()).toBe(0);
});

test('a stream of a deleted sandbox gets its last exchanges, and nothing from a new one with its name', async () => {
  const sandboxes = createSandboxes();
  const { sent } = slowStream({ sandboxes, sandbox: sandboxes.find('a') });
  record(sandboxes.find('a') ?? sandboxes.default, 1);
  await sandboxes.remove('a');
  expect(sent()).toEqual([1]);
  record(sandboxes.find('a') ?? sandboxes.default, 2);
  vi.advanceTimersByTime(50);
  expect(sent()).toEqual([1]);
  expect(vi.getTimerCount()).toBe(0);
});

test('a busy sandbox does not starve the streams of another', () => {
  const sandboxes = createSandboxes();
  const busy = slowStream({ sandboxes });
  const other = sandboxes.find('other') ?? sandboxes.default;
  const quiet = slowStream({ sandboxes, sandbox: other });
  record(sandboxes.default, 500);
  record(other, 1);
  vi.advanceTimersByTime(100);
  expect(quiet.sent()).toEqual([1]);
  expect(busy.sent().length).toBeGreaterThan(100);
});

test('a server has at most 100 open streams', () => {
  const { sandboxes, response } = slowStream();
  const streams = streamsOf({ sandboxes: sandboxes });
  for (let count = 2; count <= MOST_STREAMS; count += 1) {
    expect(streams.areFull).toBe(false);
    slowStream({ sandboxes });
  }
  expect(MOST_STREAMS).toBe(100);
  expect(streams.areFull).toBe(true);
  const [endpoint] = REQUEST_ENDPOINTS.filter(({ id }) => id === 'streamRequests');
  const ask = () => endpoint?.handle(controlCall(sandboxes));
  expect(ask()).toMatchObject({
    status: 503,
    body: { value: { code: 'service_unavailable', status: 503 } },
  });
  response.emit('close');
  expect(ask()).toMatchObject({ status: 200, body: { kind: 'stream' } });
});

test('a stream that resumes before the first exchange has skipped none', () => {
  const { sandboxes, read, sent, dropped } = slowStream({ after: -5 });
  record(sandboxes.default, 3);
  read();
  expect([sent(), dropped()]).toEqual([[1, 2, 3], 0]);
});

test('a list of the journal without a limit has at most 100,000 exchanges and the total', async () => {
  const start = startOf({}, EMPTY_STORE, []);
  const sandboxes = new Sandboxes(start, { journal: 100_500 });
  record(sandboxes.default, 100_500);
  const endpoint = REQUEST_ENDPOINTS.find(({ id }) => id === 'listRequests');
  const reply = await endpoint?.handle(controlCall(sandboxes));
  if (reply?.body.kind !== 'pieces') throw new Error('The list is not written in pieces.');
  const { exchanges, total } = JSON.parse([...reply.body.pieces].join(''));
  expect([exchanges.length, exchanges[0].number, total]).toEqual([100_000, 501, 100_500]);
});

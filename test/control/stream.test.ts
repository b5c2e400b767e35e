import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import type { ControlCall } from '../../src/control/endpoint.ts';
import { MOST_STREAMS, streamsOf } from '../../src/control/journal/exchange-stream.ts';
import { REQUEST_ENDPOINTS } from '../../src/control/journal/request-endpoints.ts';
import { Exchange, type ExchangeFilter } from '../../src/evidence/journal.ts';
import { Sandboxes } from '../../src/sandbox/sandboxes.ts';
import { startOf } from '../../src/scenario/sandbox-start.ts';
import { ScenarioLibrary } from '../../src/scenario/scenario-library.ts';
import { loadFixtureSync } from '../../src/store/fixture/load-fixture.ts';
import { callOf } from '../helpers/call.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A stream whose client reads nothing until `read` is called. */
function slowStream(
  sandboxes = new Sandboxes(startOf({}, loadFixtureSync('default'), [])),
  filter: ExchangeFilter = {},
  sandbox = sandboxes.default,
) {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const written: string[] = [];
  const chunks: unknown[] = [];
  let waiting = 0;
  vi.spyOn(response, 'write').mockImplementation((chunk) => {
    written.push(String(chunk));
    chunks.push(chunk);
    waiting += String(chunk).length;
    return false;
  });
  vi.spyOn(response, 'writableLength', 'get').mockImplementation(() => waiting);
  streamsOf(sandboxes.observers).open(response, sandbox, filter);
  const read = (): void => {
    waiting = 0;
    response.emit('drain');
  };
  return { sandboxes, response, written, chunks, read };
}

const SEEN = {
  method: 'GET',
  target: `/v1/pets?${'x'.repeat(2000)}`,
  authorization: undefined,
  call: callOf('listPets'),
  connection: {},
  connectedAt: undefined,
  receivedAt: 0,
} as const;

const RESET = {
  kind: 'fault',
  fault: { kind: 'reset' },
  reply: undefined,
  delay: 0,
} as const;

test('a slow client learns how many exchanges it missed', () => {
  const { sandboxes, written, read } = slowStream();
  const { journal } = sandboxes.default;
  for (let count = 0; count < 1000; count += 1) journal.record(0, SEEN, RESET);
  const sent = written.filter((text) => text.includes('event: exchange')).length;
  expect(sent).toBeLessThan(600);
  read();
  expect(written.at(-1)).toBe(`event: dropped\ndata: {"count":${1000 - sent}}\n\n`);
  journal.record(0, SEEN, RESET);
  expect(written.at(-1)).toMatch(/^id: 1001\nevent: exchange\n/);
});

test('an idle stream sends a comment every 15 s until it closes', () => {
  vi.useFakeTimers();
  const { sandboxes, response, written, read } = slowStream();
  read();
  vi.advanceTimersByTime(15_000);
  expect(written).toEqual([':\n\n', ':\n\n']);
  response.emit('close');
  expect(vi.getTimerCount()).toBe(0);
  expect(sandboxes.observers.size).toBe(0);
});

test('a stream of a deleted sandbox gets nothing from a new one with its name', () => {
  const sandboxes = new Sandboxes(startOf({}, loadFixtureSync('default'), []));
  const { written } = slowStream(sandboxes, {}, sandboxes.find('a'));
  sandboxes.find('a')?.journal.record(0, SEEN, RESET);
  expect(written).toHaveLength(2);
  sandboxes.delete('a');
  sandboxes.find('a')?.journal.record(0, SEEN, RESET);
  expect(written).toHaveLength(2);
  expect(sandboxes.observers.size).toBe(0);
});

test('an exchange is serialized once for all streams of its sandbox, and only if one of them wants it', () => {
  const { sandboxes, chunks } = slowStream();
  const others = [slowStream(sandboxes), slowStream(sandboxes)];
  const picky = slowStream(sandboxes, { status: 404 });
  const decode = vi.spyOn(Exchange.prototype, 'requestBody', 'get');
  sandboxes.default.journal.record(0, SEEN, RESET);
  expect(decode).toHaveBeenCalledTimes(1);
  for (const other of others) expect(other.chunks.at(-1)).toBe(chunks.at(-1));
  expect(String(chunks.at(-1))).toContain('event: exchange');
  expect(picky.chunks).toHaveLength(1);
  sandboxes.find('another')?.journal.record(0, SEEN, RESET);
  expect(decode).toHaveBeenCalledTimes(1);
  decode.mockRestore();
});

test('a server has at most 100 open streams', () => {
  const { sandboxes, response } = slowStream();
  const streams = streamsOf(sandboxes.observers);
  for (let count = 2; count <= MOST_STREAMS; count += 1) {
    expect(streams.areFull).toBe(false);
    slowStream(sandboxes);
  }
  expect(MOST_STREAMS).toBe(100);
  expect(streams.areFull).toBe(true);
  const [endpoint] = REQUEST_ENDPOINTS.filter(({ id }) => id === 'streamRequests');
  const ask = () => endpoint?.handle(callTo(sandboxes));
  expect(ask()).toMatchObject({
    status: 503,
    body: { value: { code: 'service_unavailable', status: 503 } },
  });
  response.emit('close');
  expect(ask()).toMatchObject({ status: 200, body: { kind: 'stream' } });
});

function callTo(sandboxes: Sandboxes): ControlCall {
  return {
    parts: {
      sandboxes,
      starter: () => Promise.reject(new Error('not asked for')),
      library: new ScenarioLibrary(),
      guard: { loopback: true, token: undefined },
      enabled: true,
    },
    sandbox: sandboxes.default,
    params: {},
    query: new URLSearchParams(),
    body: undefined,
    mount: '/__mock',
    url: 'http://localhost/__mock',
  };
}

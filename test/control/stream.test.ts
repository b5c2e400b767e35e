import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openStream } from '../../src/control/journal/exchange-stream.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { Sandboxes } from '../../src/sandbox/sandboxes.ts';
import { startOf } from '../../src/scenario/sandbox-start.ts';
import { EMPTY_STORE } from '../../src/store/store.ts';
import { exchangeWith } from '../helpers/exchange.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const createSandboxes = () => new Sandboxes(startOf({}, EMPTY_STORE, []));

/** A stream whose client reads nothing until `read` is called. */
function slowStream(sandbox: Sandbox = createSandboxes().default, after?: number) {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  let written = '';
  let waiting = 0;
  vi.spyOn(response, 'write').mockImplementation((chunk) => {
    written += String(chunk);
    waiting += String(chunk).length;
    return false;
  });
  vi.spyOn(response, 'writableLength', 'get').mockImplementation(() => waiting);
  openStream(response, sandbox, {}, false, after);
  onTestFinished(() => {
    response.emit('close');
  });
  const read = (): void => {
    waiting = 0;
    vi.advanceTimersByTime(50);
  };
  const numbers = (pattern: RegExp) => [...written.matchAll(pattern)].map(([, it]) => Number(it));
  /** The numbers of the exchanges that were sent, and how many were not. */
  const sent = () => numbers(/^id: (\d+)\nevent: exchange$/gm);
  const dropped = () =>
    numbers(/^event: dropped\ndata: \{"count":(\d+)\}$/gm).reduce((sum, it) => sum + it, 0);
  return { sandbox, response, written: () => written, read, sent, dropped };
}

function record({ evidence }: Sandbox, count: number, target = '/v1/pets'): void {
  for (let left = count; left > 0; left -= 1) evidence.take({ exchange: exchangeWith({ target }) });
}

test.each([
  [100, 2000, 2000],
  [1000, 20_000, 2900],
])(
  'of 20 times %i exchanges, %i in all, a stream sends %i and counts the others',
  (each, all, most) => {
    const { sandbox, read, sent, dropped } = slowStream();
    for (let look = 0; look < 30; look += 1) {
      if (look < 20) record(sandbox, each);
      read();
    }
    expect([sent().length, sent().at(-1), dropped()]).toEqual([most, all, all - most]);
  },
);

test('for a client that does not read, at most 1 MiB and one poll are buffered', () => {
  const { sandbox, written, read, sent, dropped } = slowStream();
  for (let look = 0; look < 100; look += 1) {
    record(sandbox, 100, `/v1/pets?${'x'.repeat(2000)}`);
    vi.advanceTimersByTime(50);
  }
  expect(written().length).toBeLessThan(2 ** 20 + 300_000);
  expect(dropped()).toBe(0);
  for (let look = 0; look < 10; look += 1) read();
  expect([sent().at(-1), sent().length + dropped()]).toEqual([10_000, 10_000]);
});

test('an idle stream sends a comment every 15 s until it closes', () => {
  const { response, written } = slowStream();
  vi.advanceTimersByTime(15_000);
  expect(written()).toBe(':\n\n:\n\n');
  response.emit('close');
  expect(vi.getTimerCount()).toBe(0);
});

test('a stream of a deleted sandbox gets its last exchanges, and nothing from a new one with its name', async () => {
  const sandboxes = createSandboxes();
  const { sent } = slowStream(sandboxes.find('a'));
  record(sandboxes.find('a') ?? sandboxes.default, 1);
  await sandboxes.remove('a');
  expect(sent()).toEqual([1]);
  record(sandboxes.find('a') ?? sandboxes.default, 2);
  vi.advanceTimersByTime(50);
  expect([sent(), vi.getTimerCount()]).toEqual([[1], 0]);
});

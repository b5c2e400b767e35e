import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { streamExchanges } from '../../src/control/stream.ts';
import { Sandboxes } from '../../src/simulation/sandboxes.ts';
import { startOf } from '../../src/simulation/start.ts';
import { loadFixture } from '../../src/store/fixture.ts';
import { createStore } from '../../src/store/store.ts';
import { callOf } from '../helpers/call.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A stream to a client that reads nothing until it is told to. */
function slowStream() {
  const sandboxes = new Sandboxes(startOf({}, createStore(loadFixture('default')), []));
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const written: string[] = [];
  let waiting = 0;
  vi.spyOn(response, 'write').mockImplementation((chunk) => {
    written.push(String(chunk));
    waiting += String(chunk).length;
    return false;
  });
  vi.spyOn(response, 'writableLength', 'get').mockImplementation(() => waiting);
  streamExchanges(response, sandboxes.default, {}, sandboxes.observers);
  const read = (): void => {
    waiting = 0;
    response.emit('drain');
  };
  return { sandboxes, response, written, read };
}

const SEEN = {
  method: 'GET',
  target: `/v1/pets?${'x'.repeat(2000)}`,
  authorization: undefined,
  call: callOf('listPets'),
  connection: {},
  connectedAt: undefined,
} as const;

test('a slow client is told how many exchanges it has missed', () => {
  const { sandboxes, written, read } = slowStream();
  const { journal } = sandboxes.default;
  const outcome = {
    kind: 'fault',
    fault: { kind: 'reset' },
    reply: undefined,
    delay: 0,
  } as const;
  for (let count = 0; count < 1000; count += 1) journal.record(0, SEEN, outcome);
  const sent = written.filter((text) => text.includes('event: exchange')).length;
  expect(sent).toBeLessThan(600);
  read();
  expect(written.at(-1)).toBe(`event: dropped\ndata: {"count":${1000 - sent}}\n\n`);
  journal.record(0, SEEN, outcome);
  expect(written.at(-1)).toMatch(/^id: 1001\nevent: exchange\n/);
});

test('a silent stream says every 15 s that it is still there, until it closes', () => {
  vi.useFakeTimers();
  const { sandboxes, response, written, read } = slowStream();
  read();
  vi.advanceTimersByTime(15_000);
  expect(written).toEqual([':\n\n', ':\n\n']);
  response.emit('close');
  expect(vi.getTimerCount()).toBe(0);
  expect(sandboxes.observers.size).toBe(0);
});

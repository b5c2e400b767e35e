import { once } from 'node:events';
import { createServer, get, IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { openStream } from '../../src/control/journal/exchange-stream.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { Sandboxes } from '../../src/sandbox/sandboxes.ts';
import { startFor } from '../../src/scenario/sandbox-start.ts';
import { EMPTY_STORE } from '../../src/store/store.ts';
import { exchangeWith } from '../helpers/exchange.ts';
import { listen } from '../helpers/host.ts';

afterEach(() => {
  vi.useRealTimers();
});

const createSandboxes = (journal?: number) =>
  new Sandboxes(startFor({}, EMPTY_STORE, []), { ...(journal && { journal }) });

function record({ evidence }: Sandbox, count: number, target = '/v1/pets'): void {
  for (let left = count; left > 0; left -= 1) evidence.take({ exchange: exchangeWith({ target }) });
}

/** The numbers in a stream that a pattern finds. */
const numbersIn = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, number]) => Number(number));

const SENT = /^id: (\d+)\nevent: exchange\ndata: .*\n\n/gm;
const DROPPED = /^event: dropped\ndata: \{"count":(\d+)\}\n\n/gm;

/** A stream of a sandbox, in simulated time. */
function streamOf(sandbox: Sandbox = createSandboxes().default) {
  vi.useFakeTimers();
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  let written = '';
  vi.spyOn(response, 'write').mockImplementation((chunk) => {
    written += String(chunk);
    return true;
  });
  openStream(response, sandbox, {}, false);
  onTestFinished(() => {
    response.emit('close');
  });
  return { sandbox, response, written: () => written };
}

test('a client that reads too slowly is disconnected, and misses nothing when it goes on', async () => {
  const sandbox = createSandboxes(20_000).default;
  const responses: ServerResponse[] = [];
  const server = createServer((request, response) => {
    responses.push(response);
    openStream(response, sandbox, {}, false, Number(request.headers['last-event-id']));
  });
  const port = await listen(server);
  onTestFinished(() => void server.close());
  const connect = async (last: number) => {
    const [reply]: IncomingMessage[] = await once(
      get({ port, headers: { 'Last-Event-ID': last } }),
      'response',
    );
    return reply?.setEncoding('utf8').on('error', () => {});
  };
  /** The exchanges that a client gets until it is disconnected, or has the latest one. */
  const read = async (reply: IncomingMessage | undefined) => {
    let text = '';
    const latest = `id: ${sandbox.evidence.journal.number}\n`;
    await new Promise((resolve) => {
      reply?.once('close', resolve).on('data', (chunk) => {
        text += chunk;
        if (text.endsWith('\n\n') && text.includes(latest)) reply.destroy();
      });
    });
    return numbersIn(text, SENT);
  };

  const slow = await connect(0); // it is not read yet
  const [response] = responses;
  let most = 0;
  while (response?.destroyed === false) {
    record(sandbox, 300, `/v1/pets?${'x'.repeat(2000)}`);
    await setTimeout(10);
    most = Math.max(most, response.writableLength);
  }
  expect(most).toBeLessThan(2 * 2 ** 20 + 10_000);
  const all = await read(slow);
  const { number } = sandbox.evidence.journal;
  expect(all.length).toBeLessThan(number);
  while (all.length < number) all.push(...(await read(await connect(all.at(-1) ?? 0))));
  expect(all).toEqual(Array.from({ length: number }, (_, index) => index + 1));
  await Promise.all(responses.map((it) => it.closed || once(it, 'close')));
});

test('a stream says how many exchanges the journal has dropped before they left', () => {
  const { sandbox, written } = streamOf();
  record(sandbox, 3000);
  vi.advanceTimersByTime(250);
  const sent = numbersIn(written(), SENT);
  expect([numbersIn(written(), DROPPED), sent.length, sent.at(-1)]).toEqual([[2000], 1000, 3000]);
});

test('a stream has an exchange again, without an id, when its reply is let go', () => {
  const { sandbox, written } = streamOf();
  const hold = { name: 'lists', exchange: 0, since: Date.now() };
  sandbox.evidence.take({ exchange: exchangeWith({ hold }) });
  vi.advanceTimersByTime(500);
  const before = written();
  expect(numbersIn(before, SENT)).toEqual([1]);
  sandbox.evidence.take({ holds: { over: [{ exchange: 1, lasted: 250, ended: 'released' }] } });
  vi.advanceTimersByTime(500);
  expect(written().slice(before.length)).toMatch(
    /^event: hold\ndata: \{"number":1,.*"hold":\{"name":"lists","ended":"released","lasted":250\}.*\n\n$/,
  );
});

test('an idle stream sends a comment every 15 s until it closes', () => {
  const { response, written } = streamOf();
  vi.advanceTimersByTime(15_000);
  expect(written()).toBe(':\n\n:\n\n');
  response.emit('close');
  expect(vi.getTimerCount()).toBe(0);
});

test('a stream of a deleted sandbox gets its last exchanges, and nothing from a new one with its name', async () => {
  const sandboxes = createSandboxes();
  const { written } = streamOf(sandboxes.find('a'));
  record(sandboxes.find('a') ?? sandboxes.default, 1);
  await sandboxes.remove('a');
  record(sandboxes.find('a') ?? sandboxes.default, 2);
  vi.advanceTimersByTime(250);
  expect([numbersIn(written(), SENT), vi.getTimerCount()]).toEqual([[1], 0]);
});

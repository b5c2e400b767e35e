import { once } from 'node:events';
import { createServer, get, IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Sandbox } from '../../../src/core/sandbox/sandbox.ts';
import type { Sandboxes } from '../../../src/core/sandbox/sandboxes.ts';
import { StorageError } from '../../../src/core/sandbox/storage-error.ts';
import { openStream } from '../../../src/features/events/exchange-stream.ts';
import { createEventSink } from '../../../src/server/http/control-request.ts';
import { NODE_PLATFORM } from '../../../src/server/node-platform.ts';
import { MemoryPersistence } from '../../../src/server/open-sandboxes.ts';
import { callOf, requestOf } from '../../helpers/call.ts';
import { useFakeTimers } from '../../helpers/fake-timers.ts';
import { listen } from '../../helpers/host.ts';
import { createSandboxes, takeAnswer } from '../../helpers/sandboxes.ts';

/** Sends requests to a sandbox, which it refuses for want of a key. */
function record(sandbox: Sandbox, count: number, target = '/v1/pets'): void {
  const request = requestOf({ ...callOf('listPets'), path: target });
  for (let left = count; left > 0; left -= 1) takeAnswer(sandbox, request);
}

function listening(sandboxes: Sandboxes, sandbox = sandboxes.default) {
  const persistence = new MemoryPersistence(sandboxes);
  const journal = persistence.journal(sandbox);
  return { sandbox, journal, parts: { persistence, platform: NODE_PLATFORM } };
}

/** The numbers in a stream that a pattern finds. */
const numbersIn = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, number]) => Number(number));

const SENT = /^id: (\d+)\nevent: exchange\ndata: .*\n\n/gm;
const DROPPED = /^event: dropped\ndata: \{"count":(\d+)\}\n\n/gm;

/** A stream of a sandbox, in simulated time. */
async function streamOf(
  sandboxes = createSandboxes(),
  sandbox: Sandbox = sandboxes.default,
  after?: number,
) {
  useFakeTimers();
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  let written = '';
  vi.spyOn(response, 'write').mockImplementation((chunk) => {
    written += String(chunk);
    return true;
  });
  await openStream(createEventSink(response), listening(sandboxes, sandbox), {}, after);
  onTestFinished(() => {
    response.emit('close');
  });
  return { sandbox, response, written: () => written };
}

test('a client that reads slowly is told what the journal has dropped, and gets the rest', async () => {
  const sandboxes = createSandboxes({ journal: 1_000 });
  const sandbox = sandboxes.default;
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => {
    responses.push(response);
    void openStream(createEventSink(response), listening(sandboxes), {}, 0);
  });
  const port = await listen(server);
  onTestFinished(() => void server.close());
  const [reply]: IncomingMessage[] = await once(get({ port }), 'response'); // it is not read yet
  const [response] = responses;
  for (let round = 0; round < 40; round += 1) {
    record(sandbox, 300, `/v1/pets?${'x'.repeat(2000)}`);
    await setTimeout(10);
    expect(response?.writableLength).toBeLessThan(3 * 2 ** 20);
  }
  const { number } = await sandbox.journal.size();
  let [text, tail] = ['', ''];
  for await (const chunk of reply?.setEncoding('utf8') ?? []) {
    text += chunk;
    tail = (tail + chunk).slice(-5000);
    if (tail.endsWith('\n\n') && tail.includes(`id: ${number}\n`)) break;
  }
  const dropped = numbersIn(text, DROPPED).reduce((sum, count) => sum + count, 0);
  const sent = numbersIn(text, SENT);
  expect(sent).toEqual([...sent].sort((a, b) => a - b));
  expect([dropped > 0, sent.length + dropped]).toEqual([true, number]);
});

test('a stream that goes on says how many exchanges the journal has dropped meanwhile', async () => {
  const sandboxes = createSandboxes({ journal: 10 });
  const sandbox = sandboxes.default;
  record(sandbox, 30);
  const { written } = await streamOf(sandboxes, sandbox, 5);
  const sent = numbersIn(written(), SENT);
  expect([numbersIn(written(), DROPPED), sent[0], sent.at(-1)]).toEqual([[15], 21, 30]);
});

test('a stream counts what the journal drops while it reads', async () => {
  const { sandbox, written } = await streamOf(createSandboxes({ journal: 10 }));
  const { journal } = sandbox;
  const find = journal.find.bind(journal);
  vi.spyOn(journal, 'find').mockImplementationOnce((number) => {
    record(sandbox, 5);
    return find(number);
  });
  record(sandbox, 10);
  await vi.advanceTimersByTimeAsync(500);
  expect([numbersIn(written(), DROPPED), numbersIn(written(), SENT).at(0)]).toEqual([[5], 6]);
  expect(numbersIn(written(), SENT)).toHaveLength(10);
});

test('a stream goes on when its journal can be read again', async () => {
  const { sandbox, written } = await streamOf();
  const { journal } = sandbox;
  const find = journal.find.bind(journal);
  vi.spyOn(journal, 'find').mockImplementation((number) => {
    if (vi.mocked(journal.find).mock.calls.length === 2) throw new StorageError('Redis is away');
    return find(number);
  });
  record(sandbox, 3);
  await vi.advanceTimersByTimeAsync(250);
  expect(numbersIn(written(), SENT)).toEqual([]);
  await vi.advanceTimersByTimeAsync(250);
  expect(numbersIn(written(), SENT)).toEqual([1, 2, 3]);
});

test('a stream ends at once if its journal cannot be read', async () => {
  const sandboxes = createSandboxes();
  const sandbox = sandboxes.default;
  vi.spyOn(sandbox.journal, 'size').mockImplementation(() => {
    throw new StorageError('Redis is away');
  });
  const { response } = await streamOf(sandboxes);
  expect(response.writableEnded).toBe(true);
});

test('an idle stream sends a comment every 15 s until it closes', async () => {
  const { response, written } = await streamOf();
  vi.advanceTimersByTime(15_000);
  expect(written()).toBe(':\n\n:\n\n');
  response.emit('close');
  expect(vi.getTimerCount()).toBe(0);
});

test('a stream of a deleted sandbox gets its last exchanges, and nothing from a new one with its name', async () => {
  const sandboxes = createSandboxes();
  const { written } = await streamOf(sandboxes, sandboxes.getOrCreate('a'));
  record(sandboxes.getOrCreate('a'), 1);
  await new MemoryPersistence(sandboxes).remove('a');
  record(sandboxes.getOrCreate('a'), 2);
  await vi.advanceTimersByTimeAsync(250);
  expect([numbersIn(written(), SENT), vi.getTimerCount()]).toEqual([[1], 0]);
});

test('a client that does not read costs a bounded text of released holds, made once for all', async () => {
  const sandboxes = createSandboxes();
  const { default: sandbox } = sandboxes;
  const streams = await Promise.all([1, 2].map(() => streamOf(sandboxes, sandbox)));
  for (const { response } of streams) vi.mocked(response.write).mockReturnValue(false);
  record(sandbox, 1, `/v1/pets?${'x'.repeat(300_000)}`);
  const recorded = sandbox.journal.find(1);
  if (recorded === undefined) throw new Error('The journal has no exchange.');
  const hold = { name: 'default', since: 0, ended: 'released', lasted: 1 } as const;
  const exchange = { ...recorded, hold };
  const stringify = vi.spyOn(JSON, 'stringify');
  const made = (): number =>
    stringify.mock.results.filter(({ value }) => String(value).length > 300_000).length;
  for (let left = 20; left > 0; left -= 1) sandbox.emit({ kind: 'hold', exchange });
  expect(made()).toBeLessThanOrEqual(1);
  await vi.advanceTimersByTimeAsync(500);
  for (const { response } of streams) {
    const sizes = vi.mocked(response.write).mock.calls.map(([chunk]) => String(chunk).length);
    expect(Math.max(...sizes)).toBeLessThan(2 * 2 ** 20);
  }
});

import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { markOf, Retries } from '../../src/evidence/retries.ts';
import { SERVICE } from '../../src/service/implementations.ts';
import { ReceivedBytes } from '../../src/service/received-body.ts';
import { createWorld } from '../../src/service/world.ts';
import { createStore, storeBaseOf } from '../../src/store/store.ts';
import { callOf } from '../helpers/call.ts';

interface Sent {
  readonly method?: string;
  readonly target?: string;
  readonly key?: string;
  readonly body?: Buffer;
}

function mark({ method = 'POST', target = '/v1/pets', key = 'a', body }: Sent): string {
  const authorization = `Bearer ${key}`;
  const received = body === undefined ? {} : { body: new ReceivedBytes(body) };
  const call = { ...callOf('createPet'), authorization, ...received };
  const seen = {
    method,
    target,
    authorization,
    call,
    headers: [],
    receivedAt: 0,
  };
  return markOf({ seen, call });
}

const LONG = Buffer.alloc(1_000_000, 'y');

test('a call is remembered by a few characters, however long it is', () => {
  const longest = mark({ target: `/v1/${'x'.repeat(16_000)}`, key: 'k'.repeat(8000), body: LONG });
  expect(longest.length).toBeLessThan(32);
});

test('a call is told from another by any byte of what it is', () => {
  const changed = Buffer.from(LONG);
  changed[999_999] = 'z'.charCodeAt(0);
  const sent: Sent[] = [
    {},
    { method: 'GET' },
    { target: '/v1/pet' },
    { target: '/v1/pets?' },
    { key: 'b' },
    { body: Buffer.from('{}') },
    { body: Buffer.from('{ }') },
    { body: LONG },
    { body: LONG.subarray(1) },
    { body: changed },
  ];
  expect(new Set(sent.map(mark)).size).toBe(sent.length);
  expect(mark({ body: Buffer.from(LONG) })).toBe(mark({ body: LONG }));
});

test('thousands of calls that differ by a character each have a mark of their own', () => {
  const marks = new Set<string>();
  for (let id = 0; id < 20_000; id += 1) marks.add(mark({ target: `/v1/pets/${id}` }));
  expect(marks.size).toBe(20_000);
});

/** Makes the same refused call once for each instant at which a call is received. */
async function retries(...received: readonly (() => Promise<number>)[]): Promise<boolean[]> {
  const store = createStore(storeBaseOf({ animals: [], inventory: [], orders: [] }));
  const world = createWorld({ store, clock: { now: () => 0, real: false } });
  const call = { ...callOf('getPet'), pathId: '1', authorization: 'Bearer demo-key' };
  const reply = SERVICE.getPet(world, call);
  const known = new Retries();
  const found: boolean[] = [];
  for (const [index, receivedAt] of received.entries()) {
    const seen = {
      method: 'GET',
      target: '/v1/pets/1',
      authorization: call.authorization,
      call,
      headers: [],
      receivedAt: await receivedAt(),
    };
    const { pointless } = known.take({ exchange: index + 1, seen, call, reply, delay: 0, world });
    found.push(pointless);
  }
  return found;
}

/** A call that a client makes after it has got the reply before. */
const afterReply = async (): Promise<number> => {
  await setImmediate();
  await setImmediate();
  return performance.now();
};

test('each repetition of a refused call is a retry if the client had the reply', async () => {
  expect(await retries(afterReply, afterReply, afterReply)).toEqual([false, true, true]);
});

test('calls that were all received before the first reply left are no retries', async () => {
  const start = performance.now();
  const atOnce = async (): Promise<number> => start;
  expect(await retries(atOnce, atOnce, atOnce)).toEqual([false, false, false]);
});

test('a call read in the turn of the event loop that sent the refusal is no retry', async () => {
  const inSameTurn = async (): Promise<number> => performance.now();
  expect(await retries(inSameTurn, inSameTurn, afterReply)).toEqual([false, false, true]);
});

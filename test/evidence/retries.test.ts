import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Carrier, OPENED } from '../../src/evidence/exchange.ts';
import { markOf, Retries } from '../../src/evidence/retries.ts';
import { SERVICE } from '../../src/service/implementations.ts';
import { ReceivedBytes } from '../../src/service/received-body.ts';
import { turnTime } from '../../src/service/turn-time.ts';
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
    connection: {},
    receivedAt: 0,
  };
  return markOf({ seen, call });
}

const LONG = Buffer.alloc(1_000_000, 'y');

test('a call is remembered as a short hash, however long it is', () => {
  const longest = mark({ target: `/v1/${'x'.repeat(16_000)}`, key: 'k'.repeat(8000), body: LONG });
  expect(longest.length).toBeLessThan(32);
});

test('any byte of a call distinguishes it from another', () => {
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

test('thousands of calls that differ by one character all have different hashes', () => {
  const marks = new Set<string>();
  for (let id = 0; id < 20_000; id += 1) marks.add(mark({ target: `/v1/pets/${id}` }));
  expect(marks.size).toBe(20_000);
});

/** How a repeated call reaches the server. */
interface Arrival {
  readonly connection: Carrier;
  /** Waits, and returns when the call is received. */
  readonly received: () => Promise<number>;
}

/** Makes the same refused call once for each arrival. */
async function retries(...arrivals: readonly Arrival[]): Promise<boolean[]> {
  const store = createStore(storeBaseOf({ animals: [], inventory: [], orders: [] }));
  const world = createWorld({ store, clock: { now: () => 0, real: false } });
  const call = { ...callOf('getPet'), pathId: '1', authorization: 'Bearer demo-key' };
  const reply = SERVICE.getPet(world, call);
  const known = new Retries();
  const found: boolean[] = [];
  for (const [index, { connection, received }] of arrivals.entries()) {
    const seen = {
      method: 'GET',
      target: '/v1/pets/1',
      authorization: call.authorization,
      call,
      headers: [],
      connection,
      receivedAt: await received(),
    };
    const exchange = index + 1;
    const attempt = known.check({ exchange, at: 0, seen, call, reply, delay: 0, world });
    found.push(attempt.pointless);
    known.note(attempt, world, { leftAt: turnTime().steady, connection });
  }
  return found;
}

const inSameTurn = async (): Promise<number> => turnTime().steady;
const inNextTurn = async (): Promise<number> => {
  await setImmediate();
  return turnTime().steady;
};

/** A connection, by how many milliseconds the server had idled when it accepted it. */
const opened = (idle: number): Carrier => ({ [OPENED]: idle });

/** The server has not idled as long by the end of this test. */
const LATER = Number.MAX_VALUE;

test('a call repeated on the connection of its refusal is a retry, however fast', async () => {
  const again = { connection: opened(0), received: inNextTurn };
  expect(await retries(again, again, again)).toEqual([false, true, true]);
});

test('a call pipelined on the connection of its refusal is not a retry', async () => {
  const ahead = { connection: opened(0), received: inSameTurn };
  expect(await retries(ahead, ahead)).toEqual([false, false]);
});

test('a call repeated on a connection opened after the refusal is a retry', async () => {
  const later = () => ({ connection: opened(LATER), received: inNextTurn });
  const first = { connection: opened(0), received: inNextTurn };
  expect(await retries(first, later(), later())).toEqual([false, true, true]);
});

test('calls on connections that were open or waiting to be accepted are not retries', async () => {
  const { idleTime } = performance.nodeTiming;
  const atOnce = () => ({ connection: opened(idleTime), received: inNextTurn });
  const accepted = { connection: {}, received: inNextTurn };
  expect(await retries(atOnce(), atOnce(), accepted)).toEqual([false, false, false]);
});

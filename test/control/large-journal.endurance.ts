import { expect, test, vi } from 'vitest';
import { REQUEST_ENDPOINTS } from '../../src/control/journal/request-endpoints.ts';
import { Exchange } from '../../src/evidence/exchange.ts';
import { Sandboxes } from '../../src/sandbox/sandboxes.ts';
import { startOf } from '../../src/scenario/sandbox-start.ts';
import { loadFixtureSync } from '../../src/store/fixture/load-fixture.ts';
import { callOf } from '../helpers/call.ts';
import { controlCall } from '../helpers/control-call.ts';
import { turnsBeside } from '../helpers/turns.ts';

const SEEN = {
  method: 'GET',
  authorization: undefined,
  headers: [],
  call: callOf('listPets'),
  connection: {},
  receivedAt: 0,
} as const;

const RESET = { kind: 'fault', fault: { kind: 'reset' }, reply: undefined, delay: 0 } as const;

const SIZE = 100_500;

function fullJournal() {
  const sandboxes = new Sandboxes(startOf({}, loadFixtureSync('default'), []), { journal: SIZE });
  const { journal } = sandboxes.default;
  const record = (target: string): void => journal.record(0, { ...SEEN, target }, RESET);
  for (let count = 0; count < SIZE; count += 1) record('/v1/pets');
  const list = async (query: string) => {
    const endpoint = REQUEST_ENDPOINTS.find(({ id }) => id === 'listRequests');
    const reply = await endpoint?.handle(controlCall(sandboxes, query));
    if (reply?.body.kind !== 'pieces') throw new Error('The list is not written in pieces.');
    return [...reply.body.pieces].join('');
  };
  return { record, list };
}

test('a journal is searched in turns, and written as fast as its client reads', async () => {
  const { list, record } = fullJournal();
  const written = vi.spyOn(Exchange.prototype, 'requestHeaders', 'get');
  const { result, turns } = await turnsBeside(() => list('text=nowhere'));
  expect(result).toBe(`{"exchanges":[],"dropped":0,"total":0}`);
  expect(turns).toBeGreaterThan(10_000);
  expect(written).not.toHaveBeenCalled();
  const reading = list('limit=2');
  record('/v1/inventory');
  expect(JSON.parse(await reading).exchanges).toHaveLength(2);
  expect(written).toHaveBeenCalledTimes(2);
  written.mockRestore();
});

test('without a limit, a list has at most 100,000 exchanges and the total', async () => {
  const { list } = fullJournal();
  const { exchanges, total } = JSON.parse(await list(''));
  expect([exchanges.length, exchanges[0].number, total]).toEqual([100_000, 501, SIZE]);
});

test('a list leaves out what the journal drops in the meantime', async () => {
  const { list, record } = fullJournal();
  const reading = list(`before=4`);
  for (const target of ['/v1/pets', '/v1/inventory']) record(target);
  const { exchanges, dropped } = JSON.parse(await reading);
  expect(exchanges.map(({ number }: { number: number }) => number)).toEqual([3]);
  expect(dropped).toBe(2);
});

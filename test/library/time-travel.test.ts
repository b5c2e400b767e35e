import { expect, test } from 'vitest';
import { DroppedExchangesError, startPetstoreMock } from '../../src/index.ts';

test('a sandbox is read in the past, rewound, replayed and undone', async () => {
  await using server = await startPetstoreMock();
  const mock = server.sandbox();
  const headers = { Authorization: `Bearer ${mock.key}` };
  const cancel = async () =>
    (await fetch(`${mock.url}/store/orders/1`, { method: 'DELETE', headers })).status;
  const orderIn = ({ orders }: Awaited<ReturnType<typeof mock.state.get>>) => orders[0]?.status;

  expect([await cancel(), await cancel()]).toEqual([204, 409]);
  const first = mock.requests.get(1);
  const second = mock.requests.get(2);
  expect((await second.read()).why).toContain('assumption cancel-again=409');
  expect(orderIn(await first.state())).toBe('pending');
  expect(orderIn(await first.state('after'))).toBe('cancelled');

  // What else could the second cancel have got? Let that be, and ask again.
  const [other] = await second.alternatives();
  expect(other).toMatchObject({ assumption: 'cancel-again', option: '404', status: 404 });
  await mock.assume({ 'cancel-again': '404' });
  expect(await second.replay()).toMatchObject({ number: 3, replays: 2, status: 404 });
  expect(await mock.undo()).toEqual({ what: expect.any(String), laterCalls: 0 });
  expect(await second.replay()).toMatchObject({ number: 4, status: 409 });

  await first.rewind();
  expect(await cancel()).toBe(204);
  await second.rewind('after');
  expect(await cancel()).toBe(409);
  expect(await mock.requests.edits()).toMatchObject([
    { what: 'rewound to before call 1', after: 4, changed: { orders: 1 } },
    { what: 'rewound to after call 2', after: 5 },
  ]);
  expect(await mock.undo()).toMatchObject({ laterCalls: 0 });
  await first.rewind();
  await mock.scenarios.save('refuse', await second.rule());
  await mock.scenario.use('refuse');
  expect(await cancel()).toBe(409);
  expect(await mock.requests.count()).toBe(7);
  await expect(mock.requests.get(99).read()).rejects.toMatchObject({ status: 404 });
});

test('one who follows too slowly is told how many exchanges the journal dropped', async () => {
  await using mock = await startPetstoreMock({ journal: 2 });
  for (let call = 0; call < 5; call += 1) await fetch(`${mock.url}/pets`);
  const error = await mock.requests
    .follow({ after: 1 })
    .next()
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(DroppedExchangesError);
  expect(error).toMatchObject({ count: 2 });
});

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { DOCUMENTED_REPLIES } from '../../src/contract/cases.ts';
import { createApp } from '../../src/index.ts';
import { checkReplies } from '../../src/responses/check-replies.ts';
import { listReplies, WAY_NAMES } from '../../src/responses/reply-recipes.ts';
import { listen } from '../helpers/host.ts';

async function serve(listener: RequestListener) {
  const server = createServer(listener);
  return {
    url: `http://127.0.0.1:${await listen(server)}/v1`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

test.each([
  { through: 'the listener', start: undefined },
  { through: 'the Express app', start: () => serve(createApp()) },
])(
  'every documented and assumed reply results from real state, a scenario and Prefer, through $through',
  async ({ start }) => {
    const checked = await checkReplies(listReplies(), start);
    expect(checked.filter(({ problem }) => problem !== undefined)).toEqual([]);
    const documented = checked.filter(({ recipe }) => recipe.ground === 'documented');
    expect(documented).toHaveLength(WAY_NAMES.length * DOCUMENTED_REPLIES.length);
  },
);

const getPet = listReplies().filter(({ operation }) => operation === 'getPet');

test.each([
  [200, 'documented', '{"id":1,"name":"Rex"}', 'its $.categoryId is wrong: expected'],
  [200, 'documented', '', 'its body is wrong: expected one Animal'],
  [404, 'unknown-pet=404', '{}', 'its $.code is wrong: expected a string, found nothing'],
  [404, 'unknown-pet=404', '', 'its Error is missing'],
])('a wrong %i (%s) is reported: %j', async (status, ground, body, problem) => {
  const basis = ground === 'documented' ? ground : `assumed;by="${ground}"`;
  const headers = { 'Content-Type': 'application/json', 'Mock-Basis': basis };
  const answer: RequestListener = (request, reply) => {
    request.resume();
    reply.writeHead(request.url?.includes('/__mock/') ? 200 : status, headers).end(body);
  };
  const replies = getPet.filter((it) => it.status === status && it.ground === ground);
  const [checked] = await checkReplies(replies, () => serve(answer));
  expect(checked).toMatchObject({ way: 'state', problem: expect.stringContaining(problem) });
});

test('a server that does not answer fails each reply but not the check itself', async () => {
  const gone = await serve(() => {});
  await gone.close();
  const checked = await checkReplies(getPet, async () => ({ ...gone, close: async () => {} }));
  expect(new Set(checked.map(({ problem }) => problem?.slice(0, 9)))).toEqual(
    new Set(['no reply:']),
  );
});

import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { createApp } from '../../src/index.ts';
import { checkReplies } from '../../src/responses/check-replies.ts';
import { listReplies } from '../../src/responses/reply-recipes.ts';
import { listen } from '../helpers/host.ts';

const getPet200 = listReplies().filter(
  ({ operation, status }) => operation === 'getPet' && status === 200,
);
const unknownPet = listReplies().filter(
  ({ operation, ground }) => operation === 'getPet' && ground === 'unknown-pet=404',
);

/** A server that answers everything alike, as if by real state. */
function answering(status: number, basis: string, body: string) {
  return serve((request, reply) => {
    request.resume();
    const control = request.url?.includes('/__mock/');
    const headers = { 'Content-Type': 'application/json', 'Mock-Basis': basis };
    reply.writeHead(control ? 200 : status, headers).end(body);
  });
}

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
    expect(documented).toHaveLength(3 * 16);
  },
);

const CHECKED = {
  documented: { replies: getPet200, status: 200, basis: 'documented' },
  assumed: { replies: unknownPet, status: 404, basis: 'assumed;by="unknown-pet=404"' },
};

test.each([
  [
    'documented',
    '{"id":1,"name":"Rex"}',
    /^its \$\.categoryId is wrong: expected .*, found nothing/,
  ],
  ['documented', '{"id":1,', /^its body is wrong: expected JSON/],
  ['documented', '', /^its body is wrong: expected one Animal/],
  ['assumed', '{}', /^its \$\.code is wrong: expected a string, found nothing/],
  [
    'assumed',
    '{"code":"pet_not_found","message":"No.","status":400}',
    /^its \$\.status is wrong: expected 404, found 400/,
  ],
] as const)('a wrong %s reply is reported: %j', async (kind, body, problem) => {
  const { replies, status, basis } = CHECKED[kind];
  const checked = await checkReplies(replies, () => answering(status, basis, body));
  expect(checked.find(({ way }) => way === 'state')?.problem).toMatch(problem);
});

test('a server that does not answer fails each reply but not the check itself', async () => {
  const gone = await answering(200, 'documented', '');
  await gone.close();
  const checked = await checkReplies(getPet200, async () => ({ ...gone, close: async () => {} }));
  expect(checked.map(({ problem }) => problem?.slice(0, 9))).toEqual(Array(3).fill('no reply:'));
});

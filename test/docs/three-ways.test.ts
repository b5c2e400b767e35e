import { expect, test } from 'vitest';
import { BASE_PATH, OPERATION_IDS, operationShape } from '../../src/contract/operations.ts';
import { startServer } from '../../src/index.ts';
import { fixtureFile } from '../helpers/wire.ts';

/** Every reply that the document prescribes. */
const CASES = OPERATION_IDS.flatMap((on) =>
  Object.keys(operationShape(on).replies).map((text) => ({ on, status: Number(text) })),
);

type Case = (typeof CASES)[number];

async function answer(origin: string, { on }: Case, headers: Record<string, string>) {
  const { method, path, body } = operationShape(on);
  const reply = await fetch(`${origin}${BASE_PATH}${path.replace(/\{\w+\}/, '1')}`, {
    method,
    headers: { Authorization: 'Bearer demo-key', 'Content-Type': 'application/json', ...headers },
    ...(body !== undefined && { body: '{"name":"Rex","categoryId":1,"quantity":5}' }),
  });
  const forced = /^forced/.test(reply.headers.get('Mock-Basis') ?? '');
  return { status: reply.status, forced, body: await reply.text() };
}

test('every documented reply can be had by scenario, by control API and by a single request', async () => {
  const rules = CASES.map(({ on, status }) => ({
    on,
    where: { headers: { 'X-Case': `${on} ${status}` } },
    reply: { status },
  }));
  const servers = await Promise.all([
    startServer({ port: 0, scenarios: [fixtureFile({ rules })] }),
    startServer({ port: 0 }),
    startServer({ port: 0 }),
  ]);
  const [byScenario, byControl, byRequest] = servers.map(({ url }) => new URL(url).origin);
  await fetch(`${byControl}/__mock/scenario`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ scenario: { rules } }),
  });
  for (const it of CASES) {
    const named = { 'X-Case': `${it.on} ${it.status}` };
    const replies = [
      await answer(`${byScenario}`, it, named),
      await answer(`${byControl}`, it, named),
      await answer(`${byRequest}`, it, { Prefer: `code=${it.status}` }),
    ];
    const [{ body = '' } = {}] = replies;
    expect(replies, named['X-Case']).toEqual(
      Array(3).fill({ status: it.status, forced: true, body }),
    );
  }
  expect(CASES).toHaveLength(16);
  await Promise.all(servers.map((server) => server.close()));
});

import { expect, onTestFinished, test } from 'vitest';
import { startServer } from '../../src/server.ts';
import { runClientsAtOnce } from '../helpers/sandbox-model.ts';

test('200 concurrent clients in their own sandboxes do not affect each other', async () => {
  const { port, close } = await startServer({ port: 0 });
  onTestFinished(close);
  await runClientsAtOnce(port, 200);
  const reply = await fetch(`http://127.0.0.1:${port}/__mock/sandboxes`);
  expect(await reply.json()).toHaveLength(202);
});

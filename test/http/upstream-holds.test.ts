import { afterEach, expect, test } from 'vitest';
import { rawDeployment, serverFor } from '../helpers/deployment.ts';
import { closeRaw, openRaw, rawRequest } from '../helpers/raw.ts';
import { asker } from '../helpers/wire.ts';

afterEach(closeRaw);

const LONG = `[${'1,'.repeat(100_000)}1]`;

const replyOf = (content: string, more = ''): string =>
  `HTTP/1.1 200 OK\r\nContent-Length: ${content.length}\r\n${more}\r\n${content}`;

/** A server in front of a deployment, with a latch for each list of animals. */
async function holding(answer: string) {
  const deployment = await rawDeployment(answer);
  const { port } = await serverFor({ upstream: deployment.url });
  const control = asker(port, '/__mock');
  await control('POST', '/holds', { body: { on: 'listPets', hold: 'list' } });
  const arrived = () =>
    control('POST', '/requests/count', { body: { hold: 'list', atLeast: 1, within: 'PT5S' } });
  const exchange = async () => Object((await control('GET', '/requests/1')).json);
  return { port, control, arrived, exchange };
}

test.each([
  ['short', '[{"id":1}]'],
  ['long', LONG],
])("a deployment's %s reply is held back, recorded at once, and sent whole", async (_, content) => {
  const { port, control, arrived, exchange } = await holding(replyOf(content, 'X-Own: 1\r\n'));
  const listed = asker(port)('GET', '/pets');
  await arrived();
  expect(await exchange()).toMatchObject({
    status: 200,
    basis: 'upstream',
    hold: { name: 'list' },
  });
  expect((await control('POST', '/holds/release')).json).toMatchObject({ held: 0 });
  const { text, headers } = await listed;
  expect(text).toBe(content);
  expect(headers).toMatchObject({ 'x-own': '1', 'mock-basis': 'upstream' });
});

test("a deployment's held reply ends when the client leaves", async () => {
  const { port, control, arrived, exchange } = await holding(replyOf('[]'));
  const { socket } = await openRaw(port);
  socket.write(rawRequest('GET', '/v1/pets'));
  await arrived();
  socket.destroy();
  await control('POST', '/requests/count', { body: { hold: 'list', held: false, atLeast: 1 } });
  expect(await exchange()).toMatchObject({ hold: { ended: 'left' } });
});

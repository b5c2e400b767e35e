import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { inFrontOf } from '../../helpers/deployment.ts';

const LIST = 'HTTP/1.1 200 OK\r\nContent-Length: 26\r\n\r\n[{"id":1,"categoryId":12}]';

/** A server in front of a deployment, with a rule for lists of animals. */
async function under(rule: object, answer: Parameters<typeof inFrontOf>[0] = LIST) {
  const all = await inFrontOf(answer);
  const scenario = { rules: [{ on: 'listPets', ...rule }] };
  expect((await all.control('PUT', '/scenario', { body: { scenario } })).status).toBe(200);
  return all;
}

test('a rule that replies itself asks the deployment only to apply the call', async () => {
  const { ask, deployment, control } = await under({ reply: { status: 503 } });
  expect((await ask('GET', '/pets')).headers['mock-basis']).toMatch(/^forced/);
  expect(deployment.received()).toBe('');
  const scenario = { rules: [{ on: 'listPets', reply: { status: 503 }, apply: true }] };
  await control('PUT', '/scenario', { body: { scenario } });
  expect((await ask('GET', '/pets')).status).toBe(503);
  expect(deployment.received()).toMatch(/^GET \/base\/v1\/pets /);
});

test('a rule resets the connection after the deployment has answered, if it applies the call', async () => {
  const { ask, deployment, exchange } = await under({ fault: 'reset', apply: true });
  await expect(ask('GET', '/pets')).rejects.toThrow(/ECONNRESET/);
  expect(deployment.received()).toMatch(/^GET /);
  expect(await exchange()).toMatchObject({ fault: 'reset', basis: 'forced' });
});

test.each([
  ['truncate', /Content-Length: 26\r\n.*\r\n\r\n.{13}$/s],
  ['malformed-json', /Content-Length: 15\r\n.*\r\n\r\n.{13}:}$/s],
  ['bad-chunk', /chunked\r\n.*\r\n\r\nd\r\n.{13}\r\nxyz/s],
  [{ kind: 'slow-body', chunks: 2, over: 10 }, /"categoryId":12}]$/],
])('a rule spoils the reply by %j', async (fault, spoilt) => {
  const { listRaw } = await under({ fault });
  const text = await (await listRaw()).rest();
  expect(text).toMatch(/^HTTP\/1.1 200 OK\r\n.*Mock-Basis: forced;by="[^"]+#1"\r\n/s);
  expect(text).toMatch(spoilt);
});

test('a rule delays the deployment’s reply, which keeps its basis', async () => {
  const { ask, exchange } = await under({ delay: 20 });
  expect((await ask('GET', '/pets')).headers['mock-basis']).toBe('upstream');
  expect(await exchange()).toMatchObject({ delay: 20, basis: 'upstream' });
});

test.each([
  ['plain', '', Buffer.from('[{"id":9007199254740993,"categoryId":12}]')],
  [
    'compressed',
    'Content-Encoding: gzip\r\n',
    gzipSync('[{"id":9007199254740993,"categoryId":12}]'),
  ],
])('a rule patches the %s reply of the deployment', async (_what, coding, body) => {
  const head = `HTTP/1.1 200 Fine\r\nX-Own: 1\r\n${coding}Content-Length: ${body.length}\r\n\r\n`;
  const patch = { headers: { 'X-Own': null }, each: { name: 'Rex', categoryId: null } };
  const rule = { patch };
  const { ask, exchange } = await under(rule, (socket) => {
    socket.write(Buffer.concat([Buffer.from(head), body]));
  });
  const { text, headers } = await ask('GET', '/pets');
  expect(text).toBe('[{"id":9007199254740993,"name":"Rex"}]');
  expect(headers).not.toHaveProperty('x-own');
  expect(headers).not.toHaveProperty('content-encoding');
  const patched = [
    'header X-Own: "1" → nothing',
    '$[0].categoryId: 12 → nothing',
    '$[0].name: nothing → "Rex"',
  ];
  expect(await exchange()).toMatchObject({ basis: 'forced', patched });
});

/** A server in front of a deployment, with a latch for each list of animals. */
async function holding(answer: Parameters<typeof inFrontOf>[0]) {
  const all = await inFrontOf(answer);
  await all.control('POST', '/holds', { body: { on: 'listPets', hold: 'list' } });
  const body = { hold: 'list', atLeast: 1, within: 'PT5S' };
  return { ...all, arrived: () => all.control('POST', '/requests/count', { body }) };
}

const HELD = 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\nX-Own: 1\r\n\r\n[{"id":1}]';

test("a deployment's reply is held back, recorded at once, and sent whole", async () => {
  const { ask, control, arrived, exchange } = await holding(HELD);
  const listed = ask('GET', '/pets');
  await arrived();
  const held = { status: 200, basis: 'upstream', hold: { name: 'list' } };
  expect(await exchange()).toMatchObject(held);
  expect((await control('POST', '/holds/release')).json).toMatchObject({ held: 0 });
  const headers = { 'x-own': '1', 'mock-basis': 'upstream' };
  expect(await listed).toMatchObject({ text: '[{"id":1}]', headers });
});

test('the Error for a reply that breaks off is held back too, and leaves the list', async () => {
  const cut = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n[1';
  const { ask, control, arrived } = await holding((socket) => socket.end(cut));
  const listed = ask('GET', '/pets');
  await arrived();
  expect((await control('POST', '/holds/release')).json).toMatchObject({ held: 0 });
  expect((await listed).status).toBe(502);
  expect((await control('POST', '/requests/count', { body: { held: true } })).json).toMatchObject({
    count: 0,
  });
});

test("a deployment's held reply ends when the client leaves", async () => {
  const { listRaw, control, arrived, exchange } = await holding(HELD);
  const { socket } = await listRaw();
  await arrived();
  socket.destroy();
  await control('POST', '/requests/count', { body: { hold: 'list', held: false, atLeast: 1 } });
  expect(await exchange()).toMatchObject({ hold: { ended: 'left' } });
});

test.each(['', 'Content-Length: 26\r\n'])(
  'a patched reply to HEAD has the length that the deployment says: %j',
  async (length) => {
    const { ask, exchange } = await under(
      { patch: { headers: { 'X-New': '1' }, body: [] } },
      `HTTP/1.1 200 OK\r\n${length}\r\n`,
    );
    const { headers } = await ask('HEAD', '/pets');
    expect([headers['x-new'], headers['content-length']]).toEqual(['1', length ? '26' : undefined]);
    expect(await exchange()).toMatchObject({ patched: ['header X-New: nothing → "1"'] });
  },
);

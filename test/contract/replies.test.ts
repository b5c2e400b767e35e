import { expect, onTestFinished, test } from 'vitest';
import type { DocumentedReply } from '../../src/contract/operations.ts';
import { type Fields, isObject, RECORDS } from '../../src/contract/records.ts';
import { startServer } from '../../src/server.ts';
import { readRecord } from '../../src/shape/record-shapes.ts';
import { DOCUMENTED, requestFor } from '../helpers/documented.ts';
import {
  type Client,
  clientAt,
  describeBothWays,
  fixtureFile,
  type OpenClient,
  type Received,
} from '../helpers/wire.ts';

type Documented = (typeof DOCUMENTED)[number];

/** How a client comes to a documented reply. */
interface Way {
  readonly open: (open: OpenClient) => Promise<Client>;
  readonly send: (client: Client, wanted: Documented) => Promise<Received>;
  readonly basis: RegExp;
}

const nameOf = ({ operation, status }: Documented) => `${operation} ${status}`;

/** A rule for each documented reply, for the requests that name it in a header. */
const rules = DOCUMENTED.map((it) => ({
  on: it.operation,
  where: { headers: { 'X-Case': nameOf(it) } },
  reply: { status: it.status },
}));

/** Sends a request that would succeed, with headers that ask for something else. */
function sendWith(headersFor: (wanted: Documented) => Readonly<Record<string, string>>) {
  return (client: Client, wanted: Documented): Promise<Received> => {
    const success = DOCUMENTED.find(({ operation }) => operation === wanted.operation) ?? wanted;
    const { method, path, sent } = requestFor(success.operation, success.status);
    return client.send(method, `/v1${path}`, { ...sent, headers: headersFor(wanted) });
  };
}

const WAYS = {
  'real state': {
    open: (open: OpenClient) => open(),
    send(client: Client, { operation, status }: Documented) {
      const { method, path, sent } = requestFor(operation, status);
      return client.send(method, `/~${operation}-${status}/v1${path}`, sent);
    },
    basis: /^documented$/,
  },
  'the control API': {
    async open(open: OpenClient) {
      const client = await open();
      const body = { scenario: { rules } };
      expect((await client.send('PUT', '/__mock/scenario', { body })).status).toBe(200);
      return client;
    },
    send: sendWith((wanted) => ({ 'X-Case': nameOf(wanted) })),
    basis: /^forced;by="[^"]+#\d+"$/,
  },
  Prefer: {
    open: (open: OpenClient) => open(),
    send: sendWith(({ status }) => ({ Prefer: `code=${status}` })),
    basis: /^forced;by="prefer"$/,
  },
} satisfies Readonly<Record<string, Way>>;

/** Checks that a value has the documented fields, of the documented types, and no others. */
function expectRecord(fields: Fields, value: unknown): void {
  expect(readRecord(fields, value)).toMatchObject({ ok: true });
  const names = isObject(value) ? Object.keys(value) : [];
  expect(Object.keys(fields).filter((name) => names.includes(name))).toEqual(names);
}

function expectBody(reply: Received, { body, bodyNotShown }: DocumentedReply): void {
  if (body === undefined) {
    if (bodyNotShown === true) return;
    expect(reply.text).toBe('');
    expect(reply.headers).not.toHaveProperty('content-type');
    return;
  }
  expect(reply.headers['content-type']).toBe('application/json');
  expect(Array.isArray(reply.json)).toBe(body.list === true);
  const items: readonly unknown[] = Array.isArray(reply.json) ? reply.json : [reply.json];
  expect(items).not.toHaveLength(0);
  for (const item of items) expectRecord(RECORDS[body.record], item);
  if (body.record === 'Error') expect(reply.json).toMatchObject({ status: reply.status });
}

test('the document prescribes 16 replies', () => {
  expect(DOCUMENTED).toHaveLength(16);
});

async function expectEveryReply(client: Client, { send, basis }: Pick<Way, 'send' | 'basis'>) {
  for (const wanted of DOCUMENTED) {
    const reply = await send(client, wanted);
    expect(reply.status, nameOf(wanted)).toBe(wanted.status);
    expect(reply.headers['mock-basis'], nameOf(wanted)).toMatch(basis);
    expectBody(reply, wanted.shape);
  }
}

describeBothWays('every documented reply', (open) => {
  test.each(Object.entries(WAYS))('results from %s', async (_name, way) => {
    await expectEveryReply(await way.open(open), way);
  });
});

test('a scenario file can force every documented reply', async () => {
  const server = await startServer({ port: 0, scenarios: [fixtureFile({ rules })] });
  onTestFinished(() => server.close());
  const { send } = WAYS['the control API'];
  await expectEveryReply(clientAt(server.port), { send, basis: /^forced;by="fixture#\d+"$/ });
});

import { Agent } from 'node:http';
import request from 'supertest';
import { expect, onTestFinished, test } from 'vitest';
import { listReplies, listSteps } from '../../../src/cli/commands/reply-recipes.ts';
import { ENDPOINTS } from '../../../src/core/control/endpoints.ts';
import { createMock } from '../../../src/fetch.ts';
import { createApp, startServer } from '../../../src/index.ts';
import { openFetch } from '../../helpers/fetch.ts';
import { openMock } from '../../helpers/in-process.ts';
import {
  type Answer,
  type Client,
  clientAt,
  encodeParts,
  openServer,
  type RequestParts,
} from '../../helpers/wire.ts';

const FROZEN = { clock: Date.parse('2026-11-21T09:30:00Z'), frozen: true };
const REX = { name: 'Rex', categoryId: 7 };
const PAGE = { Origin: 'https://shop.example' };
const PREFLIGHT = { ...PAGE, 'Access-Control-Request-Method': 'POST' };
const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' };
const YAML = { 'Content-Type': 'application/yaml' };
const EVIL = { Host: 'evil.example', Origin: 'null', 'Sec-Fetch-Site': 'cross-site' };

const MIB = 1024 ** 2;
const padded = (size: number): RequestParts => ({ body: JSON.stringify(REX).padEnd(size) });

/** What a core without a port answers, every door must answer. */
const CALLS: readonly (readonly [status: number, call: string, sent?: RequestParts])[] = [
  [200, 'GET /v1/pets?limit=3&status=available'],
  [201, 'POST /v1/pets', { body: REX }],
  [201, 'POST /v1/pets', { body: '{"name":"Zoë","categoryId":9007199254740993}' }],
  [200, 'GET /v1/pets/66'],
  [200, 'GET /v1/inventory'],
  [200, 'PATCH /v1/inventory/1', { body: { quantity: 9 } }],
  [200, 'GET /v1/store/orders'],
  [204, 'DELETE /v1/store/orders/1'],
  [409, 'DELETE /v1/store/orders/2'],
  [400, 'GET /v1/pets?limit=0'],
  [401, 'GET /v1/pets', { key: null }],
  [404, 'GET /v1/pets/999'],
  [404, 'GET /v1/nothing?a=%'],
  [405, 'PUT /v1/pets'],
  [415, 'POST /v1/pets', { body: 'a=1', headers: FORM }],
  [415, 'POST /v1/pets', { body: REX, headers: { 'Content-Encoding': 'gzip' } }],
  [400, 'POST /v1/pets', { body: '{"name"' }],
  [201, 'POST /v1/pets', padded(MIB)],
  [413, 'POST /v1/pets', padded(MIB + 1)],
  [404, 'HEAD /v1/pets/999'],
  [404, 'HEAD /v1/nothing?a=%'],
  [204, 'OPTIONS /v1/pets', { key: null, headers: PREFLIGHT }],
  [204, 'OPTIONS /v1/pets'],
  [200, 'GET /v1/pets/1', { headers: PAGE }],
  [503, 'GET /v1/pets/1', { headers: { Prefer: 'code=503' } }],
  [304, 'GET /v1/pets/1', { headers: { Prefer: 'code=304' } }],
  [502, 'GET /v1/pets', { headers: { Prefer: 'scenario=proxy-error-page' } }],
  [401, 'GET /~staging/v1/pets'],
  [200, 'GET /~staging/v1/pets', { key: 'staging-key' }],
  [200, 'GET /~a/v1/pets'],
  [200, 'GET /v1/pets', { key: 'demo-key~b' }],
  [200, 'GET /v1/pets', { headers: { 'Mock-Sandbox': 'c' } }],
  [400, 'GET /~a%20b/v1/pets'],
  [200, 'GET /__mock/state'],
  [200, 'HEAD /__mock/state'],
  [200, 'HEAD /__mock/requests/stream'],
  [200, 'GET /~b/__mock/status'],
  [201, 'POST /__mock/animals', { body: REX }],
  [200, 'PATCH /__mock/animals/1', { body: { name: 'Max' } }],
  [204, 'DELETE /__mock/animals/1'],
  [201, 'PUT /__mock/scenarios/own', { body: 'rules: [] # none', headers: YAML }],
  [400, 'PUT /__mock/state', { body: '{"animals":' }],
  [413, 'PUT /__mock/state', padded(MIB + 1)],
  [415, 'POST /__mock/reset', { body: 'a=1', headers: FORM }],
  [405, 'POST /__mock/state'],
  [404, 'GET /__mock/nothing'],
  [201, 'POST /__mock/snapshots', { body: { name: '__mock' } }],
  [204, 'DELETE /__mock/snapshots/__mock'],
  [404, 'GET /__mock/scenarios/__mock'],
  [200, 'GET /~__mock/__mock/status'],
  [201, 'POST /__mock/sandboxes', { body: { name: '__mock' } }],
  [204, 'DELETE /__mock/sandboxes/__mock'],
  [403, 'OPTIONS /__mock/nothing', { headers: PREFLIGHT }],
  [404, 'OPTIONS /__mock/nothing'],
  [404, 'GET /~a/__mock/%'],
  [400, 'GET /~%E0%A4%A/__mock/state'],
  [400, 'GET /__mock/animals/%'],
  [403, 'GET /__mock/state', { headers: EVIL }],
  [403, 'GET /__mock/nothing', { headers: EVIL }],
  [200, 'GET /__mock/health', { headers: EVIL }],
];

/** Of the guard, which only a port needs. */
const isGuarded = (call: string, sent: RequestParts = {}): boolean =>
  call.includes('/__mock') && sent.headers !== undefined && 'Origin' in sent.headers;

/** What differs from run to run, and what Node's client adds to a request. */
const OF_THE_RUN =
  /"server":\{[^}]*\},?|"(?:duration|lasted|lastUsed|time|wait|receive|startedDateTime|bodySize|headersSize)":[^,}]+|,?"connection":"keep-alive"|,?\{"name":"connection","value":"keep-alive"\}|"idle":\d+/gi;

type Calls = typeof CALLS;

async function answers({ send }: Client, calls: Calls): Promise<Answer[]> {
  const all: Answer[] = [];
  for (const [status, call, sent] of calls) {
    const [method = '', path = ''] = call.split(' ');
    const answer = await send(method, path, sent);
    expect([call, answer.status]).toEqual([call, status]);
    const { connection: _, 'keep-alive': _timeout, date, ...headers } = answer.headers;
    // The date of the service is the sandbox's, that of the control API Node's.
    all.push({ ...answer, headers: path.includes('/__mock') ? headers : { ...headers, date } });
  }
  return all;
}

/** Through Express alone, without the listener. */
function openApp(): Client {
  const app = createApp(FROZEN);
  const send: Client['send'] = async (method, path, parts = {}) => {
    const { headers, content } = encodeParts(parts);
    const sent = request(app).get(path);
    sent.method = method;
    const reply = await sent.set(headers).send(content);
    const { status, text = '' } = reply;
    return { status, headers: reply.headers, text, json: undefined };
  };
  return { send, control: (call, body) => send('GET', call, { body }) };
}

test.each<readonly [string, () => Client | Promise<Client>, Calls]>([
  ['the listener', () => openServer(FROZEN), CALLS],
  ['createApp', openApp, CALLS],
  [
    'createMock',
    () => openFetch(createMock(FROZEN)),
    CALLS.filter(([, call, sent]) => !isGuarded(call, sent)),
  ],
])('%s answers each call as the core does', async (_door, open, calls) => {
  const expected = await answers(await openMock(FROZEN), calls);
  const received = await answers(await open(), calls);
  for (const [at, [, call]] of calls.entries()) {
    const { headers, text } = received[at] ?? expect.fail();
    const { 'content-length': length, ...others } = headers;
    const { 'content-length': _, ...core } = expected[at]?.headers ?? {};
    const [shown, wanted] = [text, expected[at]?.text].map((it) => it?.replaceAll(OF_THE_RUN, ''));
    expect([call, shown, others]).toEqual([call, wanted, core]);
    // A HEAD has the length of its GET.
    const got = calls.findIndex(([, other]) => call === other.replace('GET', 'HEAD'));
    const whole = (call.startsWith('HEAD') ? received[got]?.text : text) ?? '';
    if (length !== undefined)
      expect([call, Number(length)]).toEqual([call, Buffer.byteLength(whole)]);
    if (call.includes('/__mock')) expect(Object.keys(headers).join()).not.toContain('access-');
  }
});

interface Step {
  readonly method: string;
  readonly path: string;
  readonly sent: RequestParts;
}

/** The way to every documented and assumed reply, each in a sandbox of its own. */
function replySteps(): Step[] {
  return listReplies().flatMap((recipe, at) =>
    listSteps(recipe, 'state', `reply-${at}`).flatMap(({ times, body, headers, ...step }) => {
      const content = typeof body === 'number' ? ' '.repeat(body) : body;
      const sent = { key: null, headers: { 'Content-Type': undefined, ...headers }, body: content };
      return Array.from({ length: times }, () => ({ ...step, sent }));
    }),
  );
}

/** The examples of the control API; those of an exchange before the exchanges are cleared. */
function exampleSteps(): Step[] {
  const steps = ENDPOINTS.map(({ method, path, example = {} }) => {
    const target = path.replace(/\{\w+\}/, String(example.path));
    const query = new URLSearchParams(example.query);
    const sent = { body: example.body };
    return { method: method.toUpperCase(), path: `/__mock${target}?${query}`, sent };
  }).filter(({ path }) => !path.includes('/stream'));
  const isOfOne = ({ path }: Step) => path.startsWith('/__mock/requests/1');
  return steps.sort((a, b) => Number(isOfOne(b)) - Number(isOfOne(a)));
}

test('fetch shows every documented and assumed reply, and every example of the control API, as a server does', async () => {
  const { port, close } = await startServer({ ...FROZEN, port: 0 });
  // One connection: calls of several may be parallel, which is no retry.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  onTestFinished(() => {
    agent.destroy();
    return close();
  });
  const doors = [clientAt(port, agent), openFetch(createMock(FROZEN), port)];
  const steps = [
    ...replySteps(),
    { method: 'GET', path: '/v1/pets/1', sent: {} },
    ...exampleSteps(),
  ];
  expect(steps.length).toBeGreaterThan(200);
  for (const { method, path, sent } of steps) {
    const [server, mock] = await Promise.all(
      doors.map(async ({ send }) => {
        const { status, headers, text } = await send(method, path, sent);
        const { connection: _, 'keep-alive': _timeout, date, ...others } = headers;
        const { 'content-length': length, ...rest } = others;
        const shown = path.includes('/__mock') ? rest : { ...rest, length, date };
        return { status, headers: shown, text: text.replaceAll(OF_THE_RUN, '') };
      }),
    );
    expect([method, path, mock]).toEqual([method, path, server]);
  }
});

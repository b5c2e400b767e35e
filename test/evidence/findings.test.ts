import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FINDING_CODE_NAMES } from '../../src/evidence/finding-codes.ts';
import type { FindingsReport } from '../../src/evidence/findings.ts';
import type { ServerOptions } from '../../src/server.ts';
import { serverFor } from '../helpers/deployment.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { clientAt } from '../helpers/wire.ts';

interface Step {
  readonly method: string;
  readonly path: string;
  readonly key?: string;
  readonly body?: string;
  readonly prefer?: string;
}

/** Reads `GET /pets`, with a body behind it where there is one. */
function step(text: string, more: Omit<Step, 'method' | 'path'> = {}): Step {
  const [start = '', body] = text.split(/ (?=\{)/);
  const [method = '', path = ''] = start.split(' ');
  return { method, path, ...(body === undefined ? {} : { body }), ...more };
}

const HELD = join(temporaryFolder(), 'held.json');
writeFileSync(HELD, '{"rules":[{"on":"listPets","hold":true}]}');

async function findingsAfter(
  steps: readonly Step[],
  options: ServerOptions = {},
): Promise<FindingsReport> {
  const server = await serverFor(options);
  // One connection, so that every request is made with the reply before it at hand.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { send } = clientAt(server.port, agent);
  for (const { method, path, key, body, prefer: Prefer } of steps) {
    await send(method, `/v1${path}`, { key, body, headers: { Prefer } });
  }
  agent.destroy();
  return server.findings();
}

interface Case {
  readonly does: string;
  readonly steps: readonly Step[];
  readonly with?: ServerOptions;
  /** A deployment that the server stands in front of. */
  readonly deployment?: ServerOptions;
  readonly message: RegExp;
}

/** The last step of each is what is found. */
const FOUND: Readonly<Record<string, readonly Case[]>> = {
  deprecated: [{ does: 'reads an animal', steps: [step('GET /pets/1')], message: /2030-12-05/ }],
  experimental: [
    {
      does: 'sets a stock',
      steps: [step('PATCH /inventory/1 {"quantity":1}')],
      message: /updateInventory is experimental/,
    },
  ],
  'placeholder-key': ['undefined', 'null', '[object Object]'].map((key) => ({
    does: `sends ${key} as its key`,
    steps: [step('GET /pets', { key })],
    message: new RegExp(`literally \`${key.replaceAll(/[[\]]/g, '\\$&')}\``),
  })),
  'unknown-input': [
    {
      does: 'asks for a page of orders',
      steps: [step('GET /store/orders?page=2')],
      message: /The query parameter "page" is unknown to listOrders/,
    },
    {
      does: 'adds an animal with a tag',
      steps: [step('POST /pets {"name":"Rex","categoryId":1,"tag":"new"}')],
      message: /The body field "tag" is unknown to createPet/,
    },
    {
      does: 'sends an id of its own',
      steps: [step('POST /pets {"name":"Rex","categoryId":1,"id":7}')],
      message: /The body field "id"/,
    },
    {
      does: 'asks for a page where there are none',
      with: { assume: { 'unknown-query': 'reject' } },
      steps: [step('GET /pets?cursor=2')],
      message: /The query parameter "cursor"/,
    },
  ],
  'rounded-id': [
    ['as JavaScript prints it', 'DELETE /store/orders/9223372036854776000'],
    ['with every digit of the double', 'DELETE /store/orders/9223372036854775808'],
    ['with an exponent', 'DELETE /store/orders/9.223372036854776E18'],
  ].map(([how, text = '']) => ({
    does: `cancels an order by a rounded id ${how}`,
    with: { scenarios: ['int64-ids'] },
    steps: [step(text)],
    message: /9223372036854775807 exists and rounds to the same double/,
  })),
  'pointless-retry': [
    ['a bad limit', 'GET /pets?limit=0'],
    ['an unknown order', 'DELETE /store/orders/99'],
    ['a body that is refused', 'POST /pets {"name":1}'],
  ].map(([what, text = '']) => ({
    does: `repeats ${what}`,
    steps: [step(text), step(text)],
    message: /repeated after a 4\d\d/,
  })),
  'early-retry': [
    {
      does: 'repeats what a rule asked it to wait with',
      with: { scenarios: ['outage'] },
      steps: [step('GET /pets'), step('GET /pets')],
      message: /before Retry-After \(\d+ s\)/,
    },
    {
      does: 'repeats a request that was one too many',
      with: { assume: { 'rate-limit': '1/m' } },
      steps: [step('GET /pets'), step('GET /pets'), step('GET /pets')],
      message: /Retry-After/,
    },
  ],
  drift: [
    {
      does: 'meets a deployment that refuses with another status',
      deployment: { assume: { 'invalid-input': '422' } },
      steps: [step('GET /pets?limit=x')],
      message: /^status: expected 400 \(invalid-input=400\), found 422\.$/,
    },
    {
      does: 'meets a status that neither the document nor an option allows',
      deployment: { assume: { 'rate-limit': '1/m' } },
      steps: [step('GET /store/orders'), step('GET /store/orders')],
      message: /^status: expected 200 or 401, found 429\.$/,
    },
    {
      does: 'meets a field that the chosen option hides',
      deployment: { assume: { 'order-status-field': 'shown' } },
      steps: [step('GET /store/orders')],
      message: /^\$\[\]\.status: expected nothing \(order-status-field=hidden\), found one\.$/,
    },
  ],
  'unexpected-body': [
    {
      does: 'cancels with a body',
      steps: [step('DELETE /store/orders/1 {}')],
      message: /DELETE was sent with a body/,
    },
  ],
  'unreleased-hold': [
    {
      does: 'waits for a reply that nobody releases',
      with: { maxHold: 20, scenarios: [HELD] },
      steps: [step('GET /pets')],
      message: /^Nobody released the reply that "default" held back; it was sent after 0\.\d+ s\.$/,
    },
  ],
  'unknown-preference': [
    {
      does: 'mistypes a scenario in Prefer',
      steps: [step('GET /pets', { prefer: 'scenario=outrage' })],
      message: /found "outrage" \(did you mean outage\?\)\.$/,
    },
    {
      does: 'mistypes the name of a preference, in front of a deployment too',
      deployment: {},
      steps: [step('GET /store/orders', { prefer: 'status=401' })],
      message: /"status" \(did you mean code\?\)\.$/,
    },
  ],
};

const CASES = Object.entries(FOUND).flatMap(([code, cases]) =>
  cases.map((it) => [code, it.does, it] as const),
);

describe('findings report', () => {
  test('every kind has a case here', () => {
    expect(Object.keys(FOUND).sort()).toEqual(FINDING_CODE_NAMES.toSorted());
  });

  test.each(CASES)('%s if a client %s', async (code, _does, found) => {
    const { steps, deployment, with: options, message } = found;
    const behind = (upstream?: string) => findingsAfter(steps, { ...options, upstream });
    const { total, counts, findings } =
      deployment === undefined ? await behind() : await behind((await serverFor(deployment)).url);
    expect({ total, counts }).toEqual({ total: 1, counts: { [code]: 1 } });
    const last = steps.at(-1);
    expect(findings).toEqual([
      {
        code,
        sandbox: 'default',
        exchange: steps.length,
        operation: expect.any(String),
        method: last?.method,
        target: `/v1${last?.path}`,
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        message: expect.stringMatching(message),
        advice: expect.stringMatching(/^[A-Z].{20,}\.$/),
      },
    ]);
  });

  test('deprecated and experimental operations once, with the number of calls', async () => {
    const { total, findings } = await findingsAfter([1, 2, 3].map((id) => step(`GET /pets/${id}`)));
    expect([total, findings.map(({ exchange }) => exchange)]).toEqual([3, [1]]);
  });

  test('the first hundred, and the total', async () => {
    const steps = Array.from({ length: 130 }, () => step('GET /store/orders?page=1'));
    const { total, findings } = await findingsAfter(steps);
    expect([total, findings.length]).toEqual([130, 100]);
  });
});

/** What only looks like something that should not be done. */
const INNOCENT: [does: string, steps: readonly Step[], options?: ServerOptions][] = [
  ['repeats a call that was not refused', [step('GET /pets'), step('GET /pets')]],
  [
    'repeats a call after changing its target',
    [step('DELETE /store/orders/99'), step('DELETE /store/orders/98')],
  ],
  ['repeats a call with another key', [step('GET /pets', { key: 'old' }), step('GET /pets')]],
  [
    'repeats a call after a change that could have helped',
    [
      step('POST /pets {"name":1}'),
      step('POST /pets {"name":"Rex","categoryId":1}'),
      step('POST /pets {"name":1}'),
    ],
  ],
  [
    'repeats a call that a rule refused',
    [step('DELETE /store/orders/1'), step('DELETE /store/orders/1')],
    { scenarios: ['conflict-without-body'] },
  ],
  [
    'asks for an unknown id that no double prints as',
    [step('DELETE /store/orders/9223372036854775806')],
    { scenarios: ['int64-ids'] },
  ],
  ['asks for the highest possible id', [step('DELETE /store/orders/9223372036854775807')]],
  ['sends a key that begins like a placeholder', [step('GET /pets', { key: 'nullable' })]],
  [
    'pages as the assumption allows',
    [step('GET /pets?offset=20')],
    { assume: { 'pets-paging': 'offset' } },
  ],
  ['asks for a page with every parameter', [step('GET /pets?limit=5&status=sold')]],
];

describe('there is no finding if a client', () => {
  test.each(INNOCENT.map(([does, ...asked]) => [does, asked] as const))(
    '%s',
    async (_does, asked) => {
      expect(await findingsAfter(...asked)).toEqual({ total: 0, counts: {}, findings: [] });
    },
  );
});

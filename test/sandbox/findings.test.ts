import { writeFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FindingsReport } from '../../src/sandbox/coverage.ts';
import type { FindingCode } from '../../src/sandbox/report-shapes.ts';
import type { ServerOptions } from '../../src/server.ts';
import { serverFor } from '../helpers/deployment.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { clientAt } from '../helpers/wire.ts';

/** `METHOD /path BODY by KEY prefer PREFERENCE`; the last three may be absent. */
type RequestLine = string;

const REQUEST_LINE = /^(\S+) (\S+)(?: (\{.*\}))?(?: by (.+?))?(?: prefer (.+))?$/;

const HELD = join(temporaryFolder(), 'held.json');
writeFileSync(HELD, '{"rules":[{"on":"listPets","hold":true}]}');

async function findingsAfter(
  lines: readonly RequestLine[],
  options: ServerOptions = {},
): Promise<FindingsReport> {
  const server = await serverFor(options);
  // One connection, so that every request is made with the reply before it at hand.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { send } = clientAt(server.port, agent);
  for (const line of lines) {
    const [, method = '', path, body, key, Prefer] = REQUEST_LINE.exec(line) ?? [];
    await send(method, `/v1${path}`, { key, body, headers: { Prefer } });
  }
  agent.destroy();
  return server.findings();
}

type Setup = ServerOptions & {
  /** A deployment that the server stands in front of. */
  readonly deployment?: ServerOptions;
};

/** What a client does, the last line of which is found, and the message about it. */
type Case = readonly [does: string, lines: readonly RequestLine[], message: RegExp, setup?: Setup];

const REX = '"name":"Rex","categoryId":1';
const INT64_IDS = { scenarios: ['int64-ids'] };
const ROUNDED = /9223372036854775807 exists and rounds to the same double/;
const twice = (line: RequestLine) => [line, line];

const FOUND: Readonly<Record<FindingCode, readonly Case[]>> = {
  deprecated: [['reads an animal', ['GET /pets/1'], /2030-12-05/]],
  experimental: [
    ['sets a stock', ['PATCH /inventory/1 {"quantity":1}'], /updateInventory is experimental/],
  ],
  'placeholder-key': [
    ['sends undefined as its key', ['GET /pets by undefined'], /literally `undefined`/],
    ['sends null as its key', ['GET /pets by null'], /literally `null`/],
    ['sends an object as its key', ['GET /pets by [object Object]'], /`\[object Object\]`/],
    ["sends Python's None as its key", ['GET /pets by None'], /`None`/],
    ["sends Go's nil as its key", ['GET /pets by <nil>'], /`<nil>`/],
    ['leaves the key of its template', ['GET /pets by \u0024{API_KEY}'], /`\$\{API_KEY\}`/],
    ['leaves the key of an example', ['GET /pets by YOUR_API_KEY'], /`YOUR_API_KEY`/],
    ['sends the scheme twice', ['GET /pets by Bearer demo-key'], /^The key begins with a second/],
  ],
  'unknown-input': [
    ['asks for a page of orders', ['GET /store/orders?page=2'], /"page" is unknown to listOrders/],
    [
      'adds an animal with a tag',
      [`POST /pets {${REX},"tag":"new"}`],
      /The body field "tag" is unknown to createPet/,
    ],
    ['sends an id of its own', [`POST /pets {${REX},"id":7}`], /The body field "id"/],
    [
      'asks for a page where there are none',
      ['GET /pets?cursor=2'],
      /The query parameter "cursor"/,
      { assume: { 'unknown-query': 'reject' } },
    ],
  ],
  'rounded-id': [
    [
      'cancels an order by a rounded id as JavaScript prints it',
      ['DELETE /store/orders/9223372036854776000'],
      ROUNDED,
      INT64_IDS,
    ],
    [
      'cancels an order by a rounded id with every digit of the double',
      ['DELETE /store/orders/9223372036854775808'],
      ROUNDED,
      INT64_IDS,
    ],
    [
      'cancels an order by a rounded id with an exponent',
      ['DELETE /store/orders/9.223372036854776E18'],
      ROUNDED,
      INT64_IDS,
    ],
  ],
  'pointless-retry': [
    ['repeats a bad limit', twice('GET /pets?limit=0'), /repeated after a 400/],
    ['repeats an unknown order', twice('DELETE /store/orders/99'), /repeated after a 404/],
    ['repeats a body that is refused', twice('POST /pets {"name":1}'), /repeated after a 400/],
  ],
  'early-retry': [
    [
      'repeats what a rule asked it to wait with',
      twice('GET /pets'),
      /before Retry-After \(\d+ s\)/,
      { scenarios: ['outage'] },
    ],
    [
      'repeats a request that was one too many, after others',
      ['GET /pets', 'GET /pets', 'GET /inventory by demo-read-only-key', 'GET /pets'],
      /Retry-After/,
      { assume: { 'rate-limit': '1/m' } },
    ],
  ],
  drift: [
    [
      'meets a deployment that refuses with another status',
      ['GET /pets?limit=x'],
      /^status: expected 400 \(invalid-input=400\), found 422\.$/,
      { deployment: { assume: { 'invalid-input': '422' } } },
    ],
    [
      'meets a status that neither the document nor an option allows',
      twice('GET /store/orders'),
      /^status: expected 200 or 401, found 429\.$/,
      { deployment: { assume: { 'rate-limit': '1/m' } } },
    ],
    [
      'meets a field that the chosen option hides',
      ['GET /store/orders'],
      /^\$\[\]\.status: expected nothing \(order-status-field=hidden\), found one\.$/,
      { deployment: { assume: { 'order-status-field': 'shown' } } },
    ],
  ],
  'unexpected-body': [
    ['cancels with a body', ['DELETE /store/orders/1 {}'], /DELETE was sent with a body/],
    ['lists with a body', ['GET /pets {}'], /GET was sent with a body/],
  ],
  unmatched: [
    [
      'doubles the base path',
      ['GET /v1/pets'],
      /^No operation .* \(did you mean \/v1\/pets\?\)\.$/,
    ],
    [
      'calls an unknown method',
      ['PUT /pets'],
      /^PUT is not allowed; use GET, HEAD, POST or OPTIONS/,
    ],
  ],
  'unreleased-hold': [
    [
      'waits for a reply that nobody releases',
      ['GET /pets'],
      /^The hold "default" was not released; its reply was sent after 0\.\d+ s\.$/,
      { maxHold: 20, scenarios: [HELD] },
    ],
  ],
  'unknown-preference': [
    [
      'mistypes a scenario in Prefer',
      ['GET /pets prefer scenario=outrage'],
      /found "outrage" \(did you mean outage\?\)\.$/,
    ],
    [
      'mistypes the name of a preference, in front of a deployment too',
      ['GET /store/orders prefer status=401'],
      /"status" \(did you mean code\?\)\.$/,
      { deployment: {} },
    ],
  ],
};

const CASES = Object.entries(FOUND).flatMap(([code, cases]) =>
  cases.map(
    ([does, lines, message, setup = {}]) => [code, does, { lines, message, setup }] as const,
  ),
);

describe('findings report', () => {
  test.each(CASES)('%s if a client %s', async (code, _does, { lines, message, setup }) => {
    const { deployment, ...options } = setup;
    const upstream = deployment && (await serverFor(deployment)).url;
    const { total, counts, findings } = await findingsAfter(lines, { ...options, upstream });
    expect({ total, counts }).toEqual({ total: 1, counts: { [code]: 1 } });
    const [, method, path] = REQUEST_LINE.exec(lines.at(-1) ?? '') ?? [];
    expect(findings).toEqual([
      {
        code,
        sandbox: 'default',
        exchange: lines.length,
        operation: code === 'unmatched' ? undefined : expect.any(String),
        method,
        target: `/v1${path}`,
        at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        message: expect.stringMatching(message),
        advice: expect.stringMatching(/^[A-Z].{20,}\.$/),
      },
    ]);
  });

  test('deprecated and experimental operations once, with the number of calls', async () => {
    const { total, findings } = await findingsAfter(['GET /pets/1', 'GET /pets/2', 'GET /pets/3']);
    expect([total, findings.map(({ exchange }) => exchange)]).toEqual([3, [1]]);
  });

  test('the first hundred, and the total', async () => {
    const { total, findings } = await findingsAfter(Array(130).fill('GET /store/orders?page=1'));
    expect([total, findings.length]).toEqual([130, 100]);
  });
});

/** What only looks like something that should not be done. */
const INNOCENT: readonly [does: string, lines: readonly RequestLine[], options?: ServerOptions][] =
  [
    ['repeats a call that was not refused', twice('GET /pets')],
    [
      'repeats a call after changing its target',
      ['DELETE /store/orders/99', 'DELETE /store/orders/98'],
    ],
    ['repeats a call with another key', ['GET /pets by old', 'GET /pets']],
    [
      'repeats a call after a change that could have helped',
      ['POST /pets {"name":1}', `POST /pets {${REX}}`, 'POST /pets {"name":1}'],
    ],
    [
      'repeats a call that a rule refused',
      twice('DELETE /store/orders/1'),
      { scenarios: ['conflict-without-body'] },
    ],
    [
      'asks for an unknown id that no double prints as',
      ['DELETE /store/orders/9223372036854775806'],
      INT64_IDS,
    ],
    ['asks for the highest possible id', ['DELETE /store/orders/9223372036854775807']],
    ['sends a key that begins like a placeholder', ['GET /pets by nullable']],
    ['asks for the methods of a path', ['OPTIONS /pets']],
    [
      'pages as the assumption allows',
      ['GET /pets?offset=20'],
      { assume: { 'pets-paging': 'offset' } },
    ],
    ['asks for a page with every parameter', ['GET /pets?limit=5&status=sold']],
  ];

describe('there is no finding if a client', () => {
  test.each(INNOCENT)('%s', async (_does, lines, options) => {
    expect(await findingsAfter(lines, options)).toEqual({ total: 0, counts: {}, findings: [] });
  });
});

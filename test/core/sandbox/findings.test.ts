import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { FindingsReport } from '../../../src/core/sandbox/coverage.ts';
import type { FindingCode } from '../../../src/core/sandbox/report-shapes.ts';
import type { ServerOptions } from '../../../src/index.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { openMock } from '../../helpers/in-process.ts';

/** `METHOD /path BODY by KEY prefer PREFERENCE`; the last three may be absent. */
type RequestLine = string;

const REQUEST_LINE = /^(\S+) (\S+)(?: (\{.*\}))?(?: by (.+?))?(?: prefer (.+))?$/;

const HELD = join(temporaryFolder(), 'held.json');
writeFileSync(HELD, '{"rules":[{"on":"listPets","hold":true}]}');
const NEAR = join(temporaryFolder(), 'near.json');
const NEAR_ORDERS = '[{"id":9007199254740992,"status":"shipped"},{"id":9007199254740993}]';
writeFileSync(NEAR, `{"state":{"orders":{"set":${NEAR_ORDERS}}}}`);

async function findingsAfter(
  lines: readonly RequestLine[],
  options: ServerOptions = {},
): Promise<FindingsReport> {
  const { send, control } = await openMock(options);
  for (const line of lines) {
    const [, method = '', path, body, key, Prefer] = REQUEST_LINE.exec(line) ?? [];
    // A fault is an error.
    await send(method, `/v1${path}`, { key, body, headers: { Prefer } }).catch(() => {});
  }
  return JSON.parse((await control('GET findings')).text);
}

type Setup = ServerOptions & {
  /** A deployment that the server stands in front of. */
  readonly deployment?: ServerOptions;
};

/** What a client sends, the last line of which is found, and the message about it. */
type Case = readonly [sent: RequestLine | readonly RequestLine[], message: RegExp, setup?: Setup];

const REX = '"name":"Rex","categoryId":1';
const INT64_IDS = { scenarios: ['int64-ids'] };
const ROUNDED = /9223372036854775807 exists and rounds to the same double/;
const ONE_A_MINUTE = { assume: { 'rate-limit': '1/m' } } as const;
const LOST = { scenarios: ['lost-reply'] };
const twice = (line: RequestLine) => [line, line];

const FOUND: Readonly<Record<FindingCode, readonly Case[]>> = {
  deprecated: [['GET /pets/1', /2030-12-05/]],
  experimental: [['PATCH /inventory/1 {"quantity":1}', /updateInventory is experimental/]],
  'placeholder-key': [
    ['GET /pets by undefined', /literally `undefined`/],
    ['GET /pets by null', /literally `null`/],
    ['GET /pets by [object Object]', /`\[object Object\]`/],
    ['GET /pets by None', /`None`/],
    ['GET /pets by <nil>', /`<nil>`/],
    ['GET /pets by \u0024{API_KEY}', /`\$\{API_KEY\}`/],
    ['GET /pets by YOUR_API_KEY', /`YOUR_API_KEY`/],
    ['GET /pets by Bearer demo-key', /^The key begins with a second/],
  ],
  'unknown-input': [
    ['GET /store/orders?page=2', /"page" is unknown to listOrders/],
    [`POST /pets {${REX},"tag":"new"}`, /The body field "tag" is unknown to createPet/],
    [`POST /pets {${REX},"id":7}`, /The body field "id"/],
    ['GET /pets?cursor=2', /parameter "cursor"/, { assume: { 'unknown-query': 'reject' } }],
  ],
  'rounded-id': [
    ['DELETE /store/orders/9223372036854776000', ROUNDED, INT64_IDS],
    ['DELETE /store/orders/9223372036854775808', ROUNDED, INT64_IDS],
    ['DELETE /store/orders/9.223372036854776E18', ROUNDED, INT64_IDS],
  ],
  'pointless-retry': [
    [twice('GET /pets?limit=0'), /repeated after a 400/],
    [twice('DELETE /store/orders/99'), /repeated after a 404/],
    [twice('POST /pets {"name":1}'), /repeated after a 400/],
  ],
  'early-retry': [
    [twice('GET /pets'), /before Retry-After \(\d+ s\)/, { scenarios: ['outage'] }],
    [
      ['GET /pets', 'GET /pets', 'GET /inventory by demo-read-only-key', 'GET /pets'],
      /Retry-After/,
      ONE_A_MINUTE,
    ],
  ],
  'blind-retry': [
    [twice(`POST /pets {${REX}}`), /^The same POST was sent again/, LOST],
    [twice('DELETE /store/orders/1'), /^The same DELETE was sent again/, LOST],
    [
      [`POST /pets {${REX}}`, 'GET /store/orders', `POST /pets {${REX}}`],
      /only its reply was lost\.$/,
      LOST,
    ],
  ],
  drift: [
    [
      'GET /pets?limit=x',
      /^status: expected 400 \(invalid-input=400\), found 422\.$/,
      { deployment: { assume: { 'invalid-input': '422' } } },
    ],
    [
      twice('GET /store/orders'),
      /^status: expected 200 or 401, found 429\.$/,
      { deployment: ONE_A_MINUTE },
    ],
    [
      'GET /store/orders',
      /^status of orders: expected hidden \(order-status-field=hidden\), found shown\.$/,
      { deployment: { assume: { 'order-status-field': 'shown' } } },
    ],
  ],
  'unexpected-body': [
    ['DELETE /store/orders/1 {}', /DELETE was sent with a body/],
    ['GET /pets {}', /GET was sent with a body/],
  ],
  unmatched: [
    ['GET /v1/pets', /^No operation .* \(did you mean \/v1\/pets\?\)\.$/],
    ['PUT /pets', /^PUT is not allowed; use GET, HEAD, POST or OPTIONS/],
  ],
  'unreleased-hold': [
    [
      'GET /pets',
      /^The hold "default" was not released; its reply was sent after 0\.\d+ s\.$/,
      { maxHold: 20, scenarios: [HELD] },
    ],
  ],
  'unknown-preference': [
    ['GET /pets prefer scenario=outrage', /found "outrage" \(did you mean outage\?\)\.$/],
    // In front of a deployment too.
    [
      'GET /store/orders prefer status=401',
      /"status" \(did you mean code\?\)\.$/,
      { deployment: {} },
    ],
  ],
};

const CASES = Object.entries(FOUND).flatMap(([code, cases]) =>
  cases.map(([sent, message, setup = {}]) => ({ code, lines: [sent].flat(), message, setup })),
);

/** What only looks like something that should not be done. */
const INNOCENT: readonly [lines: readonly RequestLine[], options?: ServerOptions][] = [
  [twice('GET /pets')],
  [['DELETE /store/orders/99', 'DELETE /store/orders/98']],
  [['GET /pets by old', 'GET /pets']],
  // It has looked whether the first was carried out, sends another one, or may set a value again.
  [[`POST /pets {${REX}}`, 'GET /pets', `POST /pets {${REX}}`], LOST],
  [[`POST /pets {${REX}}`, 'POST /pets {"name":"Max","categoryId":1}'], LOST],
  [twice(`POST /pets {${REX}}`), { scenarios: ['connection-reset'] }],
  [twice(`POST /pets {${REX}}`)],
  // The change between could have helped.
  [['POST /pets {"name":1}', `POST /pets {${REX}}`, 'POST /pets {"name":1}']],
  [twice('DELETE /store/orders/1'), { scenarios: ['conflict-without-body'] }],
  // No double prints as this id.
  [['DELETE /store/orders/9223372036854775806'], INT64_IDS],
  [['DELETE /store/orders/9223372036854775807']],
  [['DELETE /store/orders/9007199254740992'], { scenarios: [NEAR] }],
  [['GET /pets by nullable']],
  [['OPTIONS /pets']],
  [['GET /pets?offset=20'], { assume: { 'pets-paging': 'offset' } }],
  [['GET /pets?limit=5&status=sold']],
];

describe('findings report', () => {
  test.each(CASES)('has $code after $lines', async ({ code, lines, message, setup }) => {
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

  test('has deprecated and experimental operations once, with the number of calls', async () => {
    const { total, findings } = await findingsAfter(['GET /pets/1', 'GET /pets/2', 'GET /pets/3']);
    expect([total, findings.map(({ exchange }) => exchange)]).toEqual([3, [1]]);
  });

  test('has the first hundred, and the total', async () => {
    const { total, findings } = await findingsAfter(Array(130).fill('GET /store/orders?page=1'));
    expect([total, findings.length]).toEqual([130, 100]);
  });

  test.each(INNOCENT)('has nothing after %j', async (lines, options) => {
    expect(await findingsAfter(lines, options)).toEqual({ total: 0, counts: {}, findings: [] });
  });
});

import { expect, test } from 'vitest';
import {
  ASSUMPTION_IDS,
  type Choices,
  chooseOptions,
  optionNames,
} from '../../../src/contract/assumption-table.ts';
import { parseJson } from '../../../src/contract/json.ts';
import { compareReply } from '../../../src/deployment/upstream/drift.ts';
import { loadFixtureSync } from '../../../src/store/fixture/load-fixture.ts';
import { callOf } from '../../helpers/call.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { worldWith } from '../../helpers/world.ts';

const GOOD = '{"name":"Rex","categoryId":1}';

/** Requests of every operation, with good and bad input, good and bad keys. */
const REQUESTS: readonly [
  method: string,
  path: string,
  body?: string | undefined,
  key?: string | null,
][] = [
  ...[
    '',
    '?limit=2',
    '?limit=0',
    '?limit=101',
    '?limit=x',
    '?status=sold',
    '?status=odd',
    '?odd=1',
  ].map((query): [string, string] => ['GET', `/pets${query}`]),
  ['GET', '/pets', undefined, null],
  ['GET', '/pets', undefined, 'odd'],
  ['HEAD', '/inventory'],
  ['POST', '/pets', GOOD],
  ['POST', '/pets', GOOD, null],
  ['POST', '/pets', '{"name":"","categoryId":1,"status":"odd"}'],
  ['POST', '/pets', '{"name":"Rex","categoryId":1,"id":7,"odd":1}'],
  ['POST', '/pets', '{"name":1}', null],
  ['POST', '/pets', 'nonsense'],
  ['POST', '/pets', `{"name":"${'x'.repeat(20_000)}","categoryId":1}`],
  ['GET', '/pets/1'],
  ['GET', '/pets/999'],
  ['GET', '/pets/x'],
  ['GET', '/inventory'],
  ['PATCH', '/inventory/1', '{"quantity":3}'],
  ['PATCH', '/inventory/1', '{"quantity":-3}'],
  ['PATCH', '/inventory/999', '{"quantity":3}'],
  ['GET', '/store/orders'],
  ...['1', '1', '2', '999', 'x'].map((id): [string, string] => ['DELETE', `/store/orders/${id}`]),
  ['DELETE', '/store/orders/3', undefined, 'demo-read-only-key'],
];

/** Options drawn for each assumption, the same for the same number. */
function drawn(number: number): Choices {
  const chosen = ASSUMPTION_IDS.map((id, index) => {
    const names = optionNames(id);
    return [id, names[(number * (index + 3) + index) % names.length]];
  });
  // A limit would refuse requests that the mock answers.
  return chooseOptions({ ...Object.fromEntries(chosen), 'rate-limit': 'none' });
}

test.each([0, 1, 2, 3, 4])(
  'a deployment that answers under the same options never drifts (draw %d)',
  async (number) => {
    const assume = drawn(number);
    const deployment = await serverFor({ assume });
    const server = await serverFor({ assume, upstream: deployment.url });
    for (const [method, path, body, key = 'demo-key'] of REQUESTS) {
      const headers = new Headers(key === null ? {} : { Authorization: `Bearer ${key}` });
      if (body !== undefined) headers.set('Content-Type', 'application/json');
      await (await fetch(server.url + path, { method, body: body ?? null, headers })).text();
    }
    const drift = server.findings().findings.filter(({ code }) => code === 'drift');
    expect(drift).toEqual([]);
  },
);

const JSON_TYPE = ['Content-Type', 'application/json'];
const world = worldWith(loadFixtureSync('default'));
const rex = '{"id":1,"name":"Rex","categoryId":1}';

test.each<[what: string, status: number, headers: string[], body: string, drift: string[]]>([
  ['a documented page', 200, JSON_TYPE, `[${rex}]`, []],
  ['a status that nobody allows', 418, JSON_TYPE, '{}', ['status: expected 200 or 401, found 418']],
  ['a redirect', 302, [], '', ['status: expected 200 or 401, found 302']],
  [
    'a number as text',
    200,
    JSON_TYPE,
    `[${rex.replace('1', '"1"')}]`,
    [expect.stringMatching(/^\$\[\]\.id: /)],
  ],
  [
    'a field that is missing',
    200,
    JSON_TYPE,
    '[{"id":1,"categoryId":1}]',
    [expect.stringMatching(/^\$\[\]\.name: /)],
  ],
  [
    'another media type',
    200,
    ['Content-Type', 'text/html'],
    `[${rex}]`,
    [expect.stringMatching(/^Content-Type: /)],
  ],
  ['no JSON', 200, JSON_TYPE, '<html>', [expect.stringMatching(/JSON/)]],
  [
    'more animals than asked for',
    200,
    JSON_TYPE,
    `[${Array(21).fill(rex).join()}]`,
    ['$: expected at most 20 animals, found 21'],
  ],
  [
    'a 401 without its challenge',
    401,
    JSON_TYPE,
    '{"code":"a","message":"b","status":401}',
    ['header WWW-Authenticate: expected one, found none'],
  ],
])('%s is reported', (_what, status, headers, body, drift) => {
  const call = { ...callOf('listPets'), authorization: 'Bearer any' };
  const reply = { status, headers, body: Buffer.from(body), json: jsonOf(body) };
  expect(compareReply(world, call, reply).drift).toEqual(drift);
});

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

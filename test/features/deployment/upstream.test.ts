import { expect, test } from 'vitest';
import { parseBaseUrl } from '../../../src/core/contract/base-url.ts';
import { compareReply } from '../../../src/features/deployment/compare-reply.ts';
import { DeploymentClient } from '../../../src/features/deployment/deployment-client.ts';
import { parseBody } from '../../../src/features/deployment/deployment-reply.ts';
import { loadFixtureSync } from '../../../src/server/fixtures.ts';
import { callOf } from '../../helpers/call.ts';
import { serverFor } from '../../helpers/deployment.ts';
import { drawChoices, drawing, drawRequests } from '../../helpers/drawn-requests.ts';
import { serviceStateWith } from '../../helpers/service-state.ts';

test.each([0, 1, 2, 3, 4])(
  'a deployment that answers under the same options never drifts (draw %d)',
  async (number) => {
    // A limit would refuse requests that the mock answers.
    const assume = { ...drawChoices(drawing(number)), 'rate-limit': 'none' } as const;
    const deployment = await serverFor({ assume });
    const server = await serverFor({ assume, upstream: deployment.url });
    const url = parseBaseUrl(server.url);
    const client = new DeploymentClient({ url: url!, key: 'demo-key', rate: 1e6 });
    for (const request of drawRequests(number, 60)) await client.send(request, false);
    client.close();
    const drift = server.findings().findings.filter(({ code }) => code === 'drift');
    expect(drift).toEqual([]);
  },
);

const JSON_TYPE = 'application/json';
const serviceState = serviceStateWith(loadFixtureSync('default'));
const rex = '{"id":1,"name":"Rex","categoryId":1}';

// biome-ignore format: a row for each
test.each<[what: string, status: number, type: string, body: string, drift: RegExp | undefined]>([
  ['a documented page', 200, JSON_TYPE, `[${rex}]`, undefined],
  ['a status that nobody allows', 418, JSON_TYPE, '{}', /^status: expected 200 or 401, found 418$/],
  ['a redirect', 302, '', '', /^status: expected 200 or 401, found 302$/],
  ['a number as text', 200, JSON_TYPE, `[${rex.replace('1', '"1"')}]`, /^\$\[\]\.id: /],
  ['a field that is missing', 200, JSON_TYPE, '[{"id":1,"categoryId":1}]', /^\$\[\]\.name: /],
  ['another media type', 200, 'text/html', `[${rex}]`, /^Content-Type: /],
  ['no JSON', 200, JSON_TYPE, '<html>', /JSON/],
  ['more animals than asked for', 200, JSON_TYPE, `[${Array(21).fill(rex)}]`, /^\$: expected at most 20 animals, found 21$/],
  ['a 401 without its challenge', 401, JSON_TYPE, '{"code":"a","message":"b","status":401}', /^header WWW-Authenticate: expected one, found none$/],
])('%s is reported', (_what, status, type, body, drift) => {
  const call = { ...callOf('listPets'), authorization: 'Bearer any' };
  const bytes = Buffer.from(body);
  const reply = { status, headers: ['Content-Type', type], body: bytes, json: parseBody(bytes) };
  const found = compareReply(serviceState, call, reply).drift;
  expect(found).toEqual(drift === undefined ? [] : [expect.stringMatching(drift)]);
});

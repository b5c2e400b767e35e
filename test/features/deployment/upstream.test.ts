import { expect, test } from 'vitest';
import { parseBaseUrl } from '../../../src/core/contract/base-url.ts';
import { DeploymentClient } from '../../../src/features/deployment/deployment-client.ts';
import { rawDeployment, serverFor } from '../../helpers/deployment.ts';
import { drawChoices, drawing, drawRequests } from '../../helpers/drawn-requests.ts';

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

const rex = '{"id":1,"name":"Rex","categoryId":1}';

// biome-ignore format: a row for each
test.each<[what: string, status: string, type: string, body: string, drift: RegExp | undefined]>([
  ['a documented page', '200 OK', 'application/json', `[${rex}]`, undefined],
  ['a status that nobody allows', '418 No', 'application/json', '{}', /^status: expected 200 or 401, found 418\.$/],
  ['a redirect', '302 Found', 'text/plain', '', /^status: expected 200 or 401, found 302\.$/],
  ['a number as text', '200 OK', 'application/json', `[${rex.replace('1', '"1"')}]`, /^\$\[\]\.id: /],
  ['a field that is missing', '200 OK', 'application/json', '[{"id":1,"categoryId":1}]', /^\$\[\]\.name: /],
  ['another media type', '200 OK', 'text/html', `[${rex}]`, /^Content-Type: /],
  ['no JSON', '200 OK', 'application/json', '<html>', /JSON/],
  ['another charset', '200 OK', 'application/json; charset=utf-8', `[${rex}]`, /^charset: expected none \(json-charset=bare\), found utf-8\.$/],
  ['more animals than asked for', '200 OK', 'application/json', `[${Array.from({ length: 21 }, (_, at) => rex.replace('1', `${at + 1}`))}]`, /^count: expected 20, found all\.$/],
  ['a 401 without its challenge', '401 No', 'application/json', '{"code":"a","message":"b","status":401}', /^challenge: expected bearer \(auth-challenge=sent\), found none\.$/],
])('%s is reported', async (_what, status, type, body, drift) => {
  const head = `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}`;
  const deployment = await rawDeployment(`${head}\r\n\r\n${body}`);
  const server = await serverFor({ upstream: deployment.url });
  await fetch(`${server.url}/pets`, { headers: { Authorization: 'Bearer any' }, redirect: 'manual' });
  const found = server.findings().findings.filter(({ code }) => code === 'drift');
  const message = expect.stringMatching(drift ?? '');
  expect(found).toEqual(drift === undefined ? [] : [expect.objectContaining({ message })]);
});

test('a preference that is refused keeps a call from the deployment', async () => {
  const deployment = await serverFor();
  const server = await serverFor({ upstream: deployment.url });
  const cancel = (headers: object) =>
    fetch(`${server.url}/store/orders/1`, {
      method: 'DELETE',
      headers: { Authorization: 'Bearer demo-key', ...headers },
    });
  expect((await cancel({ Prefer: 'scenario=outtage, handling=strict' })).status).toBe(400);
  expect((await cancel({ Prefer: 'scenario=outtage' })).status).toBe(204);
});

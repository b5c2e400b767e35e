import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { type CurlRequest, curlCommand } from '../../src/core/curl.ts';
import { listen } from '../helpers/host.ts';
import { findProgram, runProgram } from '../helpers/program.ts';

test.each<[body: string, words: string]>([
  [`it's {"a":"$b"}`, `'it''s {"a":"$b"}'`],
  ['line\n`$"\u001b', '"line`u{a}```$`"`u{1b}"'],
])('PowerShell reads %j as one word', (body, words) => {
  const line = curlCommand(
    { method: 'PUT', url: 'http://a/b?c', headers: [], body },
    [],
    'powershell',
  );
  expect(line).toBe(`curl.exe -X PUT -H Content-Type: --data-raw ${words} 'http://a/b?c'`);
});

interface RequestParts {
  readonly method: string;
  readonly path: string;
  readonly headers: CurlRequest['headers'];
  readonly body: string;
}

const GET: RequestParts = { method: 'GET', path: '/v1/pets', headers: [], body: '' };

test.skipIf(findProgram('curl') === undefined)('curl sends exactly the request', async () => {
  const requests: readonly RequestParts[] = [
    { ...GET, path: '//other.example/v1/pets' },
    { ...GET, path: '/v1/../pets/[1-3]/{a,b}?q=[1]&r=%20' },
    { ...GET, method: 'POST', body: '@/etc/hostname' },
    { ...GET, method: 'PATCH', body: `it's "$HOME" \`id\` \\\r\n\t!` },
    { ...GET, method: 'PUT', headers: [['X-A', '']] },
    { ...GET, method: 'HEAD', headers: [['X-A', "@file; it's"]] },
  ];
  const received: RequestParts[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { method = '', url: path = '', headers } = request;
    const own = headers['x-a'];
    received.push({ method, path, body, headers: own === undefined ? [] : [['X-A', `${own}`]] });
    expect(headers['content-type']).toBeUndefined();
    response.end();
  });
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${await listen(server)}`;
  const lines = requests.map(({ path, body, method, headers }) => {
    const hasBody = !['GET', 'HEAD'].includes(method);
    const sent = { method, url: origin + path, headers, body: hasBody ? body : undefined };
    return `${curlCommand(sent)} --silent --noproxy '*'`;
  });
  expect(await runProgram('bash', ['-ec', lines.join('\n')])).toMatchObject({ code: 0 });
  expect(received).toEqual(requests);
});

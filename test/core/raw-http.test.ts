import { createServer, type IncomingMessage, type Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CurlRequest, curlCommand } from '../../src/core/raw-http.ts';
import { listen } from '../helpers/host.ts';
import { findProgram, runProgram } from '../helpers/program.ts';

let server: Server;
let origin: string;
let received: Promise<{ request: IncomingMessage; body: string }>;

beforeAll(async () => {
  server = createServer();
  server.on('request', (_request, response) => response.end());
  origin = `http://127.0.0.1:${await listen(server)}`;
});
afterAll(() => server.close());

interface RequestParts extends Partial<Pick<CurlRequest, 'method' | 'headers' | 'body'>> {
  readonly path?: string;
}

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

test.each<[string, RequestParts]>([
  ['a path that looks like another host', { path: '//other.example/v1/pets' }],
  ['dots and brackets in the path', { path: '/v1/../pets/[1-3]/{a,b}?q=[1]&r=%20' }],
  ['a body that starts with @', { method: 'POST', body: '@/etc/hostname' }],
  [
    'quotes and line breaks in the body',
    { method: 'PATCH', body: `it's "$HOME" \`id\` \\\r\n\t!` },
  ],
  ['an empty body and an empty header', { method: 'PUT', body: '', headers: [['X-A', '']] }],
  ['a HEAD', { method: 'HEAD', headers: [['X-A', "@file; it's"]] }],
])('curl sends exactly the request: %s', async (_what, sent) => {
  const { method = 'GET', path = '/v1/pets', headers = [], body } = sent;
  const bash = findProgram('bash');
  if (bash === undefined || findProgram('curl') === undefined) return;
  received = new Promise((resolve) => {
    server.once('request', async (request: IncomingMessage) => {
      let text = '';
      for await (const chunk of request.setEncoding('utf8')) text += chunk;
      resolve({ request, body: text });
    });
  });
  const line = curlCommand({ method, url: origin + path, headers, body });
  const { code, output } = await runProgram(bash, ['-c', `${line} --silent --noproxy '*'`]);
  expect({ code, output }).toMatchObject({ code: 0 });
  const { request, body: text } = await received;
  expect([request.method, request.url, text]).toEqual([method, path, body ?? '']);
  for (const [name, value] of headers) expect(request.headers[name.toLowerCase()]).toBe(value);
  expect(request.headers['content-type']).toBeUndefined();
});

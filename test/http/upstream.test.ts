import { afterEach, describe, expect, test } from 'vitest';
import type { ServerOptions } from '../../src/server.ts';
import { asker } from '../helpers/ask.ts';
import { rawDeployment, serverFor } from '../helpers/deployment.ts';
import { closeRaw, openRaw } from '../helpers/raw.ts';

afterEach(closeRaw);

const KEY = 'Authorization: Bearer real-key';

/** A server in front of a deployment that writes bytes, and how to send bytes to it. */
async function inFrontOf(answer: Parameters<typeof rawDeployment>[0], options: ServerOptions = {}) {
  const deployment = await rawDeployment(answer);
  const server = await serverFor({ upstream: deployment.url, ...options });
  const ask = asker(server.port);
  const control = asker(server.port, '/__mock');
  const exchange = async (number = 1) => {
    const { json } = await control('GET', `/requests/${number}`);
    return Object(json);
  };
  return { deployment, server, ask, control, exchange };
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]';

describe('a request', () => {
  test('arrives as the client wrote it, without what belongs to its connection or to the mock', async () => {
    const { deployment, server } = await inFrontOf(OK);
    const client = await openRaw(server.port);
    client.send(
      [
        'PATCH /~team/v1/inventory/%31?a=%2F&b HTTP/1.1',
        'Host: 127.0.0.1',
        'X-Twice: a',
        'x-twice: b',
        'AUTHORIZATION: Bearer real-key',
        'Connection: X-Hop, keep-alive',
        'X-Hop: 1',
        'Keep-Alive: 5',
        'TE: trailers',
        'Upgrade: h2c',
        'Proxy-Authorization: Basic x',
        'Mock-Sandbox: team',
        'Content-Type: application/json',
        'Transfer-Encoding: chunked',
        '',
        'e\r\n{"quantity":1}\r\n0\r\n\r\n',
      ].join('\r\n'),
    );
    expect((await client.reply()).status).toBe(200);
    const [line, ...rest] = deployment.received().split('\r\n');
    expect(line).toBe('PATCH /base/v1/inventory/%31?a=%2F&b HTTP/1.1');
    expect(rest).toEqual([
      `Host: ${new URL(deployment.url).host}`,
      'X-Twice: a',
      'x-twice: b',
      'AUTHORIZATION: Bearer real-key',
      'Content-Type: application/json',
      'Content-Length: 14',
      'Connection: keep-alive',
      '',
      '{"quantity":1}',
    ]);
  });

  test('carries the key of the sandbox in place of the client’s, or the client’s without its sandbox name', async () => {
    const { deployment, ask, control } = await inFrontOf(OK);
    await ask('GET', '/inventory', { key: 'real-key~team' });
    expect(deployment.received()).toContain('Authorization: Bearer real-key\r\n');
    await control('PUT', '/upstream', { body: { url: deployment.url, key: 'other-key' } });
    await ask('GET', '/inventory');
    expect(deployment.received()).toContain('Authorization: Bearer other-key\r\n');
  });
});

describe('a reply', () => {
  test('comes back byte for byte, with the basis and without what belongs to a connection', async () => {
    const head = ['X-Twice: a', 'x-TWICE: b', 'Set-Cookie: c=\xe9', 'Content-Type: text/odd'];
    const { server } = await inFrontOf(
      [
        'HTTP/1.1 299 Odd Reason',
        ...head,
        'Connection: X-Hop',
        'X-Hop: 1',
        'Keep-Alive: timeout=9',
      ].join('\r\n') +
        '\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n',
    );
    const client = await openRaw(server.port);
    client.send(`GET /v1/pets HTTP/1.1\r\nHost: a\r\n${KEY}\r\nConnection: close\r\n\r\n`);
    expect((await client.rest()).split('\r\n')).toEqual([
      'HTTP/1.1 299 Odd Reason',
      ...head,
      'Trailer: X-Sum',
      'Mock-Basis: upstream',
      'Connection: close',
      'Transfer-Encoding: chunked',
      '',
      '3',
      'abc',
      '0',
      'X-Sum: 1',
      '',
      '',
    ]);
  });

  test('begins before the deployment has ended it', async () => {
    let end = (): void => {};
    const { server, exchange } = await inFrontOf((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n["a"');
      end = () => socket.write(',1]'.slice(0, 2));
    });
    const client = await openRaw(server.port);
    client.send(`GET /v1/pets HTTP/1.1\r\nHost: a\r\n${KEY}\r\n\r\n`);
    await expect.poll(() => client.socket.bytesRead).toBeGreaterThan(60);
    expect(await exchange()).toMatchObject({ code: 'not_found' });
    end();
    expect((await client.reply()).body).toBe('["a",1');
    expect(await exchange()).toMatchObject({ status: 200, basis: 'upstream' });
  });

  test.each([
    ['nobody listens', undefined, 502, /ECONNREFUSED/],
    ['it closes the connection', (socket) => socket.end(), 502, /socket hang up/],
    ['it sends nonsense', 'nonsense\r\n\r\n', 502, /Parse Error/],
    ['it never answers', () => {}, 504, /sent nothing for 50 ms/],
  ] as const satisfies readonly (readonly [
    string,
    Parameters<typeof rawDeployment>[0] | undefined,
    number,
    RegExp,
  ])[])('is an Error if %s', async (_, answer, status, message) => {
    const { ask, control, exchange } = await inFrontOf(answer ?? OK, { upstreamTimeout: 50 });
    if (answer === undefined) {
      await control('PUT', '/upstream', { body: { url: 'http://127.0.0.1:1/v1' } });
    }
    const reply = await ask('GET', '/pets');
    expect(reply.headers['mock-basis']).toBe('assumed');
    expect(reply).toMatchObject({
      status,
      json: { message: expect.stringMatching(message), status },
    });
    expect(await exchange()).toMatchObject({ status, basis: 'assumed' });
  });
});

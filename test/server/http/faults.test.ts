import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Fault } from '../../../src/core/scenario/fault-table.ts';
import { createReply, DOCUMENTED, type Reply } from '../../../src/core/service/reply.ts';
import { rowNames } from '../../../src/core/tables.ts';
import {
  resetConnection,
  sendExchange,
  staleConnections,
} from '../../../src/server/http/faults.ts';
import { PendingResponses } from '../../../src/server/http/write.ts';
import { anyText } from '../../helpers/drawn-requests.ts';
import { useFakeTimers } from '../../helpers/fake-timers.ts';
import { listen } from '../../helpers/host.ts';
import { openRaw, type RawConnection, rawRequest } from '../../helpers/raw.ts';

const PETS = '[{"id":1,"name":"Bella","tag":"dog"},{"id":2,"name":"Zoë","tag":"cat"}]';
const BASIS = ['Mock-Basis', 'documented'];
const REPLY = { status: 200, headers: ['Content-Type', 'application/json', ...BASIS], body: PETS };
const NO_CONTENT: Written = { status: 204, headers: BASIS, body: undefined };

type Written = Pick<Reply, 'status' | 'headers' | 'body'>;

interface Mock {
  readonly port: number;
  readonly url: string;
  readonly server: Server;
  readonly pending: PendingResponses;
}

type Plain = Exclude<Fault['kind'], 'slow-body'>;

/** Serves a fault at `/fault` and a good reply at every other path. */
async function serve(fault: Fault, written: Written | (() => Written) = REPLY): Promise<Mock> {
  const pending = new PendingResponses();
  const server = createServer((request, response) => {
    if (staleConnections.has(request.socket)) resetConnection(response);
    else if (request.url === '/fault') {
      const { status, headers, body } = typeof written === 'function' ? written() : written;
      const reply = createReply(DOCUMENTED, status, { body, mediaType: undefined }, headers);
      sendExchange({ fault, reply }, response, pending);
    } else response.end(PETS);
  });
  const port = await listen(server);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port, url: `http://127.0.0.1:${port}`, server, pending };
}

const slow = (chunks: number, over: number) => ({ kind: 'slow-body', chunks, over }) as const;
const SLOW = slow(3, 60_000);

/** Sends one request, and reads on until the server has ended the connection. */
async function ask(port: number, request: string): Promise<{ bytes: string; error: unknown }> {
  const connection = await openRaw(port);
  connection.send(request);
  return endOf(connection);
}

/** What came that is not read yet, and the code of the error that ended the connection. */
async function endOf({ rest, socket }: RawConnection) {
  const bytes = await rest();
  return { bytes, error: Object(socket.errored).code };
}

/** The exit code of curl. */
function curl(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    execFile('curl', ['--silent', '--noproxy', '*', url], (error) => {
      if (error === null || typeof error.code === 'number') resolve(Number(error?.code ?? 0));
      else reject(error);
    });
  });
}

/** What made a fetch fail: its name and code. */
async function fetchFailure(url: string): Promise<string> {
  const error: unknown = await fetch(url)
    .then((response) => response.text())
    .catch(({ cause }) => cause);
  return error instanceof Error ? `${error.name} ${Object(error).code}` : 'none';
}

const BROKEN = 'SocketError UND_ERR_SOCKET';

test.each<[Plain, Written, number, RegExp | string]>([
  ['reset', REPLY, 56, 'Error ECONNRESET'],
  ['close', REPLY, 52, BROKEN],
  ['truncate', REPLY, 18, BROKEN],
  ['truncate', NO_CONTENT, 52, BROKEN],
  ['bad-chunk', REPLY, 56, /^HTTPParserError/],
])('curl and fetch fail on %s of %o', async (kind, written, exit, failure) => {
  const { url } = await serve({ kind }, written);
  expect(await curl(`${url}/fault`)).toBe(exit);
  expect(await fetchFailure(`${url}/fault`)).toMatch(failure);
});

const GET = rawRequest('GET', '/fault');
const HEAD = rawRequest('HEAD', '/fault');
const NEXT = rawRequest('GET', '/1');
const HALF_SENT = rawRequest('POST', '/fault', { 'Content-Length': '1000' }, '{"name": ');
const EMPTY: Written = { ...REPLY, body: '' };
const LENGTH = Buffer.byteLength(PETS);
const HALF = PETS.slice(0, LENGTH >> 1);

const ANNOUNCED = `Content-Length: ${LENGTH}`;
const CHUNKED = 'Transfer-Encoding: chunked';
const BAD_CHUNKS = `${(LENGTH >> 1).toString(16)}\r\n${HALF}\r\nxyz\r\n${PETS.slice(LENGTH >> 1)}\r\n`;
const OLD_GET = GET.replace('HTTP/1.1', 'HTTP/1.0');

const GET_TWO = [GET, rawRequest('GET', '/1', { Connection: 'close' })];
const then = (body: string, next = 'HTTP/1.1 200 OK') => expect.stringContaining(body + next);
const WHOLE: Written = { ...REPLY, headers: [...REPLY.headers, ...ANNOUNCED.split(': ')] };
const LAST: Written = { ...WHOLE, headers: [...WHOLE.headers, 'Connection', 'close'] };

/** A reply, a request or two, a part of the head, the body and what follows it, and the error at the end. */
type Row = [Written, requests: string | string[], head: string, body: unknown, error?: string];

/** A new fault does not compile until it has its rows here. */
const WRITTEN: Readonly<Record<Fault['kind'], readonly Row[]>> = {
  reset: [[REPLY, GET, '', undefined, 'ECONNRESET']],
  close: [[REPLY, GET, '', undefined]],
  hang: [[REPLY, GET, '', undefined]],
  html: [[LAST, GET, ANNOUNCED, PETS]],
  truncate: [
    [REPLY, GET, ANNOUNCED, HALF],
    [EMPTY, GET, 'Content-Length: 1', ''],
    [NO_CONTENT, GET, 'HTTP/1.1 2', undefined],
    [REPLY, HEAD, 'HTTP/1.1 2', undefined],
  ],
  'malformed-json': [[REPLY, GET_TWO, 'HTTP/1.1 200', then(`${HALF}:}`)]],
  'bad-chunk': [
    [REPLY, GET, CHUNKED, BAD_CHUNKS],
    [EMPTY, GET, CHUNKED, 'xyz\r\n\r\n'],
    [REPLY, OLD_GET, ANNOUNCED, HALF],
    [NO_CONTENT, GET, 'HTTP/1.1 2', undefined],
  ],
  'slow-body': [[REPLY, GET_TWO, ANNOUNCED, then(PETS)]],
  'stale-connection': [[WHOLE, GET_TWO, ANNOUNCED, PETS, 'ECONNRESET']],
};

describe.each(rowNames(WRITTEN))('%s', (kind) => {
  test.each(WRITTEN[kind])('leaves of %o to %j what its row says', async (...row) => {
    const [written, requests, head, body, failure] = row;
    const { port, server, pending } = await serve(kind === SLOW.kind ? SLOW : { kind }, written);
    const connection = await openRaw(port);
    for (const request of [requests].flat()) {
      const asked = once(server, 'request');
      connection.send(request);
      await asked;
      pending.endAll(); // what takes time ends now
    }
    const { bytes, error } = await endOf(connection);
    const [start, ...rest] = bytes.split('\r\n\r\n');
    expect([start, error]).toEqual([expect.stringContaining(head), failure]);
    expect(rest.length === 0 ? undefined : rest.join('\r\n\r\n')).toEqual(body);
  });
});

test.each([GET, HALF_SENT])('reset resets the connection of %j at once', async (request) => {
  const { port } = await serve({ kind: 'reset' });
  // No timer fires.
  useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  expect(await ask(port, request)).toEqual({ bytes: '', error: 'ECONNRESET' });
});

describe('malformed-json', () => {
  test('is never JSON, whatever the body', async () => {
    let body = '';
    const { url } = await serve({ kind: 'malformed-json' }, () => ({ ...REPLY, body }));
    const anyBody = fc.oneof(fc.json(), anyText);
    const examples = ['', '1', '{}', '[]', '""', '"a:}b:}"', '{"a":{}}', '{":}":":}"}'];
    const property = fc.asyncProperty(anyBody, async (text) => {
      body = text;
      const got = await fetch(`${url}/fault`);
      const bytes = Buffer.from(await got.arrayBuffer());
      expect(() => JSON.parse(bytes.toString())).toThrow(SyntaxError);
      expect(Number(got.headers.get('content-length'))).toBe(bytes.length);
    });
    await fc.assert(property, { numRuns: 40, examples: examples.map((it) => [it]) });
  });

  test('does not change a reply without content', async () => {
    const { port } = await serve({ kind: 'malformed-json' }, NO_CONTENT);
    const connection = await openRaw(port);
    connection.send(GET + NEXT);
    const [first, second] = await connection.replies(2);
    expect(first).toMatchObject({ status: 204, headers: { 'mock-basis': 'documented' } });
    expect(first?.headers).not.toHaveProperty('content-length');
    expect(second?.body).toBe(PETS);
  });
});

describe('slow-body', () => {
  test('sends the head at once, then evenly spaced pieces', async () => {
    const { port, server } = await serve(slow(4, 1_000), { ...REPLY, body: '0123456789' });
    useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const connection = await openRaw(port);
    let arrived = '';
    connection.socket.on('data', (bytes: Buffer) => {
      arrived += bytes.toString();
    });
    const asked = once(server, 'request');
    connection.send(GET);
    await asked;
    const body = () => arrived.split('\r\n\r\n')[1];
    for (const piece of ['', '01', '01234', '0123456']) {
      while (body() !== piece) await once(connection.socket, 'data');
      vi.advanceTimersByTime(249);
      expect(body()).toBe(piece);
      vi.advanceTimersByTime(1);
    }
    const { body: whole, headers } = await connection.reply();
    expect([whole, headers['content-length']]).toEqual(['0123456789', '10']);
    connection.send(NEXT);
    expect((await connection.reply()).body).toBe(PETS);
  });

  test.each([
    ['more pieces than bytes', slow(1_000, 5), 'GET', REPLY],
    ['no time', slow(3, 0), 'GET', REPLY],
    ['one piece', slow(1, 5), 'GET', REPLY],
    ['a body in bytes', slow(3, 5), 'GET', { ...REPLY, body: Buffer.from(PETS) }],
    ['an empty body, at once', slow(3, 60_000), 'GET', EMPTY],
    ['no content, at once', slow(3, 60_000), 'GET', NO_CONTENT],
    ['HEAD, at once', slow(3, 60_000), 'HEAD', { ...REPLY, headers: [] }],
  ])('supports %s', async (_what, fault, method, written) => {
    const { url } = await serve(fault, written);
    const expected = method === 'HEAD' ? '' : (written.body ?? '').toString();
    expect(await (await fetch(`${url}/fault`, { method })).text()).toBe(expected);
  });

  test('is sent completely when the server closes', async () => {
    const { port, server, pending } = await serve(slow(2, 600_000));
    const connection = await openRaw(port);
    connection.send(rawRequest('GET', '/fault', { Connection: 'close' }));
    await once(connection.socket, 'data');
    const closed = once(server, 'close');
    server.close();
    pending.endAll();
    expect((await connection.reply()).body).toBe(PETS);
    await closed;
  });

  test('is sent once when the server closes on a client that has yet to read it', async () => {
    const body = Buffer.alloc(16 * 1024 * 1024, 'x');
    const { port, server, pending } = await serve(slow(2, 10), { ...REPLY, body });
    const asked = once(server, 'request');
    const connection = await openRaw(port);
    connection.socket.pause();
    connection.send(rawRequest('GET', '/fault', { Connection: 'close' }));
    const [, response] = await asked;
    while (!response.writableEnded) await setImmediate();
    pending.endAll();
    connection.socket.resume();
    const [, ...rest] = (await connection.rest()).split('\r\n\r\n');
    expect(rest.join()).toHaveLength(body.length);
  });
});

describe('hang', () => {
  /** A client that is kept waiting, and the server's end of its connection. */
  async function hanging(mock: Mock): Promise<[RawConnection, ServerResponse]> {
    const asked = once(mock.server, 'request');
    const connection = await openRaw(mock.port);
    connection.send(GET);
    const [, response] = await asked;
    return [connection, response];
  }

  test.each(['end', 'destroy'] as const)('ends when the client disconnects (%s)', async (leave) => {
    const [{ socket }, response] = await hanging(await serve({ kind: 'hang' }));
    const closed = once(response, 'close');
    socket[leave]();
    await closed;
  });

  test('lasts 5 minutes at most', async () => {
    useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const [connection, response] = await hanging(await serve({ kind: 'hang' }));
    vi.advanceTimersByTime(5 * 60_000 - 1);
    expect(response.socket?.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(await endOf(connection)).toEqual({ bytes: '', error: undefined });
  });

  test('does not keep the server from closing, even if it begins during the stop', async () => {
    const mock = await serve({ kind: 'hang' });
    const [first] = await hanging(mock);
    const second = await openRaw(mock.port);
    const closed = once(mock.server, 'close');
    mock.server.close();
    mock.pending.endAll();
    expect(await endOf(first)).toEqual({ bytes: '', error: undefined });
    second.send(GET);
    expect(await endOf(second)).toEqual({ bytes: '', error: undefined });
    await closed;
  });
});

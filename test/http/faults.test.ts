import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { WireReply } from '../../src/http/faults.ts';
import { carryOut } from '../../src/http/faults.ts';
import { PendingResponses } from '../../src/http/pending-responses.ts';
import type { Fault } from '../../src/scenario/fault-table.ts';
import { closeRaw, openRaw, type RawConnection, rawRequest } from '../helpers/raw.ts';

const PETS = JSON.stringify([
  { id: 1, name: 'Bella', tag: 'dog' },
  { id: 2, name: 'Zoë', tag: 'cat' },
]);

const REPLY: WireReply = {
  status: 200,
  headers: ['Content-Type', 'application/json', 'Mock-Basis', 'documented'],
  body: PETS,
};

const NO_CONTENT: WireReply = { status: 204, headers: ['Mock-Basis', 'documented'], body: '' };

interface Mock {
  readonly port: number;
  readonly url: string;
  readonly server: Server;
  readonly pending: PendingResponses;
  /** What the server has been asked for so far. */
  readonly asked: string[];
}

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  vi.useRealTimers();
  closeRaw();
  await Promise.all(closers.splice(0).map((close) => close()));
});

/** Serves a fault at `/fault`, and a good reply at every other path. */
async function serve(
  fault: Fault,
  written: WireReply | (() => WireReply) = REPLY,
  good = PETS,
): Promise<Mock> {
  const pending = new PendingResponses();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (request.url === '/fault') {
      const reply = typeof written === 'function' ? written() : written;
      carryOut(fault, response, reply, pending);
    } else response.end(good);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closers.push(async () => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  const { port } = address;
  return { port, url: `http://127.0.0.1:${port}`, server, pending, asked };
}

const slow = (chunks: number, over: number): Fault => ({ kind: 'slow-body', chunks, over });

/** What came that is not read yet, and how the connection ended. */
interface Ending {
  readonly bytes: string;
  readonly error: string | undefined;
}

interface Connection extends RawConnection {
  /** Reads on until the server has ended the connection. */
  ending(): Promise<Ending>;
}

async function open(port: number): Promise<Connection> {
  const connection = await openRaw(port);
  let error: string | undefined;
  connection.socket.once('error', ({ code }: NodeJS.ErrnoException) => {
    error = code;
  });
  const end = async () => ({ bytes: await connection.rest(), error });
  return { ...connection, ending: end };
}

/** Sends one request, for the fault by default, and reads on to the connection's end. */
async function ask(port: number, request = rawRequest('GET', '/fault')): Promise<Ending> {
  const connection = await open(port);
  connection.send(request);
  return connection.ending();
}

/** The head and the body of a reply, whole or not. */
function parts(bytes: string): [head: string, body: string | undefined] {
  const [head = '', body] = bytes.split('\r\n\r\n');
  return [head, body];
}

interface Curled {
  readonly exit: number;
  readonly stdout: string;
}

function curl(...args: string[]): Promise<Curled> {
  return new Promise((resolve, reject) => {
    execFile('curl', ['--silent', '--noproxy', '*', ...args], (error, stdout) => {
      if (error === null) resolve({ exit: 0, stdout });
      else if (typeof error.code === 'number') resolve({ exit: error.code, stdout });
      else reject(error);
    });
  });
}

/** What made a fetch fail: its name and code. */
async function fetchFailure(url: string, method = 'GET'): Promise<string> {
  const error = await fetch(url, { method }).then(
    (response) => response.text().then(() => undefined, whyOf),
    whyOf,
  );
  if (error === undefined) throw new Error('The fetch did not fail.');
  return error;
}

function whyOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error)) return String(error);
  return 'code' in cause ? `${cause.name} ${cause.code}` : cause.name;
}

describe('clients of each kind', () => {
  test.each<[Fault['kind'] & ('reset' | 'close' | 'truncate' | 'bad-chunk'), object]>([
    ['reset', { curl: 56, fetch: 'Error ECONNRESET' }],
    ['close', { curl: 52, fetch: 'SocketError UND_ERR_SOCKET' }],
    ['truncate', { curl: 18, fetch: 'SocketError UND_ERR_SOCKET' }],
    ['bad-chunk', { curl: 56, fetch: expect.stringMatching(/^HTTPParserError/) }],
  ])('fail on %s', async (kind, expected) => {
    const { url } = await serve({ kind });
    const { exit } = await curl(`${url}/fault`);
    expect({ curl: exit, fetch: await fetchFailure(`${url}/fault`) }).toEqual(expected);
  });

  test.each<[string, Fault]>([
    ['truncate', { kind: 'truncate' }],
    ['bad-chunk', { kind: 'bad-chunk' }],
  ])('fail on %s even if the reply has no content', async (_kind, fault) => {
    const { url } = await serve(fault, NO_CONTENT);
    expect((await curl(`${url}/fault`)).exit).toBe(52);
    await expect(fetchFailure(`${url}/fault`)).resolves.toBe('SocketError UND_ERR_SOCKET');
    await fetchFailure(`${url}/fault`, 'HEAD');
  });

  test('give up on a hang', async () => {
    const { url } = await serve({ kind: 'hang' });
    expect(await curl('--max-time', '0.1', `${url}/fault`)).toEqual({ exit: 28, stdout: '' });
    const signal = AbortSignal.timeout(50);
    await expect(fetch(`${url}/fault`, { signal })).rejects.toThrow(/timeout/);
  });
});

describe('reset', () => {
  test('resets the TCP connection at once and sends nothing', async () => {
    const { port } = await serve({ kind: 'reset' });
    // No timer fires.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    expect(await ask(port, rawRequest('GET', '/fault'))).toEqual({
      bytes: '',
      error: 'ECONNRESET',
    });
  });

  test('works even while the rest of a body is arriving', async () => {
    const { port } = await serve({ kind: 'reset' });
    const half = rawRequest('POST', '/fault', { 'Content-Length': '1000' }, '{"name": ');
    expect(await ask(port, half)).toEqual({ bytes: '', error: 'ECONNRESET' });
  });
});

describe('close', () => {
  test('ends the connection cleanly without sending a byte', async () => {
    const { port } = await serve({ kind: 'close' });
    expect(await ask(port)).toEqual({ bytes: '', error: undefined });
  });
});

describe('truncate', () => {
  test('sends half of what Content-Length announces, then closes cleanly', async () => {
    const { port } = await serve({ kind: 'truncate' });
    const { bytes, error } = await ask(port);
    const [head, body] = parts(bytes);
    expect(error).toBeUndefined();
    expect(head).toContain(`\r\nContent-Length: ${Buffer.byteLength(PETS)}`);
    expect(head).toContain('\r\nMock-Basis: documented');
    expect(body).toBe(PETS.slice(0, Buffer.byteLength(PETS) >> 1));
  });

  test('announces an empty body as one byte', async () => {
    const { port } = await serve({ kind: 'truncate' }, { ...REPLY, body: '' });
    const [head, body] = parts((await ask(port)).bytes);
    expect(head).toMatch(/\r\nContent-Length: 1(\r\n|$)/);
    expect(body).toBe('');
  });

  test.each([
    ['a reply with 204', 'GET', NO_CONTENT],
    ['a reply to HEAD', 'HEAD', REPLY],
  ])('cuts %s in its head', async (_what, method, written) => {
    const { port } = await serve({ kind: 'truncate' }, written);
    const end = await ask(port, rawRequest(method, '/fault'));
    expect(end).toEqual({ bytes: 'HTTP/1.1 2', error: undefined });
  });
});

describe('malformed-json', () => {
  test('is never JSON, whatever the body', async () => {
    let body = '';
    const { url } = await serve({ kind: 'malformed-json' }, () => ({ ...REPLY, body }));
    const anyBody = fc.oneof(
      fc.json(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('', '1', '{}', '[]', '""', '"a:}b:}"', '{"a":{}}', '{":}":":}"}'),
    );
    await fc.assert(
      fc.asyncProperty(anyBody, async (text) => {
        body = text;
        const got = await fetch(`${url}/fault`);
        const bytes = Buffer.from(await got.arrayBuffer());
        expect(() => JSON.parse(bytes.toString())).toThrow(SyntaxError);
        expect(Number(got.headers.get('content-length'))).toBe(bytes.length);
      }),
      { numRuns: 300 },
    );
  });

  test('does not change a reply without content', async () => {
    const { port } = await serve({ kind: 'malformed-json' }, NO_CONTENT);
    const connection = await open(port);
    connection.send(rawRequest('GET', '/fault') + rawRequest('GET', '/1'));
    const [first, second] = await connection.replies(2);
    expect(first).toMatchObject({ status: 204, headers: { 'mock-basis': 'documented' } });
    expect(first?.headers).not.toHaveProperty('content-length');
    expect(second?.body).toBe(PETS);
  });
});

describe('html', () => {
  test.each(['GET', 'HEAD'])('answers %s once and closes', async (method) => {
    const { port } = await serve({ kind: 'html' });
    const connection = await open(port);
    connection.send(rawRequest(method, '/fault'));
    const { status, headers } = await connection.reply(method);
    expect(status).toBe(502);
    expect(headers).toMatchObject({ 'content-type': 'text/html', connection: 'close' });
    expect(Number(headers['content-length'])).toBeGreaterThan(0);
    expect(await connection.ending()).toEqual({ bytes: '', error: undefined });
  });
});

describe('bad-chunk', () => {
  test('sends one valid chunk and one whose size is not a number, then closes', async () => {
    const { port } = await serve({ kind: 'bad-chunk' });
    const { bytes, error } = await ask(port);
    const [head, body = ''] = parts(bytes);
    expect(error).toBeUndefined();
    expect(head).toContain('\r\nTransfer-Encoding: chunked');
    expect(head).not.toContain('Content-Length');
    const half = Buffer.byteLength(PETS) >> 1;
    const [size, chunk, badSize] = body.split('\r\n');
    expect(Number.parseInt(size ?? '', 16)).toBe(half);
    expect(chunk).toBe(PETS.slice(0, half));
    expect(badSize).toMatch(/^[^0-9a-fA-F]/);
  });

  test.each(['HTTP/1.0', 'HTTP/1.1'])('works with %s', async (version) => {
    const { port } = await serve({ kind: 'bad-chunk' });
    const request = rawRequest('GET', '/fault').replace('HTTP/1.1', version);
    const [head] = parts((await ask(port, request)).bytes);
    expect(head).toContain(version === 'HTTP/1.0' ? 'Content-Length' : 'Transfer-Encoding');
  });

  test('has only the bad chunk if the body is empty', async () => {
    const { port } = await serve({ kind: 'bad-chunk' }, { ...REPLY, body: '' });
    expect(parts((await ask(port)).bytes)[1]).toMatch(/^[^0-9a-fA-F]/);
  });
});

describe('slow-body', () => {
  test('sends the head at once, then evenly spaced pieces', async () => {
    const { port, server } = await serve(slow(4, 1_000), { ...REPLY, body: '0123456789' });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const connection = await open(port);
    let arrived = '';
    connection.socket.on('data', (bytes: Buffer) => {
      arrived += bytes.toString();
    });
    const asked = once(server, 'request');
    connection.send(rawRequest('GET', '/fault'));
    await asked;
    const body = () => parts(arrived)[1];
    for (const piece of ['', '01', '01234', '0123456']) {
      while (body() !== piece) await once(connection.socket, 'data');
      vi.advanceTimersByTime(249);
      expect(body()).toBe(piece);
      vi.advanceTimersByTime(1);
    }
    const { body: whole, headers } = await connection.reply();
    expect(whole).toBe('0123456789');
    expect(headers['content-length']).toBe('10');
    connection.send(rawRequest('GET', '/1'));
    expect((await connection.reply()).body).toBe(PETS);
  });

  test.each([
    ['more pieces than bytes', slow(1_000, 5), REPLY],
    ['no time', slow(3, 0), REPLY],
    ['one piece', slow(1, 5), REPLY],
    ['an empty body', slow(3, 60_000), { ...REPLY, body: '' }],
    ['a body in bytes', slow(3, 5), { ...REPLY, body: Buffer.from(PETS) }],
  ])('supports %s', async (_what, fault, written) => {
    const { url } = await serve(fault, written);
    expect(await (await fetch(`${url}/fault`)).text()).toBe(written.body.toString());
  });

  test.each([
    ['204', 'GET', NO_CONTENT],
    ['HEAD', 'HEAD', REPLY],
  ])('answers at once if %s allows no content', async (_what, method, written) => {
    const { port } = await serve(slow(3, 60_000), written);
    const connection = await open(port);
    connection.send(rawRequest(method, '/fault'));
    expect((await connection.reply(method)).status).toBe(written.status);
  });

  test('is sent completely when the server closes', async () => {
    const { port, server, pending } = await serve(slow(2, 600_000));
    const connection = await open(port);
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
    const connection = await open(port);
    connection.socket.pause();
    connection.send(rawRequest('GET', '/fault'));
    const [, response] = await asked;
    while (!response.writableEnded) await setImmediate();
    pending.endAll();
    connection.socket.resume();
    expect((await connection.reply()).body).toHaveLength(body.length);
  });
});

describe('hang', () => {
  /** A client that is kept waiting, and the server's end of its connection. */
  async function hanging(mock: Mock): Promise<[Connection, ServerResponse]> {
    const asked = once(mock.server, 'request');
    const connection = await open(mock.port);
    connection.send(rawRequest('GET', '/fault'));
    const [, response] = await asked;
    return [connection, response];
  }

  test.each(['end', 'destroy'] as const)('ends when the client disconnects (%s)', async (leave) => {
    const mock = await serve({ kind: 'hang' });
    const [{ socket }, response] = await hanging(mock);
    const closed = once(response, 'close');
    socket[leave]();
    await closed;
  });

  test('lasts 5 minutes at most', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const mock = await serve({ kind: 'hang' });
    const [connection, response] = await hanging(mock);
    vi.advanceTimersByTime(5 * 60_000 - 1);
    expect(response.socket?.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect(response.socket?.destroyed).toBe(true);
    expect(await connection.ending()).toEqual({ bytes: '', error: undefined });
  });

  test('does not keep the server from closing, even if it begins during the stop', async () => {
    const mock = await serve({ kind: 'hang' });
    const [first] = await hanging(mock);
    const second = await open(mock.port);
    const closed = once(mock.server, 'close');
    mock.server.close();
    mock.pending.endAll();
    expect(await first.ending()).toEqual({ bytes: '', error: undefined });
    second.send(rawRequest('GET', '/fault'));
    expect(await second.ending()).toEqual({ bytes: '', error: undefined });
    await closed;
  });
});

import { once } from 'node:events';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';

/** A reply as it came over the wire. */
export interface RawReply {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Taken out of its chunks. */
  readonly body: string;
}

export type RawConnection = Awaited<ReturnType<typeof openRaw>>;

/** Opens a connection that sends exactly the given bytes. It is closed with the test. */
export async function openRaw(port: number) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  onTestFinished(() => void socket.destroy());
  const arrived: Buffer[] = [];
  let size = 0;
  let over = false;
  let wake = (): void => {};
  const notice = (): void => {
    over ||= socket.readableEnded || socket.destroyed;
    wake();
  };
  socket.on('data', (chunk: Buffer) => {
    arrived.push(chunk);
    size += chunk.length;
    wake();
  });
  // A reset counts as an end: what had arrived by then is what a test looks at.
  socket.on('end', notice).on('close', notice).on('error', notice);
  await once(socket, 'connect');

  const more = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  /** The next whole reply, a 100 too. `to` is the method of its request. */
  const reply = async (to = 'GET'): Promise<RawReply> => {
    for (let least = 1; ; ) {
      while (size < least && !over) await more();
      const bytes = Buffer.concat(arrived);
      const parsed = parseReply(bytes, to, over);
      const rest = bytes.subarray(typeof parsed === 'number' ? 0 : parsed.end);
      arrived.splice(0, arrived.length, rest);
      size = rest.length;
      if (typeof parsed !== 'number') return parsed.reply;
      if (over) throw new Error(`No whole reply came, but ${JSON.stringify(bytes.toString())}`);
      least = Math.max(parsed, size + 1);
    }
  };
  return {
    socket,
    send: (bytes: string | Buffer) => void socket.write(bytes),
    reply,
    replies: async (count: number) => {
      const all: RawReply[] = [];
      while (all.length < count) all.push(await reply());
      return all;
    },
    /** Waits until the server has ended the connection; returns what was not read as a reply. */
    rest: async () => {
      while (!over) await more();
      return Buffer.concat(arrived).toString();
    },
  };
}

/** The reply to one request over a new connection. */
export async function askRaw(port: number, request: string | Buffer, method = 'GET') {
  const { send, reply } = await openRaw(port);
  send(request);
  return reply(method);
}

/** A reply and where it ends, or how many bytes it has at least. */
function parseReply(bytes: Buffer, to: string, over: boolean) {
  const blank = bytes.indexOf('\r\n\r\n');
  if (blank < 0) return 0;
  const [start = '', ...lines] = bytes.toString('latin1', 0, blank).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) \S/.exec(start)?.[1]);
  if (Number.isNaN(status)) throw new Error(`No reply starts with ${JSON.stringify(start)}`);
  const fields = lines.map((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const headers: Record<string, string> = Object.fromEntries(fields);
  const whole = (content: Buffer, end: number) => ({
    reply: { status, headers, body: content.toString() },
    end,
  });
  const from = blank + 4;
  const isEmpty = status < 200 || status === 204 || status === 304 || to === 'HEAD';
  const length = isEmpty ? 0 : headers['content-length'];
  if (headers['transfer-encoding'] === 'chunked' && !isEmpty) {
    const chunks = parseChunks(bytes, from);
    return typeof chunks === 'number' ? chunks : whole(Buffer.concat(chunks.parts), chunks.end);
  }
  if (length === undefined) return over ? whole(bytes.subarray(from), bytes.length) : 0;
  const end = from + Number(length);
  return bytes.length < end ? end : whole(bytes.subarray(from, end), end);
}

function parseChunks(bytes: Buffer, from: number) {
  const parts: Buffer[] = [];
  for (let at = from; ; ) {
    const start = bytes.indexOf('\r\n', at) + 2;
    const size = Number.parseInt(bytes.toString('latin1', at, start), 16);
    const end = start + size + 2;
    if (start < 2) return 0;
    if (bytes.length < end) return end;
    if (size === 0) return { parts, end };
    parts.push(bytes.subarray(start, end - 2));
    at = end;
  }
}

/** A request as text. Headers with no value are left out, `Host` and the key are there by default. */
export function rawRequest(
  method: string,
  target: string,
  headers: Readonly<Record<string, string | undefined>> = {},
  body = '',
): string {
  const all = { Host: 'localhost', Authorization: 'Bearer demo-key', ...headers };
  const lines = Object.entries(all).map(([name, value]) =>
    value === undefined ? '' : `${name}: ${value}\r\n`,
  );
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A reply as it came over the wire. */
export interface RawReply {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Taken out of its chunks. */
  readonly body: string;
}

export type RawConnection = Awaited<ReturnType<typeof openRaw>>;

interface Parsed {
  readonly reply: RawReply;
  /** Where the next reply starts. */
  readonly end: number;
}

const opened = new Set<Socket>();

/** Closes every connection that was opened, before the servers that would wait for them. */
export function closeRaw(): void {
  for (const socket of opened) socket.destroy();
  opened.clear();
}

/** Opens a connection that sends exactly the given bytes; `closeRaw` ends it. */
export async function openRaw(port: number) {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  opened.add(socket);
  const arrived: Buffer[] = [];
  let over = false;
  let wake = (): void => {};
  const notice = (): void => {
    over ||= socket.readableEnded || socket.destroyed;
    wake();
  };
  socket.on('data', (chunk: Buffer) => {
    arrived.push(chunk);
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
    for (;;) {
      const bytes = Buffer.concat(arrived);
      arrived.splice(0, arrived.length, bytes);
      const parsed = parseReply(bytes, to, over);
      if (parsed !== undefined) {
        arrived.splice(0, 1, bytes.subarray(parsed.end));
        return parsed.reply;
      }
      if (over) throw new Error(`No whole reply came, but ${JSON.stringify(bytes.toString())}`);
      await more();
    }
  };
  return {
    socket,
    send: (bytes: string | Buffer) => {
      socket.write(bytes);
    },
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

function parseReply(bytes: Buffer, to: string, over: boolean): Parsed | undefined {
  const blank = bytes.indexOf('\r\n\r\n');
  if (blank < 0) return undefined;
  const [start = '', ...lines] = bytes.toString('latin1', 0, blank).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) \S/.exec(start)?.[1]);
  if (Number.isNaN(status)) throw new Error(`No reply starts with ${JSON.stringify(start)}`);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const from = blank + 4;
  const whole = (body: string, end: number): Parsed => ({ reply: { status, headers, body }, end });

  if (status < 200 || status === 204 || status === 304 || to === 'HEAD') return whole('', from);
  if (headers['transfer-encoding'] === 'chunked') {
    const chunks = parseChunks(bytes, from);
    return chunks && whole(chunks.body, chunks.end);
  }
  const length = headers['content-length'];
  if (length === undefined)
    return over ? whole(bytes.toString('utf8', from), bytes.length) : undefined;
  const end = from + Number(length);
  return bytes.length < end ? undefined : whole(bytes.toString('utf8', from, end), end);
}

function parseChunks(bytes: Buffer, from: number): { body: string; end: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = from; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const start = lineEnd + 2;
    if (bytes.length < start + size + 2) return undefined;
    if (size === 0) return { body: Buffer.concat(chunks).toString(), end: start + 2 };
    chunks.push(bytes.subarray(start, start + size));
    at = start + size + 2;
  }
}

/** A request as text. Headers with no value are left out, `Host` and the key are there by default. */
export function rawRequest(
  method: string,
  target: string,
  headers: Readonly<Record<string, string | undefined>> = {},
  body = '',
): string {
  const all: Record<string, string | undefined> = {
    Host: 'localhost',
    Authorization: 'Bearer demo-key',
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}\r\n`],
  );
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

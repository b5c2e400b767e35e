import { createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { type ServerOptions, startServer } from '../../src/index.ts';
import { listen } from './host.ts';
import { openRaw } from './raw.ts';
import { asker } from './wire.ts';

const MAX_HEAD = 100_000;

/**
 * Starts a deployment that sends the given bytes.
 *
 * @param answer is called for each request whose head has arrived, and writes what it likes to the
 *   connection; or text to write
 * @returns its base URL, everything that arrived, and its connections
 */
export async function rawDeployment(answer: string | ((socket: Socket, head: string) => void)) {
  const sockets: Socket[] = [];
  let all = '';
  const server = createServer((socket) => {
    sockets.push(socket);
    let pending = '';
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      all += text;
      // No head is longer, and to search the whole of a long body again takes seconds.
      pending = (pending + text).slice(-MAX_HEAD);
      const end = pending.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = pending.slice(0, end);
      pending = '';
      if (typeof answer === 'string') socket.write(answer);
      else answer(socket, head);
    });
  });
  const port = await listen(server);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${port}/base/v1`, received: () => all, sockets };
}

/** Starts a server for one test. */
export async function serverFor(options: ServerOptions = {}) {
  const server = await startServer({ port: 0, ...options });
  onTestFinished(() => server.close());
  return server;
}

/** A short reply of a deployment. */
export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]';

type Answer = Parameters<typeof rawDeployment>[0];

/** A server in front of a deployment that writes bytes, and how to send requests to it. */
export async function inFrontOf(answer: Answer, options: ServerOptions = {}) {
  const deployment = await rawDeployment(answer);
  const server = await serverFor({ upstream: deployment.url, ...options });
  const ask = asker(server.port);
  const control = asker(server.port, '/__mock');
  const exchange = async () => Object((await control('GET', '/requests/1')).json);
  /** Lists the animals over a connection of its own, which shows the bytes of the reply. */
  const listRaw = async (ending = 'Connection: close\r\n') => {
    const client = await openRaw(server.port);
    client.send(`GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\n${ending}\r\n`);
    return client;
  };
  return { deployment, server, ask, control, exchange, listRaw };
}

import type { ServerOptions } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { Certificate } from './certificate.ts';

/** The first byte of a TLS handshake (RFC 8446, section 5.1). */
const HANDSHAKE = 0x16;

/** The TCP connections that carry TLS connections. */
const carriers = new WeakMap<Socket, Socket>();

export const unwrapTls = (socket: Socket): Socket => carriers.get(socket) ?? socket;

/** An HTTPS server that gets requests in plain HTTP too, so that it can tell the client. */
export function createTlsServer(options: ServerOptions, { cert, key }: Certificate): Server {
  const { createServer } = process.getBuiltinModule('node:https');
  const { createSecureContext, TLSSocket } = process.getBuiltinModule('node:tls');
  const secureContext = createSecureContext({ cert, key, minVersion: 'TLSv1.2' });
  const server = createServer(options).removeAllListeners('connection');
  return server.on('connection', (socket: Socket) => {
    const destroy = (): void => void socket.destroy();
    socket.setTimeout(server.headersTimeout, destroy).once('readable', () => {
      const first: Buffer | null = socket.read(1);
      if (first === null) return destroy();
      socket.off('timeout', destroy).setTimeout(0).unshift(first);
      const isPlain = first[0] !== HANDSHAKE;
      const known = isPlain ? socket : new TLSSocket(socket, { isServer: true, secureContext });
      if (!isPlain) carriers.set(known, socket);
      server.emit('secureConnection', known);
    });
  });
}

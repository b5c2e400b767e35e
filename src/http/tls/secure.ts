import type { ServerOptions } from 'node:http';
import type { Server } from 'node:https';
import type { Socket } from 'node:net';
import type { Certificate } from './certificate.ts';

/** The first byte of a TLS handshake (RFC 8446, section 5.1). */
const HANDSHAKE = 0x16;

/** The TCP connections that carry TLS connections. */
const carriers = new WeakMap<Socket, Socket>();

export const unwrapTls = (socket: Socket): Socket => carriers.get(socket) ?? socket;

/** @param onPlain called with each connection whose client does not speak TLS */
export function createTlsServer(
  options: ServerOptions,
  { cert, key }: Certificate,
  onPlain: (socket: Socket) => void,
): Server {
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
      if (first[0] !== HANDSHAKE) return onPlain(socket);
      const secured = new TLSSocket(socket, { isServer: true, secureContext });
      carriers.set(secured, socket);
      server.emit('secureConnection', secured);
    });
  });
}

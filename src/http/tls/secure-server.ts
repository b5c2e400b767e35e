import type { Socket } from 'node:net';
import type { Certificate } from './certificate.ts';

/** The first byte of a TLS handshake (RFC 8446, section 5.1). */
const HANDSHAKE = 0x16;

/** The TCP connections that carry TLS connections. */
const carriers = new WeakMap<Socket, Socket>();

/** The TCP connection that carries a connection. */
export function carrierOf(socket: Socket): Socket {
  return carriers.get(socket) ?? socket;
}

/**
 * Secures the connections to a server that speaks HTTPS.
 *
 * @param patience milliseconds that a client may take to begin a handshake
 * @returns calls back with the TLS connection, or with undefined if the client sends something else
 */
export function securer({ cert, key }: Certificate, patience: number) {
  const { createSecureContext, TLSSocket } = process.getBuiltinModule('node:tls');
  const secureContext = createSecureContext({ cert, key, minVersion: 'TLSv1.2' });
  return (socket: Socket, then: (secured: Socket | undefined) => void): void => {
    const leave = (): void => void socket.destroy();
    socket.on('error', leave).setTimeout(patience, leave);
    socket.once('readable', () => {
      const first: Buffer | null = socket.setTimeout(0, leave).read(1);
      if (first === null) return leave();
      socket.unshift(first);
      if (first[0] !== HANDSHAKE) return then(undefined);
      const secured = new TLSSocket(socket, { isServer: true, secureContext });
      carriers.set(secured, socket);
      then(secured);
    });
  };
}

import type { Socket } from 'node:net';
import type { Certificate } from './certificate.ts';

/** The first byte of a TLS handshake (RFC 8446, section 5.1). */
const HANDSHAKE = 0x16;

/** The TCP connections that carry TLS connections. */
const carriers = new WeakMap<Socket, Socket>();

export const carrierOf = (socket: Socket): Socket => carriers.get(socket) ?? socket;

/**
 * Returns a function that calls back with the TLS connection over a TCP one, or with the TCP one itself
 * if the client does not speak TLS.
 */
export function tlsUpgrade({ cert, key }: Certificate) {
  const { createSecureContext, TLSSocket } = process.getBuiltinModule('node:tls');
  const secureContext = createSecureContext({ cert, key, minVersion: 'TLSv1.2' });
  return (socket: Socket, then: (known: Socket) => void): void => {
    const destroy = (): void => void socket.destroy();
    socket.on('error', destroy).once('timeout', destroy);
    socket.once('readable', () => {
      const first: Buffer | null = socket.read(1);
      if (first === null) return destroy();
      socket.off('timeout', destroy).setTimeout(0).unshift(first);
      if (first[0] !== HANDSHAKE) return then(socket);
      const secured = new TLSSocket(socket, { isServer: true, secureContext });
      carriers.set(secured, socket);
      then(secured);
    });
  };
}

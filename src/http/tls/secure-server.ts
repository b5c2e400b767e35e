import type { Server, ServerOptions } from 'node:http';
import { Socket } from 'node:net';
import type { Certificate } from './certificate.ts';

/** The first byte of a TLS handshake (RFC 8446, section 5.1). */
const HANDSHAKE = 0x16;

/** The code of the error for a client that speaks plain HTTP to a server that speaks HTTPS. */
export const PLAIN_HTTP = 'ERR_PLAIN_HTTP';

/**
 * Creates an HTTPS server. It emits `clientError` with the code `PLAIN_HTTP` for a connection that
 * starts with anything but a TLS handshake.
 *
 * @param patience milliseconds that a client may take for the handshake
 */
export function createSecureServer(
  { cert, key }: Certificate,
  settings: ServerOptions,
  patience: number,
): Server {
  const { createServer } = process.getBuiltinModule('node:https');
  const server = createServer({
    ...settings,
    cert,
    key,
    minVersion: 'TLSv1.2',
    handshakeTimeout: patience,
    allowHalfOpen: true, // as for plain HTTP
  });
  // Node's own handler for a new connection: the handshake.
  const shakeHands = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const leave = (): void => {
      socket.destroy();
    };
    socket.on('error', leave).setTimeout(patience, leave);
    socket.once('readable', () => {
      socket.setTimeout(0, leave);
      const first: Buffer | null = socket.read(1);
      if (first === null) {
        socket.destroy();
        return;
      }
      socket.unshift(first);
      if (first[0] === HANDSHAKE) for (const listener of shakeHands) listener.call(server, socket);
      else {
        const error = Object.assign(new Error('plain HTTP'), { code: PLAIN_HTTP });
        server.emit('clientError', error, socket.resume());
      }
    });
  });
  return server;
}

/** The TCP connection that carries a TLS connection; a socket that carries itself is returned. */
export function carrierOf(socket: Socket): Socket {
  // Undocumented, and the only way to reset a TLS connection. Without it, TLS ends it instead.
  return '_parent' in socket && socket._parent instanceof Socket ? socket._parent : socket;
}

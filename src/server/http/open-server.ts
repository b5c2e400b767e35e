import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket, Server as TcpServer } from 'node:net';
import { LIMITS } from '../../core/limits.ts';
import { errorCode } from '../../core/thrown.ts';
import type { Timeouts } from '../options.ts';
import { type Certificate, createTlsServer } from './tls.ts';

/** @param onPlain called with each connection to a TLS server whose client does not speak TLS */
export function openServer(
  timeouts: Timeouts,
  certificate: Certificate | undefined,
  onPlain: (socket: Socket) => void,
): Server {
  const options = {
    headersTimeout: timeouts.headers,
    requestTimeout: Math.max(timeouts.headers, timeouts.idle),
    connectionsCheckingInterval: Math.ceil(timeouts.headers / 10),
    keepAliveTimeout: 0, // resets two timers for each request; `timeout` does with one
    maxHeaderSize: LIMITS.head,
    requireHostHeader: false,
    joinDuplicateHeaders: true, // so that a Host or a key that is sent twice shows
  };
  const server = certificate
    ? createTlsServer(options, certificate, onPlain)
    : createServer(options);
  server.timeout = timeouts.idle;
  server.maxHeadersCount = 0; // Node would drop the rest; their size is limited
  return server;
}

const LOOPBACK = '127.0.0.1';

/**
 * Listens for both families where clients mean either: `localhost`, and every address.
 *
 * @param twin listens where the server cannot, if the name means both families
 */
export async function listenOn(
  server: Server,
  twin: TcpServer,
  port: number,
  host: string,
): Promise<AddressInfo> {
  const start = (own: string) => once(server.listen({ port, host: own }), 'listening');
  if (host !== '0.0.0.0') await start(host === 'localhost' ? LOOPBACK : host);
  // `::` takes IPv4 too. A machine may have no IPv6.
  else await start('::').catch(() => start(host));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  if (address.address !== LOOPBACK) return address;
  try {
    await once(twin.listen({ port: address.port, host: '::1' }), 'listening');
  } catch (error) {
    // Clients that ask for `localhost` would reach whoever has the port there.
    if (port !== 0 && errorCode(error) === 'EADDRINUSE') {
      server.close();
      throw error;
    }
  }
  return address;
}

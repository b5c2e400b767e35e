import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket, Server as TcpServer } from 'node:net';
import { LIMITS } from '../../core/limits.ts';
import { errorCode } from '../../core/thrown.ts';
import type { Timeouts } from '../options.ts';
import { type Certificate, createTlsServer } from './tls.ts';

/** @param onPlain called if the client of a TLS server does not use TLS */
export function openServer(
  timeouts: Timeouts,
  certificate: Certificate | undefined,
  onPlain: (socket: Socket) => void,
): Server {
  const options = {
    headersTimeout: timeouts.headers,
    requestTimeout: Math.max(timeouts.headers, timeouts.idle),
    connectionsCheckingInterval: Math.ceil(timeouts.headers / 10),
    keepAliveTimeout: 0, // It would reset two timers for each request; `timeout` resets one.
    maxHeaderSize: LIMITS.head,
    requireHostHeader: false,
    joinDuplicateHeaders: true, // A Host or a key that is sent twice then becomes invalid.
  };
  const server = certificate
    ? createTlsServer(options, certificate, onPlain)
    : createServer(options);
  server.timeout = timeouts.idle;
  server.maxHeadersCount = 0; // Node would drop headers above a count; their size is limited.
  return server;
}

const LOOPBACK = '127.0.0.1';

/**
 * Listens in IPv4 and IPv6 where clients may use either: for `localhost`, and for all addresses.
 *
 * @param twin a second server for the other address family
 */
export async function listenOn(
  server: Server,
  twin: TcpServer,
  port: number,
  host: string,
): Promise<AddressInfo> {
  const start = (own: string) => once(server.listen({ port, host: own }), 'listening');
  if (host !== '0.0.0.0') await start(host === 'localhost' ? LOOPBACK : host);
  // `::` includes IPv4. If the machine has no IPv6, listen on IPv4 only.
  else await start('::').catch(() => start(host));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  if (address.address !== LOOPBACK) return address;
  try {
    await once(twin.listen({ port: address.port, host: '::1' }), 'listening');
  } catch (error) {
    // Another program has this port in IPv6, and clients that use `localhost` might reach that.
    if (port !== 0 && errorCode(error) === 'EADDRINUSE') {
      server.close();
      throw error;
    }
  }
  return address;
}

import { type Connection, closeWith, endAfter, isLast, isReplying, LATEST } from './connections.ts';
import type { EdgeError, EdgeErrors } from './edge-errors.ts';
import { PLAIN_HTTP } from './tls/secure-server.ts';

/** Node's error for bytes that are not a request. */
export interface ClientError extends NodeJS.ErrnoException {
  /** The bytes that were read last. */
  readonly rawPacket?: Buffer;
}

/** Connections that have failed: every further byte causes another error. */
const refused = new WeakSet<Connection>();

/** Answers bytes that are not a request, and closes the connection. */
export function refuseUnreadable(error: ClientError, socket: Connection, errors: EdgeErrors): void {
  if (error.code === 'ECONNRESET' || isOfTls(error)) {
    socket.destroy();
    return;
  }
  if (socket.writableEnded || refused.has(socket)) return;
  refused.add(socket);
  const latest = socket[LATEST];
  if (latest !== undefined && isReplying(latest)) {
    if (!latest.req.complete) socket.destroy();
    else {
      endAfter(latest);
      latest.once('finish', () => closeWith(socket, ''));
    }
    return;
  }
  // A client with no open request would take an Error for the reply to its next request. After the
  // last request on a connection, no client expects a reply.
  const answered = latest?.writableEnded === true && (isLast(latest) || !latest.req.complete);
  const silent = socket.bytesRead === 0 || answered;
  closeWith(socket, silent ? '' : errors.text(errorFor(error, errors.invalid())));
}

/** An error in TLS itself: no reply can be sent. */
function isOfTls({ code = '' }: ClientError): boolean {
  return code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_') || code === 'EPROTO';
}

function errorFor({ code, message }: ClientError, invalid: 400 | 422): EdgeError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        code: 'request_header_fields_too_large',
        status: 431,
        message: 'the request line and headers are larger than 16 KiB',
      };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return {
        code: 'request_timeout',
        status: 408,
        message: 'the request did not arrive in time',
      };
    case PLAIN_HTTP:
      return {
        code: 'invalid_input',
        status: 400,
        message: 'this port speaks HTTPS: use a base URL with https:// instead of http://',
      };
    case 'HPE_INVALID_EOF_STATE':
      return {
        code: 'invalid_input',
        status: invalid,
        message: 'the connection ended in the middle of a request',
      };
    default:
      return {
        code: 'invalid_input',
        status: invalid,
        message: `the request is not HTTP/1.1: ${message.replace(/^Parse Error: /, '')}`,
      };
  }
}

/** The start of a connection in HTTP/2 (RFC 9113, section 3.4). */
const HTTP2_PREFACE = 'PRI * HTTP/2.0';

/** The alerts of clients that refuse a certificate (RFC 8446, section 6.2). */
const UNTRUSTED = /_ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)$/;

/** What to do about a client that speaks another protocol; undefined for unknown ones. */
export function otherProtocol({ code, rawPacket }: ClientError): string | undefined {
  if (code === PLAIN_HTTP) {
    return 'a client sent plain HTTP, but this port speaks HTTPS: give the client a base URL with https:// instead of http://';
  }
  if (code !== undefined && UNTRUSTED.test(code)) {
    return 'a client does not trust the certificate: get it with --tls-write FILE or from /__mock/certificate.pem';
  }
  if (rawPacket === undefined) return undefined;
  // A handshake record of TLS (RFC 8446, section 5.1).
  if (rawPacket[0] === 0x16 && rawPacket[1] === 0x03) {
    return 'a client sent a TLS handshake, but this port speaks plain HTTP: give the client a base URL with http:// instead of https://';
  }
  if (rawPacket.toString('latin1', 0, HTTP2_PREFACE.length) === HTTP2_PREFACE) {
    return 'a client sent an HTTP/2 preface, but this port speaks HTTP/1.1: turn HTTP/2 off in the client';
  }
  return undefined;
}

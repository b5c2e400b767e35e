import {
  type Connection,
  closeWith,
  endAfter,
  isLast,
  isReplying,
  latestOf,
  noteRefused,
} from './connections.ts';
import type { EdgeErrors } from './edge-errors.ts';
import type { EdgeError } from './request-check.ts';

/** What Node reports of bytes that are not a request. */
export interface ClientError extends NodeJS.ErrnoException {
  /** The bytes that were read last. */
  readonly rawPacket?: Buffer;
}

/** Answers what could not be read as a request, and closes the connection. */
export function refuseUnreadable(error: ClientError, socket: Connection, errors: EdgeErrors): void {
  if (error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  // Every further byte is another error.
  if (socket.writableEnded || !noteRefused(socket)) return;
  const latest = latestOf(socket);
  const behindLast = latest?.req.complete === true && isLast(latest);
  const answered = latest?.writableEnded === true && !latest.req.complete;
  if (isReplying(latest)) {
    if (!latest.req.complete) socket.destroy();
    else {
      endAfter(latest);
      latest.once('finish', () => closeWith(socket, ''));
    }
    return;
  }
  // A client that has sent nothing would take an Error for the reply to its first request, and one
  // that has its reply for the reply to its next. Behind the last request nobody expects any.
  if (behindLast) endAfter(latest);
  const silent = socket.bytesRead === 0 || answered || behindLast;
  closeWith(socket, silent ? '' : errors.text(errorFor(error, errors.invalid)));
}

function errorFor({ code, message }: ClientError, invalid: 400 | 422): EdgeError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW': {
      const message = 'the request line and headers are larger than 16 KiB';
      return { code: 'request_header_fields_too_large', status: 431, message };
    }
    case 'ERR_HTTP_REQUEST_TIMEOUT': {
      const message = 'the request did not arrive in time';
      return { code: 'request_timeout', status: 408, message };
    }
    case 'HPE_INVALID_EOF_STATE': {
      const message = 'the connection ended in the middle of a request';
      return { code: 'invalid_input', status: invalid, message };
    }
    default: {
      const why = message.replace(/^Parse Error: /, '');
      const text = `the request is not HTTP/1.1: ${why}`;
      return { code: 'invalid_input', status: invalid, message: text };
    }
  }
}

/** The start of a connection in HTTP/2 (RFC 9113, section 3.4). */
const HTTP2_PREFACE = 'PRI * HTTP/2.0';

/** What to do about a client that speaks another protocol; undefined if it is none that is known. */
export function otherProtocol({ rawPacket }: ClientError): string | undefined {
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

import type { IncomingMessage } from 'node:http';
import type { ErrorCode, StatusOf } from '../contract/error-codes.ts';
import { describe } from '../words.ts';

/** Code, status and message of an Error after which the connection is closed. */
export type Rejection = readonly [ErrorCode, StatusOf<ErrorCode>, string];

/** Why a connection cannot go on: Node's error, or a code that is used below. */
export interface ConnectionError {
  readonly code?: string;
  readonly message?: string;
  /** The bytes that were read last. */
  readonly rawPacket?: Buffer;
}

/** Rejects what is not a request. */
export function rejectBytes(error: ConnectionError): Rejection {
  if (error.code === 'HPE_HEADER_OVERFLOW')
    return ['request_header_fields_too_large', 431, 'the head is larger than 16 KiB'];
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return ['request_timeout', 408, 'the request did not arrive in time'];
  const why = `the request is not HTTP/1.1: ${error.message?.replace(/^Parse Error: /, '')}`;
  return ['invalid_input', 400, findRemedy(error) ?? why];
}

/** What to do about a client that speaks another protocol; undefined for unknown ones. */
export function findRemedy({ code = '', rawPacket }: ConnectionError): string | undefined {
  const start = rawPacket?.toString('latin1', 0, 14) ?? '';
  if (code === 'PLAIN')
    return 'this port speaks HTTPS: use a base URL with https:// instead of http://';
  if (start.startsWith('\x16\x03'))
    return 'this port speaks plain HTTP: use a base URL with http:// instead of https://';
  if (start === 'PRI * HTTP/2.0') return 'this port speaks HTTP/1.1: turn HTTP/2 off in the client';
  if (code === 'CONNECT') return 'this server is not a proxy: give its address as the base URL';
  // The alerts of clients that refuse a certificate (RFC 8446, section 6.2).
  if (!/_ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)$/.test(code)) return undefined;
  return 'a client does not trust the certificate: get it with --tls-write FILE or from /__mock/certificate.pem';
}

/** A host with or without a port (RFC 9110, section 7.2); brackets around an IPv6 address. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Rejects what HTTP forbids and Node accepts (RFC 9112, sections 2.3, 3.2 and 6.1). */
export function rejectRequest(request: IncomingMessage): Rejection | undefined {
  const { headers, httpVersion: version } = request;
  const { host, 'transfer-encoding': coding = 'chunked' } = headers;
  if (host === undefined ? version === '1.1' : !HOST.test(host))
    return ['invalid_input', 400, `Host: expected one name or address, found ${describe(host)}`];
  if (!version.startsWith('1.'))
    return ['http_version_not_supported', 505, `HTTP/${version} is not supported; use HTTP/1.1`];
  if (/^chunked$/i.test(coding)) return undefined;
  const message = `Transfer-Encoding: use chunked, not ${describe(coding)}`;
  return ['transfer_coding_not_implemented', 501, message];
}

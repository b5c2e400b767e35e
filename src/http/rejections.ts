import type { IncomingMessage } from 'node:http';
import type { ErrorCode, StatusOf } from '../contract/error-codes.ts';
import { describe } from '../words.ts';

/** Code, status and message of an Error after which the connection is closed. */
export type Rejection = readonly [ErrorCode, StatusOf<ErrorCode>, string];

/** Why a connection cannot go on: Node's error, or a code of `REJECTIONS`. */
export interface ConnectionError {
  readonly code?: string;
  readonly message?: string;
  /** The bytes that were read last. */
  readonly rawPacket?: Buffer;
}

const REJECTIONS: Readonly<Record<string, Rejection>> = {
  HPE_HEADER_OVERFLOW: ['request_header_fields_too_large', 431, 'the head is larger than 16 KiB'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 408, 'the request did not arrive in time'],
  CONNECT: ['invalid_input', 400, 'CONNECT: this server is not a proxy'],
};

const HTTPS = 'this port speaks HTTPS: use a base URL with https:// instead of http://';
const PLAIN = 'this port speaks plain HTTP: use a base URL with http:// instead of https://';
const TRUST =
  'a client does not trust the certificate: get it with --tls-write FILE or from /__mock/certificate.pem';
/** The alerts of clients that refuse a certificate (RFC 8446, section 6.2). */
const DISTRUST = /_ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)$/;

export const PLAIN_HTTP: Rejection = ['invalid_input', 400, HTTPS];

/** Rejects what is not a request. */
export function rejectBytes(error: ConnectionError): Rejection {
  const why = `the request is not HTTP/1.1: ${error.message?.replace(/^Parse Error: /, '')}`;
  return REJECTIONS[error.code ?? ''] ?? ['invalid_input', 400, findRemedy(error) ?? why];
}

/** What to do about a client that speaks another protocol; undefined for unknown ones. */
export function findRemedy({ code = '', rawPacket }: ConnectionError): string | undefined {
  const start = rawPacket?.toString('latin1', 0, 14) ?? '';
  if (start.startsWith('\x16\x03')) return PLAIN;
  if (start === 'PRI * HTTP/2.0') return 'this port speaks HTTP/1.1: turn HTTP/2 off in the client';
  return DISTRUST.test(code) ? TRUST : undefined;
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

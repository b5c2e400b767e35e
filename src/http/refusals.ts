import { STATUS_CODES } from 'node:http';
import type { ErrorCode, StatusOf } from '../contract/error-codes.ts';
import type { State } from '../sandbox/state.ts';
import { isReal, timeOf } from '../service/clock.ts';
import { errorReply, Grounds, type Reply } from '../service/reply.ts';
import { headersOf, type Wire } from './write.ts';

/** Node's error for bytes that are not a request, or one with a code of `REFUSALS`. */
export interface ClientError {
  readonly code?: string;
  readonly message: string;
  /** The bytes that were read last. */
  readonly rawPacket?: Buffer;
}

/** Code, status and message of an Error, and names and values of more headers. */
export type Refusal<C extends ErrorCode = ErrorCode> = readonly [
  C,
  StatusOf<C>,
  string,
  ...string[],
];

const METHODS = 'GET, HEAD, POST, PATCH, DELETE, OPTIONS';

const REFUSALS: Readonly<Record<string, Refusal>> = {
  HPE_HEADER_OVERFLOW: ['request_header_fields_too_large', 431, 'the head is larger than 16 KiB'],
  LATE: ['request_timeout', 408, 'the request did not arrive in time'],
  CONNECT: ['method_not_allowed', 405, 'CONNECT is not for this server', 'Allow', METHODS],
  PLAIN_HTTP: [
    'invalid_input',
    400,
    'this port speaks HTTPS: use a base URL with https:// instead of http://',
  ],
};

/** What to do about a client that speaks another protocol; undefined for unknown ones. */
export function otherProtocol({ code = '', rawPacket }: ClientError): string | undefined {
  const start = rawPacket?.toString('latin1', 0, 14) ?? '';
  if (code === 'PLAIN_HTTP') {
    return 'a client sent plain HTTP, but this port speaks HTTPS: give the client a base URL with https:// instead of http://';
  }
  if (start.startsWith('\x16\x03')) {
    return 'a client sent a TLS handshake, but this port speaks plain HTTP: give the client a base URL with http:// instead of https://';
  }
  if (start === 'PRI * HTTP/2.0') {
    return 'a client sent an HTTP/2 preface, but this port speaks HTTP/1.1: turn HTTP/2 off in the client';
  }
  // The alerts of clients that refuse a certificate (RFC 8446, section 6.2).
  return /_ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)$/.test(code)
    ? 'a client does not trust the certificate: get it with --tls-write FILE or from /__mock/certificate.pem'
    : undefined;
}

/** The whole reply to bytes that are not a request, for a connection without a response object. */
export function replyText({ code = '', message }: ClientError, state: State, wire: Wire): string {
  const why = `the request is not HTTP/1.1: ${message.replace(/^Parse Error: /, '')}`;
  const reply = refusalReply(state, REFUSALS[code] ?? ['invalid_input', 400, why]);
  const text = reply.body.kind === 'json' ? reply.body.text : '';
  const headers = headersOf(reply, undefined, state, wire);
  headers.push('Content-Length', String(Buffer.byteLength(text)));
  // Node adds it to the replies that it writes itself.
  if (isReal(state.clock)) headers.push('Date', new Date(timeOf(state.clock)).toUTCString());
  const lines = headers.map((it, at) => (at % 2 === 0 ? `${it}: ` : `${it}\r\n`)).join('');
  return `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status]}\r\n${lines}\r\n${text}`;
}

/** An Error after which the connection is closed. */
export function refusalReply({ settings: { choices } }: State, refusal: Refusal): Reply {
  const [code, known, message, ...more] = refusal;
  const status = code === 'invalid_input' && choices['invalid-input'] === '422' ? 422 : known;
  const headers = ['Connection', 'close', ...more];
  return errorReply(new Grounds(choices), code, status, message, { headers });
}

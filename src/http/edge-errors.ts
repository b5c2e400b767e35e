import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { ErrorCode, StatusOf } from '../contract/error-codes.ts';
import type { State } from '../sandbox/state.ts';
import { isReal, timeOf } from '../service/clock.ts';
import { errorReply, Grounds, type Reply } from '../service/reply.ts';
import { describe } from '../words.ts';
import { type ClientError, CONNECT, LATE, PLAIN_HTTP } from './client-error.ts';
import { headersOf, type Wire } from './write.ts';

/** An Error after which the connection is closed. */
function refusal<C extends ErrorCode>(
  { settings: { choices } }: State,
  code: C,
  status: StatusOf<C>,
  message: string,
  more: readonly string[] = [],
): Reply {
  const headers = ['Connection', 'close', ...more];
  return errorReply(new Grounds(choices), code, status, message, { headers });
}

function malformed(state: State, message: string): Reply {
  const status = state.settings.choices['invalid-input'] === '422' ? 422 : 400;
  return refusal(state, 'invalid_input', status, message);
}

/** A host with or without a port (RFC 9110, section 7.2); brackets around an IPv6 address. */
const HOST = /^(?:\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/i;

/** Refuses what HTTP forbids and Node accepts (RFC 9112, sections 2.3, 3.2 and 6.1). */
export function requestRefusal(
  { headers, httpVersion, rawHeaders }: IncomingMessage,
  state: State,
): Reply | undefined {
  const { host, 'transfer-encoding': coding = 'chunked' } = headers;
  if (host === undefined && httpVersion === '1.1') {
    return malformed(state, 'the request has no Host header');
  }
  if (host !== undefined && !HOST.test(host)) {
    return malformed(state, `Host: expected a name or address, found ${describe(host)}`);
  }
  const isHost = (name: string, at: number): boolean =>
    at % 2 === 0 && name.length === 4 && name.toLowerCase() === 'host';
  if (rawHeaders.findIndex(isHost) !== rawHeaders.findLastIndex(isHost)) {
    return malformed(state, 'the request has more than one Host header');
  }
  if (!httpVersion.startsWith('1.')) {
    const message = `HTTP/${httpVersion} is not supported; use HTTP/1.1 or HTTP/1.0`;
    return refusal(state, 'http_version_not_supported', 505, message);
  }
  if (/^chunked$/i.test(coding)) return undefined;
  const message = `Transfer-Encoding: expected chunked, found ${describe(coding)}`;
  return refusal(state, 'transfer_coding_not_implemented', 501, message);
}

/** The reply to bytes that are not a request. */
export function unreadableRefusal({ code, message }: ClientError, state: State): Reply {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW': {
      const tooLarge = 'the request line and headers are larger than 16 KiB';
      return refusal(state, 'request_header_fields_too_large', 431, tooLarge);
    }
    case LATE.code:
      return refusal(state, 'request_timeout', 408, message);
    case CONNECT.code: {
      const allow = ['Allow', 'GET, HEAD, POST, PATCH, DELETE, OPTIONS'];
      return refusal(state, 'method_not_allowed', 405, message, allow);
    }
    case PLAIN_HTTP.code:
      return refusal(state, 'invalid_input', 400, message);
    default: {
      const why = message.replace(/^Parse Error: /, '');
      return malformed(state, `the request is not HTTP/1.1: ${why}`);
    }
  }
}

/** A whole reply as text, for a connection without a response object. */
export function replyText(reply: Reply, state: State, wire: Wire): string {
  const { status, body } = reply;
  const text = body.kind === 'json' ? body.text : '';
  const all = headersOf(reply, undefined, state, wire);
  all.push('Content-Length', String(Buffer.byteLength(text)));
  // Node adds it to the replies that it writes itself.
  if (isReal(state.clock)) all.push('Date', new Date(timeOf(state.clock)).toUTCString());
  const lines = all.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${text}`;
}

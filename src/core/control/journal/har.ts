import { byteLength } from '../../bytes.ts';
import { reasonPhrase } from '../../contract/error-codes.ts';
import { parseQuery, parseTarget } from '../../contract/target.ts';
import { findHeader, type Message, pairHeaders } from '../../raw-http.ts';
import { bodyText, type Exchange, isDropped, maskHeaders } from '../../sandbox/exchange.ts';
import { NO_REPLY } from './exchange-text.ts';

const UNKNOWN = -1;

export function writeHarHead(version: string): string {
  const creator = JSON.stringify({ name: 'petstore-mock', version });
  return `{"log":{"version":"1.2","creator":${creator},"entries":`;
}

export function writeHarEntry(exchange: Exchange, origin: string): string {
  const { at, delay, duration, reasons } = exchange;
  return JSON.stringify({
    startedDateTime: new Date(at - Math.max(0, duration - delay)).toISOString(),
    time: duration,
    request: createHarRequest(exchange, origin),
    response: createHarResponse(exchange),
    cache: {},
    timings: { send: 0, wait: duration, receive: 0 },
    comment: reasons.join('; '),
  });
}

function createHarRequest({ method, target, request }: Exchange, origin: string): object {
  const headers = maskHeaders(request.headers);
  const host = findHeader(headers, 'host');
  const base = host === undefined ? origin : origin.replace(/\/\/.*/, `//${host}`);
  const query = parseQuery(parseTarget(target));
  return {
    method,
    // `OPTIONS *` is about the server (RFC 9112, section 3.3).
    url: target === '*' ? base : target.startsWith('/') ? base + target : target,
    ...createHarMessage(headers),
    queryString: query.map(([name, value]) => ({ name, value })),
    ...(request.size > 0 && {
      postData: {
        mimeType: findHeader(headers, 'content-type') ?? '',
        text: bodyText(request) ?? '',
        ...(isDropped(request) && { comment: DROPPED }),
      },
    }),
    bodySize: request.size,
  };
}

const DROPPED = 'It was dropped to limit the memory of the journal.';

function createHarResponse({ status = 0, fault, reply: sent }: Exchange): object {
  const reply: Message = sent ?? NO_REPLY;
  const headers = maskHeaders(reply.headers);
  const text = bodyText(reply);
  return {
    status,
    statusText: reasonPhrase(status),
    ...createHarMessage(headers),
    content: {
      size: text === undefined ? reply.size : byteLength(text),
      mimeType: findHeader(headers, 'content-type') ?? '',
      ...(text !== undefined && { text }),
      ...(isDropped(reply) && { comment: DROPPED }),
    },
    redirectURL: '',
    bodySize: fault !== undefined ? UNKNOWN : reply.size,
    ...(fault !== undefined && { _error: fault.kind }),
  };
}

function createHarMessage(headers: readonly string[]): object {
  return {
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: pairHeaders(headers).map(([name, value]) => ({ name, value })),
    headersSize: UNKNOWN,
  };
}

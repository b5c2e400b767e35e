import { STATUS_CODES } from 'node:http';
import { type Exchange, reasonsFor, requestText, shownHeaders } from '../../evidence/exchange.ts';
import { packageVersion } from '../../package.ts';
import { sentHeaders } from './exchange-text.ts';

/** What is not known of an exchange, as HAR says it. */
const UNKNOWN = -1;

const HTTP_VERSION = 'HTTP/1.1';

/** What is before the entries of an archive. */
export function harHead(): string {
  const creator = JSON.stringify({ name: 'petstore-mock', version: packageVersion() });
  return `{"log":{"version":"1.2","creator":${creator},"entries":`;
}

/** An exchange as an entry of HAR 1.2. */
export function harEntry(exchange: Exchange, origin: string, plain: boolean): string {
  const { at, delay, duration } = exchange;
  return JSON.stringify({
    startedDateTime: new Date(at - Math.max(0, duration - delay)).toISOString(),
    time: duration,
    request: requestOf(exchange, origin),
    response: responseOf(exchange, plain),
    cache: {},
    timings: { send: 0, wait: duration, receive: 0 },
    comment: reasonsFor(exchange).join('; '),
  });
}

function requestOf(exchange: Exchange, origin: string): object {
  const { method, target, requestHeaders, requestBody, requestCut } = exchange;
  const headers = pairsOf(shownHeaders(requestHeaders));
  const host = headerOf(headers, 'host');
  const base = host === undefined ? origin : origin.replace(/\/\/.*/, `//${host}`);
  const query = new URLSearchParams(/\?(.*)$/s.exec(target)?.[1]);
  return {
    method,
    url: target.startsWith('/') ? base + target : target,
    httpVersion: HTTP_VERSION,
    cookies: [],
    headers,
    queryString: [...query].map(([name, value]) => ({ name, value })),
    ...(requestBody !== undefined && {
      postData: {
        mimeType: headerOf(headers, 'content-type') ?? '',
        text: requestText(exchange),
        ...(requestCut && { comment: 'Only the start of it was kept.' }),
      },
    }),
    headersSize: UNKNOWN,
    bodySize: requestCut ? UNKNOWN : (requestBody?.length ?? 0),
  };
}

function responseOf(exchange: Exchange, plain: boolean): object {
  const { method, status = 0, fault, replyCut } = exchange;
  // The journal keeps the body that GET would have got.
  const replyBody = method === 'HEAD' ? undefined : exchange.replyBody;
  const headers = pairsOf(shownHeaders(sentHeaders(exchange, plain)));
  const size = replyBody === undefined ? 0 : Buffer.byteLength(replyBody);
  return {
    status,
    statusText: STATUS_CODES[status] ?? '',
    httpVersion: HTTP_VERSION,
    cookies: [],
    headers,
    content: {
      size,
      mimeType: headerOf(headers, 'content-type') ?? '',
      ...(replyBody !== undefined && { text: replyBody }),
      ...(replyCut && { comment: 'It was too long to be kept.' }),
    },
    redirectURL: '',
    headersSize: UNKNOWN,
    bodySize: replyCut || fault !== undefined ? UNKNOWN : size,
    ...(fault !== undefined && { _error: fault }),
  };
}

interface Header {
  readonly name: string;
  readonly value: string;
}

/** @param headers alternating names and values */
function pairsOf(headers: readonly string[]): readonly Header[] {
  return headers.flatMap((name, index) =>
    index % 2 === 0 ? [{ name, value: headers[index + 1] ?? '' }] : [],
  );
}

function headerOf(headers: readonly Header[], wanted: string): string | undefined {
  return headers.find(({ name }) => name.toLowerCase() === wanted)?.value;
}

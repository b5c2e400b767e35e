import { byteLength } from '../core/bytes.ts';
import { reasonPhrase } from '../core/contract/reason-phrase.ts';
import { parseQuery, parseTarget } from '../core/contract/target.ts';
import { NO_REPLY } from '../core/control/journal/recorded-exchange.ts';
import { findHeader, type Message, pairHeaders } from '../core/raw-http.ts';
import {
  bodyText,
  type Exchange,
  isDropped,
  maskHeaders,
  maskTarget,
} from '../core/sandbox/exchange.ts';

const UNKNOWN = -1;

/** Yields the text in pieces. Each sandbox is a page. */
export function* writeHar(
  version: string,
  origin: string,
  ran: readonly { readonly sandbox: string; readonly exchange: Exchange }[],
): Generator<string> {
  const pages = new Map<string, object>();
  for (const { sandbox: id, exchange } of ran) {
    if (pages.has(id)) continue;
    const startedDateTime = new Date(exchange.at).toISOString();
    pages.set(id, { startedDateTime, id, title: `sandbox ${id}`, pageTimings: {} });
  }
  const creator = { name: 'petstore-mock', version };
  const head = { version: '1.2', creator, pages: [...pages.values()] };
  yield `{"log":${JSON.stringify(head).slice(0, -1)},"entries":[`;
  for (const [index, { sandbox, exchange }] of ran.entries()) {
    yield `${index === 0 ? '' : ','}\n${JSON.stringify(createHarEntry(exchange, origin, sandbox))}`;
  }
  yield '\n]}}\n';
}

function createHarEntry(exchange: Exchange, origin: string, pageref: string): object {
  const { at, delay, duration, hold, reasons } = exchange;
  const waited = delay + (hold?.lasted ?? 0);
  return {
    pageref,
    startedDateTime: new Date(at - Math.max(0, duration - waited)).toISOString(),
    time: duration,
    request: createHarRequest(exchange, origin),
    response: createHarResponse(exchange),
    cache: {},
    timings: { send: 0, wait: duration, receive: 0 },
    comment: reasons.join('; '),
  };
}

function createHarRequest({ method, request, ...exchange }: Exchange, origin: string): object {
  const target = maskTarget(exchange.target);
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

/** What the client never got, or not yet, has status 0. */
function createHarResponse(exchange: Exchange): object {
  const { fault, hold } = exchange;
  const isSent = hold === undefined || (hold.ended !== undefined && hold.ended !== 'left');
  const { status = 0 } = isSent ? exchange : {};
  const reply: Message = (status > 0 && exchange.reply) || NO_REPLY;
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
    ...(hold !== undefined && { comment: `${hold.ended ?? 'held back'} as ${hold.name}` }),
    ...(fault !== undefined && { _error: fault.kind, comment: `fault ${fault.kind}` }),
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

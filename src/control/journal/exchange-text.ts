import { STATUS_CODES } from 'node:http';
import { jsonOf } from '../../contract/json.ts';
import {
  type Exchange,
  reasonsFor,
  requestText,
  shownHeaders,
  shownKey,
} from '../../sandbox/exchange.ts';
import { FINDING_CODES } from '../../sandbox/finding-codes.ts';
import { exposedHeaders } from '../../http/cors.ts';
import { parseTarget, queryOf } from '../../http/target.ts';
import { basisHeader } from '../../http/write.ts';
import { packageVersion } from '../../package.ts';
import { headerOf } from '../../raw-headers.ts';
import { holdView } from '../../scenario/hold.ts';
import { decidersOf } from '../../service/reply.ts';
import { roundDuration } from '../../words.ts';
import type { RecordedExchange } from '../control-shapes.ts';

/**
 * An exchange as the control API shows it, in one line of JSON. Bodies that are JSON are copied as
 * text: streams write thousands of exchanges per second.
 *
 * @param plain whether the server leaves out what distinguishes it from the service
 */
export function exchangeText(exchange: Exchange, plain: boolean): string {
  const { number, at, method, target, operation, status, fault, delay, duration } = exchange;
  const { basis, findings, expected, traceId, hold } = exchange;
  const head: Omit<RecordedExchange, 'request' | 'reply'> = {
    number,
    at: new Date(at).toISOString(),
    method,
    target,
    operation,
    traceId,
    key: shownKey(exchange),
    status,
    fault,
    delay,
    hold: hold && holdView(hold),
    duration: roundDuration(duration),
    basis: basis.kind,
    by: decidersOf(basis),
    why: reasonsFor(exchange),
    findings: findings.map((it) => ({ ...it, advice: FINDING_CODES[it.code] })),
    expected,
  };
  const { requestHeaders, requestCut, replyBody, replyCut } = exchange;
  const request = messageText(shownHeaders(requestHeaders), requestText(exchange), requestCut);
  const replyHeaders = shownHeaders(sentHeaders(exchange, plain));
  const reply = messageText(replyHeaders, replyBody, replyCut);
  return `${JSON.stringify(head).slice(0, -1)},"request":${request},"reply":${reply}}`;
}

/**
 * Shows a body as JSON if it is JSON, else as text. `cut` says that the journal kept only a part.
 */
function messageText(headers: readonly string[], text: string | undefined, cut: boolean): string {
  const mark = JSON.stringify({ headers: headersView(headers), ...(cut && { cut }) });
  if (text === undefined || text === '') return mark;
  const body =
    cut || jsonOf(text) === undefined ? JSON.stringify(text) : text.replaceAll(/[\r\n]/g, ' ');
  return `${mark.slice(0, -1)},"body":${body}}`;
}

/** @param headers alternating names and values */
function headersView(headers: readonly string[]): Readonly<Record<string, string>> {
  const view = new Map<string, string>();
  for (const { name, value } of pairsOf(headers)) {
    const before = view.get(name.toLowerCase());
    view.set(name.toLowerCase(), before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(view);
}

/**
 * The headers of a reply as the client got them, names and values in turn, but for those of the
 * connection and the length. The journal does not keep headers that follow from the rest of an exchange.
 *
 * @param plain whether the server leaves out what distinguishes it from the service
 */
function sentHeaders(exchange: Exchange, plain: boolean): readonly string[] {
  const { at, delay, method, status, basis, replyHeaders: kept, replyBody, replyCut } = exchange;
  if (status === undefined) return kept;
  const mockBasis = plain ? [] : ['Mock-Basis', basisHeader(basis, method === 'HEAD')];
  if (basis.kind === 'upstream') return [...kept, ...mockBasis];
  const hasBody = replyBody !== undefined || replyCut;
  const has = (name: string) => headerOf(kept, name) !== undefined;
  return [
    ...(hasBody && !has('content-type') ? ['Content-Type', 'application/json'] : []),
    ...mockBasis,
    ...(has('access-control-allow-origin')
      ? ['Access-Control-Expose-Headers', exposedHeaders(plain)]
      : []),
    ...(has('date') ? [] : ['Date', new Date(at + delay).toUTCString()]),
    ...kept,
  ];
}

/** What is not known of an exchange, as HAR says it. */
const UNKNOWN = -1;

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
  const headers = shownHeaders(requestHeaders);
  const host = headerOf(headers, 'host');
  const base = host === undefined ? origin : origin.replace(/\/\/.*/, `//${host}`);
  const query = queryOf(parseTarget(target));
  return {
    method,
    url: target.startsWith('/') ? base + target : target,
    ...headOf(headers),
    queryString: query.map(([name, value]) => ({ name, value })),
    ...(requestBody !== undefined && {
      postData: {
        mimeType: headerOf(headers, 'content-type') ?? '',
        text: requestText(exchange),
        ...(requestCut && { comment: 'Only the start of it was kept.' }),
      },
    }),
    bodySize: requestCut ? UNKNOWN : (requestBody?.length ?? 0),
  };
}

function responseOf(exchange: Exchange, plain: boolean): object {
  const { method, status = 0, fault, replyCut } = exchange;
  // The journal keeps the body that GET would have got.
  const replyBody = method === 'HEAD' ? undefined : exchange.replyBody;
  const headers = shownHeaders(sentHeaders(exchange, plain));
  const size = replyBody === undefined ? 0 : Buffer.byteLength(replyBody);
  return {
    status,
    statusText: STATUS_CODES[status] ?? '',
    ...headOf(headers),
    content: {
      size,
      mimeType: headerOf(headers, 'content-type') ?? '',
      ...(replyBody !== undefined && { text: replyBody }),
      ...(replyCut && { comment: 'It was too long to be kept.' }),
    },
    redirectURL: '',
    bodySize: replyCut || fault !== undefined ? UNKNOWN : size,
    ...(fault !== undefined && { _error: fault }),
  };
}

/** What requests and responses have in common. */
function headOf(headers: readonly string[]): object {
  return { httpVersion: 'HTTP/1.1', cookies: [], headers: pairsOf(headers), headersSize: UNKNOWN };
}

/** @param headers alternating names and values */
function pairsOf(headers: readonly string[]) {
  return headers.flatMap((name, index) =>
    index % 2 === 0 ? [{ name, value: headers[index + 1] ?? '' }] : [],
  );
}

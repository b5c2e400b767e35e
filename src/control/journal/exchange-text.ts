import { STATUS_CODES } from 'node:http';
import { tryParseJson } from '../../contract/json.ts';
import { parseTarget, queryOf } from '../../http/target.ts';
import { packageVersion } from '../../package.ts';
import { findHeader } from '../../raw-headers.ts';
import {
  bodyText,
  describeHold,
  type Exchange,
  isDropped,
  listFindings,
  maskedKey,
  maskHeaders,
} from '../../sandbox/exchange.ts';
import { FINDING_CODES } from '../../sandbox/finding-codes.ts';
import { basisReasons } from '../../service/reply.ts';
import { roundDuration } from '../../words.ts';
import type { RecordedExchange } from '../control-shapes.ts';

/**
 * An exchange as the control API shows it, in one line of JSON. Bodies that are JSON are copied as
 * text: streams write thousands of exchanges per second.
 */
export function exchangeText(exchange: Exchange): string {
  const { number, at, method, target, operation, status, fault, delay, duration } = exchange;
  const { basis, expected, traceId, hold, reasons, replays, request, reply } = exchange;
  const head: Omit<RecordedExchange, 'request' | 'reply'> = {
    number,
    at: new Date(at).toISOString(),
    method,
    target,
    operation,
    traceId,
    replays,
    key: maskedKey(exchange),
    status,
    fault: fault?.kind,
    delay,
    hold: hold && describeHold(hold),
    duration: roundDuration(duration),
    basis: basis.kind,
    by: basisReasons(basis),
    why: reasons,
    findings: listFindings(exchange).map((finding) => ({
      ...finding,
      advice: FINDING_CODES[finding.code],
    })),
    expected,
  };
  const parts = `"request":${messageText(request)},"reply":${messageText(reply ?? NO_REPLY)}`;
  return `${JSON.stringify(head).slice(0, -1)},${parts}}`;
}

type ShownMessage = Exchange['request'];

const NO_REPLY = { headers: [], body: undefined, size: 0 };

/** Shows a body as JSON if it is JSON, else as text. */
function messageText(message: ShownMessage): string {
  const { headers, size } = message;
  const shown = headersView(maskHeaders(headers));
  const sizes = { ...(size > 0 && { size }), ...(isDropped(message) && { cut: true }) };
  const mark = JSON.stringify({ headers: shown, ...sizes });
  const text = bodyText(message);
  if (text === undefined || text === '') return mark;
  const body =
    tryParseJson(text) === undefined ? JSON.stringify(text) : text.replaceAll(/[\r\n]/g, ' ');
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

/** What is not known of an exchange, as HAR says it. */
const UNKNOWN = -1;

/** What is before the entries of an archive. */
export function harHead(): string {
  const creator = JSON.stringify({ name: 'petstore-mock', version: packageVersion() });
  return `{"log":{"version":"1.2","creator":${creator},"entries":`;
}

/** An exchange as an entry of HAR 1.2. */
export function harEntry(exchange: Exchange, origin: string): string {
  const { at, delay, duration, reasons } = exchange;
  return JSON.stringify({
    startedDateTime: new Date(at - Math.max(0, duration - delay)).toISOString(),
    time: duration,
    request: harRequest(exchange, origin),
    response: harResponse(exchange),
    cache: {},
    timings: { send: 0, wait: duration, receive: 0 },
    comment: reasons.join('; '),
  });
}

function harRequest({ method, target, request }: Exchange, origin: string): object {
  const headers = maskHeaders(request.headers);
  const host = findHeader(headers, 'host');
  const base = host === undefined ? origin : origin.replace(/\/\/.*/, `//${host}`);
  const query = queryOf(parseTarget(target));
  return {
    method,
    url: target.startsWith('/') ? base + target : target,
    ...headOf(headers),
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

const DROPPED = 'It was dropped to bound the memory of the journal.';

function harResponse({ status = 0, fault, reply = { ...NO_REPLY, status: 0 } }: Exchange): object {
  const headers = maskHeaders(reply.headers);
  const text = bodyText(reply);
  return {
    status,
    statusText: STATUS_CODES[status] ?? '',
    ...headOf(headers),
    content: {
      size: text === undefined ? reply.size : Buffer.byteLength(text),
      mimeType: findHeader(headers, 'content-type') ?? '',
      ...(text !== undefined && { text }),
      ...(isDropped(reply) && { comment: DROPPED }),
    },
    redirectURL: '',
    bodySize: fault !== undefined ? UNKNOWN : reply.size,
    ...(fault !== undefined && { _error: fault.kind }),
  };
}

/** What requests and responses have in common. */
function headOf(headers: readonly string[]): object {
  return { httpVersion: 'HTTP/1.1', cookies: [], headers: pairsOf(headers), headersSize: UNKNOWN };
}

/** @param headers alternating names and values */
export function pairsOf(headers: readonly string[]) {
  return headers.flatMap((name, index) =>
    index % 2 === 0 ? [{ name, value: headers[index + 1] ?? '' }] : [],
  );
}

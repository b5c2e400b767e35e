import {
  type Exchange,
  reasonsFor,
  requestText,
  shownHeaders,
  shownKey,
} from '../../evidence/exchange.ts';
import { FINDING_CODES } from '../../evidence/finding-codes.ts';
import { exposed } from '../../http/cors.ts';
import { basisHeader } from '../../http/write.ts';
import { holdView } from '../../scenario/hold.ts';
import { decidersOf } from '../../service/reply.ts';
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
    duration: Math.round(duration * 1000) / 1000,
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
  const body = cut || !isJson(text) ? JSON.stringify(text) : text.replaceAll(/[\r\n]/g, ' ');
  return `${mark.slice(0, -1)},"body":${body}}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** @param headers alternating names and values */
function headersView(headers: readonly string[]): Readonly<Record<string, string>> {
  const view = new Map<string, string>();
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index]?.toLowerCase() ?? '';
    const [before, value = ''] = [view.get(name), headers[index + 1]];
    view.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(view);
}

/**
 * The headers of a reply as the client got them, names and values in turn, but for those of the
 * connection and the length. An exchange does not keep what the rest of it tells.
 *
 * @param plain whether the server leaves out what distinguishes it from the service
 */
export function sentHeaders(exchange: Exchange, plain: boolean): readonly string[] {
  const { at, delay, method, status, basis, replyHeaders: kept, replyBody, replyCut } = exchange;
  if (status === undefined) return kept;
  const mockBasis = plain ? [] : ['Mock-Basis', basisHeader(basis, method === 'HEAD')];
  if (basis.kind === 'upstream') return [...kept, ...mockBasis];
  const hasBody = replyBody !== undefined || replyCut;
  return [
    ...(hasBody && !has(kept, 'content-type') ? ['Content-Type', 'application/json'] : []),
    ...mockBasis,
    ...(has(kept, 'access-control-allow-origin')
      ? ['Access-Control-Expose-Headers', exposed(plain)]
      : []),
    ...(has(kept, 'date') ? [] : ['Date', new Date(at + delay).toUTCString()]),
    ...kept,
  ];
}

function has(headers: readonly string[], name: string): boolean {
  return headers.some((it, index) => index % 2 === 0 && it.toLowerCase() === name);
}

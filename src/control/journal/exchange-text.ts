import type { Exchange } from '../../evidence/exchange.ts';
import { decidersOf } from '../../service/reply.ts';
import type { RecordedExchange } from '../control-shapes.ts';

/**
 * An exchange as the control API shows it, in one line of JSON. Bodies that are JSON are copied as
 * text: streams write thousands of exchanges per second.
 */
export function exchangeText(exchange: Exchange): string {
  const { number, at, method, target, operation, key, status, fault, delay, duration } = exchange;
  const { basis, why, findings, expected } = exchange;
  const head: Omit<RecordedExchange, 'request' | 'reply'> = {
    number,
    at: new Date(at).toISOString(),
    method,
    target,
    operation,
    key,
    status,
    fault,
    delay,
    duration: Math.round(duration * 1000) / 1000,
    basis: basis.kind,
    by: decidersOf(basis),
    why,
    findings,
    expected,
  };
  const { requestHeaders, requestBody, requestCut, replyHeaders, replyBody, replyCut } = exchange;
  const request = messageText(requestHeaders, requestBody, requestCut);
  const reply = messageText(replyHeaders, replyBody, replyCut);
  return `${JSON.stringify(head).slice(0, -1)},"request":${request},"reply":${reply}}`;
}

/**
 * Shows a body as JSON if it is JSON, else as text. `cut` says that the journal kept only a part.
 */
function messageText(
  headers: readonly string[],
  bytes: string | Buffer | undefined,
  cut: boolean,
): string {
  const mark = JSON.stringify({ headers: headersView(headers), ...(cut && { cut }) });
  if (bytes === undefined || bytes.length === 0) return mark;
  const text = bytes.toString();
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

import { parseJson } from '../../contract/json.ts';
import type { Exchange } from '../../evidence/exchange.ts';
import type { RecordedExchange, RecordedMessage } from '../control-shapes.ts';

/** An exchange as the control API shows it: a copy, since the journal reuses exchanges. */
export function exchangeView(exchange: Exchange): RecordedExchange {
  const { number, at, method, target, operation, key, status, fault, delay, duration } = exchange;
  const { basis, why, findings } = exchange;
  return {
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
    by: basis.kind === 'documented' ? [] : [basis.by].flat(),
    why,
    findings,
    request: messageView(exchange.requestHeaders, exchange.requestBody, exchange.requestCut),
    reply: messageView(exchange.replyHeaders, exchange.replyBody, exchange.replyCut),
  };
}

/** Shows a body as JSON, or else as text. `cut` says that the journal kept only a part. */
function messageView(
  headers: readonly string[],
  bytes: string | Buffer | undefined,
  cut: boolean,
): RecordedMessage {
  const mark = { headers: headersView(headers), ...(cut && { cut }) };
  if (bytes === undefined || bytes.length === 0) return mark;
  const text = bytes.toString();
  return { ...mark, body: cut ? text : jsonOrText(text) };
}

function jsonOrText(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
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

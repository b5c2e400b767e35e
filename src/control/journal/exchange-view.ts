import { parseJson } from '../../contract/json.ts';
import type { ObservedExchange } from '../../evidence/journal.ts';
import type { RecordedBody, RecordedExchange } from '../control-shapes.ts';

/** An exchange as the control API shows it: a copy, since the journal reuses exchanges. */
export function exchangeView(exchange: ObservedExchange): RecordedExchange {
  const { number, at, method, target, operation, key, status, fault, delay, basis } = exchange;
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
    basis: basis.kind,
    by: basis.kind === 'documented' ? [] : [basis.by].flat(),
    why: exchange.why,
    request: bodyView(exchange.requestBody, exchange.requestCut),
    reply: {
      headers: headersView(exchange.replyHeaders),
      ...bodyView(exchange.replyBody, exchange.replyCut),
    },
  };
}

/** A body as JSON, or else as text. `cut` says that the journal kept only a part. */
function bodyView(bytes: string | Buffer | undefined, cut: boolean): RecordedBody {
  const mark = cut ? { cut } : {};
  if (bytes === undefined || bytes.length === 0) return mark;
  const text = bytes.toString();
  return { body: cut ? text : jsonOrText(text), ...mark };
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
  const view: Record<string, string> = {};
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index]?.toLowerCase() ?? '';
    const value = headers[index + 1] ?? '';
    view[name] = view[name] === undefined ? value : `${view[name]}, ${value}`;
  }
  return view;
}

import { toBytes } from '../../core/bytes.ts';
import type { EventSink } from '../../core/control/reply.ts';
import { findHeader, pairHeaders, type RawHeaders } from '../../core/raw-http.ts';
import type { Fault } from '../../core/scenario/fault-table.ts';
import { joinChunks } from '../../core/store/store-text.ts';
import { onAbort } from './waiting.ts';

type Body = string | Uint8Array | ReadableStream<Uint8Array> | undefined;

export function createResponse(
  status: number,
  headers: RawHeaders,
  body: Body,
  statusText = '',
): Response {
  const init = { status, statusText, headers: pairHeaders(headers) };
  return new Response(contentOf(body, headers), init);
}

function contentOf(body: Body, headers: RawHeaders) {
  if (body === undefined) return null;
  if (body instanceof Uint8Array) return new Uint8Array(body);
  // A `Response` adds a Content-Type of its own to a text without one.
  const isTyped = typeof body !== 'string' || findHeader(headers, 'content-type') !== undefined;
  return isTyped ? body : new TextEncoder().encode(body);
}

/** Streams a long text at the speed at which the client reads. */
export function streamPieces(pieces: Iterable<string>): ReadableStream<Uint8Array> {
  const chunks = joinChunks(pieces);
  return new ReadableStream({
    pull(controller) {
      const { done, value } = chunks.next();
      if (done) controller.close();
      else controller.enqueue(toBytes(value));
    },
  });
}

/** Streams events until the mock or the client ends the stream. */
export function streamEvents(
  begin: (sink: EventSink) => void,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const closers: (() => void)[] = [];
  let isClosed = false;
  let resume = (): void => {};
  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    for (const act of closers) act();
    resume();
  };
  return new ReadableStream({
    start(controller) {
      onAbort(signal, () => {
        if (!isClosed) controller.error(signal.reason);
        close();
      });
      begin({
        get isClosed() {
          return isClosed;
        },
        write: (text) => {
          if (!isClosed) controller.enqueue(toBytes(text));
          return (controller.desiredSize ?? 0) > 0;
        },
        drained: () =>
          new Promise((resolve) => {
            resume = resolve;
            if (isClosed) resolve();
          }),
        end: () => {
          if (!isClosed) controller.close();
          close();
        },
        onClose: (act) => void closers.push(act),
      });
    },
    pull: () => resume(),
    cancel: close,
  });
}

/** The error of Node's `fetch` for a broken connection. */
export function networkError(message: string, { kind }: Pick<Fault, 'kind'>): TypeError {
  const cause = Object.assign(new Error(`the mock broke the connection: ${kind}`), {
    code: 'ECONNRESET',
  });
  return new TypeError(message, { cause });
}

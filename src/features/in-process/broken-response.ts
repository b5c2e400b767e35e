import { toBytes } from '../../core/bytes.ts';
import { withoutHeaders } from '../../core/raw-http.ts';
import { type Fault, FRAMING, spoilJson, type WireFault } from '../../core/scenario/fault-table.ts';
import { MAX_DELAY_MS } from '../../core/scenario/settings-shapes.ts';
import { mayHaveContent, type Reply } from '../../core/service/reply.ts';
import { createResponse, networkError } from './create-response.ts';
import { delay } from './waiting.ts';

/** What a caller of `fetch` sees of a fault. Rejects where it sees no reply. */
export async function breakResponse(
  fault: WireFault,
  reply: Reply | undefined,
  { method, signal }: Pick<Request, 'method' | 'signal'>,
): Promise<Response> {
  if (fault.kind === 'hang') await delay(signal, MAX_DELAY_MS);
  if (
    reply === undefined ||
    fault.kind === 'reset' ||
    fault.kind === 'close' ||
    fault.kind === 'hang'
  )
    throw networkError('fetch failed', fault);
  const { status, body = '' } = reply;
  const bytes = typeof body === 'string' ? toBytes(body) : body;
  const hasContent = method !== 'HEAD' && mayHaveContent(status);
  const headers = withoutHeaders(reply.headers, FRAMING);
  const respond = (length: number, content: Uint8Array | ReadableStream<Uint8Array>): Response => {
    const framing = mayHaveContent(status) ? ['Content-Length', String(length)] : [];
    return createResponse(status, [...headers, ...framing], hasContent ? content : undefined);
  };
  const half = (): ReadableStream<Uint8Array> => {
    // A reply without content is cut in its head.
    if (!hasContent) throw networkError('fetch failed', fault);
    return breakOff(bytes.subarray(0, bytes.length >> 1), networkError('terminated', fault));
  };
  switch (fault.kind) {
    case 'malformed-json': {
      const spoilt = spoilJson(bytes);
      return respond(spoilt.length, spoilt);
    }
    case 'slow-body':
      return respond(bytes.length, dribble(bytes, fault, signal));
    case 'truncate':
      return respond(Math.max(bytes.length, 1), half());
    case 'bad-chunk':
      return createResponse(status, [...headers, 'Transfer-Encoding', 'chunked'], half());
  }
}

function breakOff(start: Uint8Array, error: Error): ReadableStream<Uint8Array> {
  let isSent = start.length === 0;
  return new ReadableStream({
    pull(controller) {
      if (isSent) controller.error(error);
      else controller.enqueue(start);
      isSent = true;
    },
  });
}

/** In evenly spaced pieces. */
function dribble(
  bytes: Uint8Array,
  { chunks, over }: Extract<Fault, { kind: 'slow-body' }>,
  signal: AbortSignal,
): ReadableStream<Uint8Array> {
  const start = performance.now();
  let sent = 0;
  let number = 0;
  return new ReadableStream({
    async pull(controller) {
      let isQuiet = true;
      while (isQuiet && sent < bytes.length) {
        number += 1;
        // Paced by the clock: the delays of timers add up.
        await delay(signal, start + (number * over) / chunks - performance.now());
        const to = number < chunks ? Math.floor((bytes.length * number) / chunks) : bytes.length;
        isQuiet = to === sent;
        if (!isQuiet) controller.enqueue(bytes.subarray(sent, to));
        sent = to;
      }
      if (sent === bytes.length) controller.close();
    },
  });
}

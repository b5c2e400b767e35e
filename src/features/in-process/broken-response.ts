import { breakReply, type SlowPiece, type WireReply } from '../../core/scenario/broken-reply.ts';
import { hasEffect, type WireFault } from '../../core/scenario/fault-table.ts';
import { MAX_DELAY_MS } from '../../core/scenario/settings-shapes.ts';
import { createResponse, networkError } from './create-response.ts';
import { delay } from './waiting.ts';

/** What a caller of `fetch` sees of a fault. Rejects where it sees no reply. */
export async function breakResponse(
  fault: WireFault,
  reply: WireReply | undefined,
  { method, signal }: Pick<Request, 'method' | 'signal'>,
): Promise<Response> {
  if (fault.kind === 'hang') await delay(signal, MAX_DELAY_MS);
  if (reply === undefined || hasEffect(fault, 'replaces'))
    throw networkError('fetch failed', fault);
  const { status, headers, content, isCut, pieces } = breakReply(fault, reply, method);
  if (pieces !== undefined) return createResponse(status, headers, sendSlowly(pieces, signal));
  if (!isCut) return createResponse(status, headers, content);
  if (content === undefined) throw networkError('fetch failed', fault);
  return createResponse(status, headers, breakOff(content, networkError('terminated', fault)));
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

/** Sends each piece when it is due by the clock: the delays of timers would add up. */
function sendSlowly(pieces: readonly SlowPiece[], signal: AbortSignal): ReadableStream<Uint8Array> {
  const start = performance.now();
  const left = pieces.values();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = left.next();
      if (done) return controller.close();
      await delay(signal, start + value.after - performance.now());
      controller.enqueue(value.bytes);
    },
  });
}

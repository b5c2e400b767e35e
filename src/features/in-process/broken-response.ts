import { breakReply, type SlowPiece, type WireReply } from '../../core/scenario/broken-reply.ts';
import { type FaultWith, hasEffect, type WireFault } from '../../core/scenario/fault-table.ts';
import { MAX_DELAY_MS } from '../../core/service/settings-shapes.ts';
import { createResponse, networkError } from './create-response.ts';
import { delay } from './waiting.ts';

/** How long a caller waits before it gets an error in place of a reply, in milliseconds. */
const SILENCES: Readonly<Record<FaultWith<'replaces'>['kind'], number>> = {
  reset: 0,
  close: 0,
  hang: MAX_DELAY_MS,
};

/** What a caller of `fetch` gets under a fault. Rejects if that is no reply at all. */
export async function breakResponse(
  fault: WireFault,
  reply: WireReply | undefined,
  { method, signal }: Pick<Request, 'method' | 'signal'>,
): Promise<Response> {
  if (hasEffect(fault, 'replaces')) {
    if (SILENCES[fault.kind] > 0) await delay(signal, SILENCES[fault.kind]);
    throw networkError('fetch failed', fault);
  }
  if (reply === undefined) throw new Error(`${fault.kind} needs a reply`);
  const { status, headers, content, isCut, pieces } = breakReply(fault, reply, method);
  if (pieces !== undefined) return createResponse(status, headers, sendPieces(pieces, signal));
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

/** Sends each piece at its time by the clock, since delays of timers would add up. */
function sendPieces(pieces: readonly SlowPiece[], signal: AbortSignal): ReadableStream<Uint8Array> {
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

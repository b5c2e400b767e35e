import { type BrokenReply, breakReply, type WireReply } from '../../core/scenario/broken-reply.ts';
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
  const { status, headers, content, isCut, pace } = breakReply(fault, reply, method);
  if (content === undefined && isCut) throw networkError('fetch failed', fault);
  const body = content && pace ? dribble(content, pace, signal) : content;
  const cut = content && isCut ? breakOff(content, networkError('terminated', fault)) : body;
  return createResponse(status, headers, cut);
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
  { chunks, over }: NonNullable<BrokenReply['pace']>,
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

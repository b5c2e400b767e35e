import { breakReply, type SlowPiece } from '../../core/scenario/broken-reply.ts';
import {
  type ConnectionTable,
  effectOf,
  type Fault,
  isMessageFault,
} from '../../core/scenario/fault-table.ts';
import type { Reply } from '../../core/service/reply.ts';
import { MAX_DELAY_MS } from '../../core/service/settings-shapes.ts';
import { isRowName } from '../../core/tables.ts';
import { createResponse, networkError } from './create-response.ts';
import { delay } from './waiting.ts';

/** What each does to a call, before it rejects or resolves. */
const ON_CONNECTION: ConnectionTable<
  (signal: AbortSignal, breakNext: () => void) => Promise<void> | void
> = {
  reset: () => {},
  close: () => {},
  hang: (signal) => delay(signal, MAX_DELAY_MS),
  'stale-connection': (_signal, breakNext) => breakNext(),
};

/** What `fetch` shows of a broken reply; undefined if the reply is whole. Rejects where there is none. */
export async function breakResponse(
  fault: Fault,
  reply: Reply | undefined,
  { method, signal }: Pick<Request, 'method' | 'signal'>,
  breakNext: () => void,
): Promise<Response | undefined> {
  if (isRowName(ON_CONNECTION, fault.kind)) await ON_CONNECTION[fault.kind](signal, breakNext);
  if (effectOf(fault).sender === 'nobody') throw networkError('fetch failed', fault);
  if (reply === undefined || !isMessageFault(fault)) return undefined;
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

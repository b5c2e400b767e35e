import type { Exchange } from '../../evidence/exchange.ts';
import { passes } from '../../evidence/journal.ts';
import type { ExchangeFilter } from '../../evidence/report-shapes.ts';
import type { ControlCall } from '../endpoint.ts';

type Caller = Pick<ControlCall, 'sandbox' | 'onLeave'>;

/**
 * Resolves as soon as `isOver` returns true, which is asked after whatever happens in the sandbox; or
 * when the time is over, the client has left, or the sandbox ends.
 */
export function waitUntil(
  { sandbox, onLeave }: Caller,
  milliseconds: number,
  isOver: (exchange?: Exchange) => boolean,
): Promise<void> {
  if (isOver()) return Promise.resolve();
  return new Promise((resolve) => {
    const cancels: (() => void)[] = [];
    const end = (): void => {
      clearTimeout(timer);
      for (const cancel of cancels.splice(0)) cancel();
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    cancels.push(sandbox.onArrival((exchange) => isOver(exchange) && end()));
    cancels.push(sandbox.onEnd(end), onLeave(end));
  });
}

/** How many exchanges match, as soon as there are enough or the time is over. */
export async function countWhen(
  caller: Caller,
  filter: ExchangeFilter,
  { atLeast, within }: { readonly atLeast: number; readonly within: number },
): Promise<number> {
  let count = 0;
  const isReached = (exchange?: Exchange): boolean => {
    // The journal may have dropped some of those that were counted.
    if (exchange === undefined) {
      const { journal, holds } = caller.sandbox.evidence;
      const matching = [...journal.select(filter)];
      // There can be more held replies than the journal keeps.
      if (filter.hold !== undefined)
        matching.push(...holds.open.filter((it) => passes(it, filter)));
      count = Math.max(count, new Set(matching.map(({ number }) => number)).size);
    } else if (passes(exchange, filter)) count += 1;
    return count >= atLeast;
  };
  await waitUntil(caller, within, isReached);
  return count;
}

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
    cancels.push(sandbox.onEnd(end));
    cancels.push(onLeave(end));
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
    if (exchange === undefined) count = Math.max(count, countOf(caller, filter));
    else if (passes(exchange, filter)) count += 1;
    return count >= atLeast;
  };
  await waitUntil(caller, within, isReached);
  return count;
}

function countOf({ sandbox }: Pick<Caller, 'sandbox'>, filter: ExchangeFilter): number {
  const { journal, holds } = sandbox.evidence;
  let count = 0;
  for (const _ of journal.select(filter)) count += 1;
  if (filter.hold === undefined) return count;
  // There can be more held replies than the journal keeps.
  const dropped = holds.open.filter(({ number }) => journal.at(number) === undefined);
  return count + dropped.filter((exchange) => passes(exchange, filter)).length;
}

import type { Exchange } from '../../sandbox/exchange.ts';
import { type ExchangeFilter, passes } from '../../sandbox/exchange-filter.ts';
import type { HeldExchange } from '../../sandbox/holds.ts';
import { COUNT, OPERATION } from '../../sandbox/report-shapes.ts';
import { whenLeft } from '../../http/pass-on.ts';
import { LATCH, withLatch } from '../../sandbox/latches.ts';
import { NO_LATCHES } from '../../sandbox/state.ts';
import { HOLD_NAME } from '../../scenario/hold.ts';
import { INSTANT_TEXT } from '../../scenario/time-shapes.ts';
import { namedObject, object, optional, required } from '../../shape/objects.ts';
import { ANY_TEXT, FLAG, list, type ValueOf } from '../../shape/shapes.ts';
import { type ControlCall, DONE, edit, endpoint, json, refuseOneMore } from '../endpoint.ts';

const HELD_REPLY = namedObject('HeldReply', {
  exchange: required(COUNT, 'The number of the exchange.'),
  name: required(ANY_TEXT, 'The name of the hold; `default` for `hold: true`.'),
  operation: optional(OPERATION, 'The operation.'),
  method: required(ANY_TEXT, 'The method of the request.'),
  target: required(ANY_TEXT, 'The path and the query of the request.'),
  since: required(INSTANT_TEXT, "Since when it waits, by the sandbox's clock."),
});
/** A reply that a rule holds back. */
export type HeldReply = ValueOf<typeof HELD_REPLY>;

const RELEASED = namedObject('ReleaseResult', {
  released: required(list(HELD_REPLY), 'The replies that were sent, in this order.'),
  held: required(COUNT, 'How many still wait.'),
});
/** What a release did. */
export type ReleaseResult = ValueOf<typeof RELEASED>;

const RELEASE = object({
  name: optional(HOLD_NAME, 'Only replies that are held under this name.'),
  exchanges: optional(list(COUNT), 'Only the replies of these exchanges.'),
  count: optional(COUNT, 'At most this many; all by default.'),
  newestFirst: optional(FLAG, 'Send the latest reply first; by default the oldest one.'),
  open: optional(FLAG, 'Also remove the latch of this name, or all: later calls are not held.'),
});

/** Milliseconds for other servers of a fleet to send the replies that they hold. */
const CONFIRM_WITHIN = 1_000;

export const HOLD_ENDPOINTS = [
  endpoint('listHolds', 'get /holds', {
    summary: 'List the replies that rules hold back, the oldest first',
    replies: { 200: list(HELD_REPLY) },
    handle: ({ sandbox }) => json(sandbox.evidence.holds.waiting().map(heldReply)),
  }),
  endpoint('setLatch', 'post /holds', {
    summary: 'Set a latch: a rule that holds replies back',
    description:
      'Takes a rule with `hold`. Without `reply` and `fault`, the scenarios decide the reply. Replaces the latch that has this name. A reset removes it.',
    body: { shape: LATCH },
    example: { body: { on: 'listPets', hold: 'lists' } },
    replies: { 204: 'Set.', 409: 'The sandbox has as many latches as it may have.' },
    handle: ({ sandbox, body: [name, latch] }) =>
      edit(sandbox, (state) => {
        const refusal = refuseOneMore('latches', state.latches, name);
        return refusal ?? { ...withLatch(state, name, latch), reply: DONE };
      }),
  }),
  endpoint('releaseHolds', 'post /holds/release', {
    summary: 'Release replies that rules hold back',
    description:
      'Names the replies that were sent. In a fleet, one whose server does not confirm within a second is not among them, and is sent once that server goes on.',
    body: { shape: RELEASE, optional: true },
    example: { body: { name: 'lists', newestFirst: true, open: true } },
    replies: { 200: RELEASED },
    handle: async (call) => {
      const { sandbox } = call;
      const { open, ...due } = call.body;
      if (open) {
        await edit(sandbox, (state) => ({
          ...(due.name === undefined
            ? { latches: NO_LATCHES }
            : withLatch(state, due.name, undefined)),
          reply: DONE,
        }));
      }
      const changed = await sandbox.release(due);
      const isOver = () => changed.every(({ hold }) => hold.ended !== undefined);
      await waitUntil(call, CONFIRM_WITHIN, isOver);
      const released = changed.filter(({ hold }) => hold.ended === 'released').map(heldReply);
      return json<ReleaseResult>({ released, held: sandbox.evidence.holds.waiting().length });
    },
  }),
];

function heldReply({ number, hold, operation, method, target, at }: HeldExchange): HeldReply {
  const since = new Date(at).toISOString();
  return { exchange: number, name: hold.name, operation, method, target, since };
}

type Caller = Pick<ControlCall, 'sandbox' | 'request'>;

/**
 * Resolves once `isOver` returns true, which is checked after each event in the sandbox; or once the
 * time is over, the client has left, or the sandbox ends.
 */
function waitUntil(
  { sandbox, request }: Caller,
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
    cancels.push(sandbox.onEnd(end), whenLeft(request.socket, end));
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

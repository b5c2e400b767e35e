import { DATE_TIME } from '../../contract/date-time.ts';
import { outcome } from '../../sandbox/answer.ts';
import type { ExchangeWithHold } from '../../sandbox/exchange.ts';
import { LATCH, withLatch } from '../../sandbox/holds.ts';
import { COUNT, OPERATION } from '../../sandbox/report-shapes.ts';
import type { State } from '../../sandbox/state.ts';
import { HOLD_NAME } from '../../scenario/rule-shape.ts';
import { namedObject, object, optional, required } from '../../shape/objects.ts';
import { ANY_TEXT, FLAG, list, type ValueOf } from '../../shape/shapes.ts';
import { edit, endpoint } from '../endpoint.ts';
import { json, NO_CONTENT, refuseOneMore } from '../reply.ts';

const HELD_REPLY = namedObject('HeldReply', {
  exchange: required(COUNT, 'The number of the exchange.'),
  name: required(ANY_TEXT, 'The name of the hold; `default` for `hold: true`.'),
  operation: optional(OPERATION, 'The operation.'),
  method: required(ANY_TEXT, 'The method of the request.'),
  target: required(ANY_TEXT, 'The path and the query of the request.'),
  since: required(DATE_TIME, "When the hold began, by the sandbox's clock."),
});
export type HeldReply = ValueOf<typeof HELD_REPLY>;

const RELEASED = namedObject('ReleaseResult', {
  released: required(list(HELD_REPLY), 'The replies that were sent, in this order.'),
  held: required(COUNT, 'How many are still held.'),
});
type ReleaseResult = ValueOf<typeof RELEASED>;

const RELEASE = object({
  name: optional(HOLD_NAME, 'Only replies that are held under this name.'),
  exchanges: optional(list(COUNT), 'Only the replies of these exchanges.'),
  count: optional(COUNT, 'At most this many; all by default.'),
  newestFirst: optional(FLAG, 'Send the latest reply first; by default the oldest one.'),
  open: optional(FLAG, 'Also remove the latch of this name, or all: later calls are not held.'),
});

export const HOLD_ENDPOINTS = [
  endpoint('listHolds', 'GET /holds', {
    summary: 'List the replies that rules hold back, the oldest first',
    replies: { 200: list(HELD_REPLY) },
    handle: async ({ journal }) => json((await journal.held()).map(showHeldReply)),
  }),
  endpoint('setLatch', 'POST /holds', {
    summary: 'Set a latch: a rule that holds replies back',
    description:
      'Takes a rule with `hold`. Without `reply` and `fault`, the scenarios decide the reply. Replaces the latch that has this name. A reset removes it.',
    body: { shape: LATCH },
    example: { body: { on: 'listPets', hold: 'lists' } },
    replies: { 204: 'Set.', 409: 'The sandbox has too many latches.' },
    handle: (call) =>
      edit(call, `set the latch ${call.body[0]}`, (state) => {
        const [name, latch] = call.body;
        const refusal = refuseOneMore('latches', state.latches, name);
        if (refusal !== undefined) return outcome(state, refusal);
        return outcome(state, NO_CONTENT, withLatch(state, name, latch));
      }),
  }),
  endpoint('releaseHolds', 'POST /holds/release', {
    summary: 'Release replies that rules hold back',
    description:
      'Lists the replies that were sent. A reply of another server is not listed if that does not confirm within a second; it sends the reply later.',
    body: { shape: RELEASE, optional: true },
    example: { body: { name: 'lists', newestFirst: true, open: true } },
    replies: { 200: RELEASED },
    handle: async (call) => {
      const { sandbox, parts } = call;
      const { open, ...which } = call.body;
      const { name } = which;
      if (open) {
        await edit(call, `opened ${name ?? 'all latches'}`, (state) => {
          const names = name === undefined ? [...state.latches.keys()] : [name];
          const remove = (left: State, latch: string) => withLatch(left, latch, undefined);
          return outcome(state, NO_CONTENT, names.reduce(remove, state));
        });
      }
      const { released, held } = await parts.persistence.release(sandbox, which, 'released');
      return json<ReleaseResult>({ released: released.map(showHeldReply), held });
    },
  }),
];

function showHeldReply(held: ExchangeWithHold): HeldReply {
  const { number, hold, operation, method, target, at } = held;
  const since = new Date(at).toISOString();
  return { exchange: number, name: hold.name, operation, method, target, since };
}

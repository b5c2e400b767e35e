import { ASSUMPTION_IDS } from '../../contract/assumption-table.ts';
import { INTEGER_TEXT } from '../../json.ts';
import { LIMITS } from '../../limits.ts';
import type { Exchange } from '../../sandbox/exchange.ts';
import { COUNT, TEXTS } from '../../sandbox/report-shapes.ts';
import { object, optional, required } from '../../shape/objects.ts';
import { ANY, ANY_TEXT, choice, list, type ValueOf } from '../../shape/shapes.ts';
import { describe } from '../../words.ts';
import { type ControlCall, endpoint, YAML_TYPE } from '../endpoint.ts';
import { type ControlReply, refuse } from '../reply.ts';
import { STORE_STATE } from '../store/store-endpoints.ts';

const SIDES = ['before', 'after'] as const;

export const SIDE = object({
  at: optional(choice(SIDES), 'As the call found it (`before`, by default) or left it (`after`).'),
});

export const REWIND = object({
  to: optional(choice(SIDES), 'Before the call (by default) or after it.'),
});

const UNDONE = object({
  what: required(ANY_TEXT, 'The change that was undone.'),
  laterCalls: required(COUNT, 'How many later calls were undone with it.'),
});

/** What an undo took back. */
export type Undone = ValueOf<typeof UNDONE>;

const ALTERNATIVE = object({
  assumption: required(choice(ASSUMPTION_IDS), 'The assumption.'),
  option: required(ANY_TEXT, 'Its other option.'),
  meaning: required(ANY_TEXT, 'What the mock does under it.'),
  status: optional(COUNT, 'The status of the reply.'),
  basis: required(ANY_TEXT, 'What that reply would rest on.'),
  by: required(TEXTS, 'The assumptions that would have decided it.'),
  body: optional(
    ANY,
    `The JSON value of its body, or else its text; left out beyond ${LIMITS.keptBody / 1024} KiB.`,
  ),
});

/** The reply under another option of an assumption. */
export type Alternative = ValueOf<typeof ALTERNATIVE>;

export const REPLAYED = object({ number: required(COUNT, 'The number of the new exchange.') });

const MISSING = 'The journal does not have it, or no longer keeps its states.';

export const PAST_STATE_ENDPOINTS = [
  endpoint('getStateOfRequest', 'GET /requests/{number}/state', {
    summary: 'Read the store before or after a call',
    query: SIDE,
    example: { path: 1 },
    replies: { 200: STORE_STATE, 404: MISSING },
  }),
  endpoint('rewind', 'POST /requests/{number}/rewind', {
    summary: 'Rewind the sandbox to before or after a call',
    description:
      'Restores records, settings, clock, counters and snapshots. The journal and your own scenarios stay.',
    body: { shape: REWIND, optional: true },
    example: { path: 1 },
    replies: { 204: 'Rewound.', 404: MISSING },
  }),
  endpoint('undo', 'POST /undo', {
    summary: 'Undo the latest change by the control API',
    description: 'Of records, undoes the effects of later calls, too.',
    replies: { 200: UNDONE, 404: 'No earlier states are kept.', 409: 'Nothing is left to undo.' },
  }),
  endpoint('listAlternatives', 'GET /requests/{number}/alternatives', {
    summary: 'List what the real service might have answered instead',
    description:
      'Asks the mock again, in the same state, under each other option of each assumption. Lists the options that change the reply.',
    example: { path: 1 },
    replies: { 200: list(ALTERNATIVE), 404: MISSING, 409: 'The body of the request was dropped.' },
  }),
  endpoint('replay', 'POST /requests/{number}/replay', {
    summary: 'Send a recorded request again',
    description:
      'With its bytes and its key, inside the server. The new exchange names the old one.',
    example: { path: 1 },
    replies: {
      200: REPLAYED,
      404: 'The journal does not have it.',
      409: 'It was refused before it reached an operation, its body was dropped, or an upstream answers.',
    },
  }),
  endpoint('getRuleOfRequest', 'GET /requests/{number}/rule', {
    summary: 'Read a rule that gives this reply to such calls, as a scenario in YAML',
    example: { path: 1 },
    replies: { 200: ANY_TEXT, 404: 'The journal does not have it, or it reached no operation.' },
    mediaType: YAML_TYPE,
  }),
];

export type ExchangeHandler<Body, Query, Found extends readonly unknown[]> = (
  call: ControlCall<Body, Query>,
  ...found: Found
) => Promise<ControlReply>;

export function withExchange<Body, Query>(
  handle: ExchangeHandler<Body, Query, [exchange: Exchange]>,
): ExchangeHandler<Body, Query, []> {
  return async (call) => {
    const { journal, params } = call;
    const { number = '' } = params;
    const exchange = INTEGER_TEXT.test(number) ? await journal.find(Number(number)) : undefined;
    if (exchange !== undefined) return handle(call, exchange);
    const { number: latest, size } = await journal.size();
    const oldest = latest - size + 1;
    const one = oldest === latest ? `only exchange ${latest} is` : 'none is';
    const left = oldest < latest ? `exchanges ${oldest} to ${latest} are` : one;
    const isCleared = /^[1-9]\d*$/.test(number) && Number(number) < oldest;
    const what = isCleared
      ? `exchange ${number} was cleared`
      : `there is no exchange ${describe(number)}`;
    return refuse('not_found', 404, `${what}; ${left} left`);
  };
}

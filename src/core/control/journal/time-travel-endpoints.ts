import {
  ASSUMPTION_IDS,
  ASSUMPTIONS,
  type AssumptionId,
  assumptionShape,
  isOption,
  optionNames,
} from '../../contract/assumption-table.ts';
import { isIntegerText, parseInput, tryParseJson } from '../../json.ts';
import { findHeader } from '../../raw-http.ts';
import { answer, outcome } from '../../sandbox/answer.ts';
import { bodyText, type Exchange, isWaiting, type ServiceRequest } from '../../sandbox/exchange.ts';
import type { ReadyReply } from '../../sandbox/holds.ts';
import type { RememberedStates } from '../../sandbox/journal-page.ts';
import { undoLatest } from '../../sandbox/persistence.ts';
import { readPrefer } from '../../sandbox/preference.ts';
import { COUNT, TEXTS } from '../../sandbox/report-shapes.ts';
import { recreateRequest } from '../../sandbox/service-request.ts';
import { changeLayers, type State } from '../../sandbox/state.ts';
import { currentInstant } from '../../service/clock.ts';
import { basisReasons } from '../../service/reply.ts';
import { object, optional, required } from '../../shape/objects.ts';
import { ANY, ANY_TEXT, choice, list, type ValueOf } from '../../shape/shapes.ts';
import { storeText } from '../../store/store-text.ts';
import { describe } from '../../words.ts';
import { type ControlCall, edit, endpoint, readCaller, YAML_TYPE } from '../endpoint.ts';
import { type ControlReply, json, NO_CONTENT, refuse } from '../reply.ts';
import { WHOLE_STATE } from '../state/state-endpoints.ts';
import { writeRule } from './rule-text.ts';

const SIDES = ['before', 'after'] as const;

const SIDE = object({
  at: optional(choice(SIDES), 'As the call found it (`before`, by default) or left it (`after`).'),
});

const REWIND = object({
  to: optional(choice(SIDES), 'Before the call (by default) or after it.'),
});

const UNDONE = object({
  what: required(ANY_TEXT, 'The change that was undone.'),
  laterCalls: required(
    COUNT,
    'How many later calls had changed the store, and were undone with it.',
  ),
});

export type Undone = ValueOf<typeof UNDONE>;

const ALTERNATIVE = object({
  assumption: required(choice(ASSUMPTION_IDS), 'The assumption.'),
  option: required(ANY_TEXT, 'Its other option.'),
  meaning: required(ANY_TEXT, 'What the mock does under it.'),
  status: optional(COUNT, 'The status of the reply.'),
  basis: required(ANY_TEXT, 'What that reply would rest on.'),
  by: required(TEXTS, 'The assumptions that would have decided it.'),
  body: optional(ANY, 'The JSON value of its body, or else its text; left out beyond 256 KiB.'),
});

export type Alternative = ValueOf<typeof ALTERNATIVE>;

const REPLAYED = object({ number: required(COUNT, 'The number of the new exchange.') });

const NO_CLIENT: ReadyReply = {
  send() {},
  onDisconnect(act) {
    act();
    return () => {};
  },
};

const MISSING = 'The journal does not have it, or no longer keeps its states.';

export const TIME_TRAVEL_ENDPOINTS = [
  endpoint('getStateOfRequest', 'GET /requests/{number}/state', {
    summary: 'Read the store before or after a call',
    query: SIDE,
    example: { path: 1 },
    replies: { 200: WHOLE_STATE, 404: MISSING },
    handle: withStates(async ({ query: { at = 'before' } }, _exchange, states) => {
      return { status: 200, content: storeText(states[at].store) };
    }),
  }),
  endpoint('rewind', 'POST /requests/{number}/rewind', {
    summary: 'Rewind the sandbox to before or after a call',
    description:
      'Restores records, settings, clock, counters and snapshots. The journal and your own scenarios stay. `POST undo` undoes the rewind.',
    body: { shape: REWIND, optional: true },
    example: { path: 1 },
    replies: { 204: 'Rewound.', 404: MISSING },
    handle: withStates((call, exchange, states) => {
      const { to = 'before' } = call.body;
      return edit(call, `rewound to ${to} call ${exchange.number}`, (state) =>
        outcome(state, NO_CONTENT, { ...states[to], scenarios: state.scenarios }),
      );
    }),
  }),
  endpoint('undo', 'POST /undo', {
    summary: 'Undo the latest change by the control API',
    description: 'Undoes the effects of later calls, too. The journal keeps the calls.',
    replies: { 200: UNDONE, 404: 'No earlier states are kept.', 409: 'Nothing is left to undo.' },
    handle: async ({ parts, sandbox, kept, headers }) => {
      const { forgets } = parts.persistence;
      if (forgets !== undefined) return refuse('not_found', 404, forgets);
      const undone = await undoLatest(sandbox, kept, readCaller(headers));
      if (undone !== undefined) return json<Undone>(undone);
      const message = 'there is nothing left to undo';
      return refuse('nothing_to_undo', 409, message);
    },
  }),
  endpoint('listAlternatives', 'GET /requests/{number}/alternatives', {
    summary: 'List what the real service might have answered instead',
    description:
      'Asks the mock again, in the same state, under each other option of each assumption. Lists the options that change the reply.',
    example: { path: 1 },
    replies: { 200: list(ALTERNATIVE), 404: MISSING, 409: 'The body of the request was dropped.' },
    handle: withStates(async (call, exchange, states) => {
      if (exchange.isRefused) return json<readonly Alternative[]>([]);
      const request = recreateRequest(exchange);
      if (request === undefined) return refuseDropped(exchange);
      return json(await listAlternatives(call, exchange, request, states.before));
    }),
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
    handle: withExchange(async (call, exchange) => {
      if (exchange.isRefused) return refuseUnreplayable(exchange);
      const { upstream } = call.parts.sandboxes;
      if (upstream !== undefined) {
        const message = `request ${exchange.number} cannot be replayed: ${upstream.url} answers in place of the mock; send it again with a client`;
        return refuse('not_replayable', 409, message);
      }
      const request = recreateRequest(exchange);
      if (request === undefined) return refuseDropped(exchange);
      const { sandbox, kept } = call;
      const preference = await readPreference(request, sandbox.state, call.parts);
      const replayed = await kept.run(() => sandbox.answer(request, currentInstant(), preference));
      if (isWaiting(replayed)) sandbox.holds.add(replayed, NO_CLIENT);
      return json<ValueOf<typeof REPLAYED>>({ number: replayed.number });
    }),
  }),
  endpoint('getRuleOfRequest', 'GET /requests/{number}/rule', {
    summary: 'Read a rule that gives this reply to such calls, as a scenario in YAML',
    example: { path: 1 },
    replies: { 200: ANY_TEXT, 404: 'The journal does not have it, or it reached no operation.' },
    mediaType: YAML_TYPE,
    handle: withExchange(async (_call, exchange) => {
      const content = writeRule(exchange);
      if (content !== undefined) return { status: 200, mediaType: YAML_TYPE, content };
      return refuse('not_found', 404, `exchange ${exchange.number} reached no operation`);
    }),
  }),
];

/** Without what it was refused for, such as a wrong sandbox name, it would run in this sandbox. */
function refuseUnreplayable({ number, reasons }: Exchange): ControlReply {
  const message = `request ${number} cannot be replayed: it was refused before it reached an operation (${reasons.join('; ')})`;
  return refuse('not_replayable', 409, message);
}

function refuseDropped({ number }: Exchange): ControlReply {
  return refuse('body_dropped', 409, `the journal has dropped the body of request ${number}`);
}

async function readPreference(
  { headers }: ServiceRequest,
  state: State,
  { platform }: ControlCall['parts'],
) {
  const prefer = findHeader(headers, 'prefer');
  const isRead = prefer !== undefined && !state.settings.start.plain;
  return isRead ? readPrefer(prefer, platform, async () => state) : undefined;
}

async function listAlternatives(
  { parts, onDisconnect }: Pick<ControlCall, 'parts' | 'onDisconnect'>,
  exchange: Exchange,
  request: ServiceRequest,
  before: State,
): Promise<readonly Alternative[]> {
  const { operation } = exchange;
  const { pause } = parts.platform;
  const { clock, settings } = before;
  let hasLeft = false;
  const stopListening = onDisconnect(() => {
    hasLeft = true;
  });
  // The instant at which the sandbox's clock showed the time of the exchange.
  const now = { wall: exchange.at - clock.ahead, steady: request.receivedAt };
  const preference = await readPreference(request, before, parts);
  const own = answer(before, request, now, preference).result;
  // The list of a large store takes a while to write: other requests go on before the next.
  await pause();
  const alternatives: Alternative[] = [];
  const ids = ASSUMPTION_IDS.filter((id) => {
    return operation === undefined || assumptionShape(id).touches.includes(operation);
  });
  for (const id of ids) {
    for (const option of optionNames(id)) {
      if (option === settings.choices[id] || !isOption(id, option) || hasLeft) continue;
      const byHand = { ...settings.byHand, [id]: option };
      const other = answer(changeLayers(before, { byHand }), request, now, preference).result;
      if (!isSameReply(own, other)) {
        alternatives.push(describeAlternative(id, option, other));
      }
      await pause();
    }
  }
  stopListening();
  const decided = new Set(basisReasons(exchange.basis).map((by) => by.replace(/=.*/, '')));
  return alternatives.sort(
    (a, b) => Number(decided.has(b.assumption)) - Number(decided.has(a.assumption)),
  );
}

function isSameReply({ reply: one }: Exchange, { reply: other }: Exchange): boolean {
  if (one === undefined || other === undefined) return one === other;
  if (one.status !== other.status || one.size !== other.size) return false;
  const [body, otherBody] = [one.body, other.body];
  const isSame =
    body instanceof Uint8Array && otherBody instanceof Uint8Array
      ? body.every((byte, at) => byte === otherBody[at])
      : body === otherBody;
  return isSame && formatComparable(one.headers) === formatComparable(other.headers);
}

function formatComparable(headers: readonly string[]): string {
  return headers
    .filter((_, at) => !/^(?:mock-basis|date)$/i.test(headers[at - (at % 2)] ?? ''))
    .join('\n');
}

const MAX_SHOWN_BYTES = 256 * 1024;

function describeAlternative(id: AssumptionId, option: string, other: Exchange): Alternative {
  const { options } = ASSUMPTIONS[id];
  const { reply } = other;
  const text = reply && reply.size <= MAX_SHOWN_BYTES ? bodyText(reply) : undefined;
  return {
    assumption: id,
    option,
    meaning: options.find(({ name }) => name === option)?.meaning ?? '',
    status: other.status,
    basis: other.basis.kind,
    by: basisReasons(other.basis),
    body: text === undefined ? undefined : (tryParseJson(text, parseInput) ?? text),
  };
}

type Handler<Body, Query, Found extends readonly unknown[]> = (
  call: ControlCall<Body, Query>,
  ...found: Found
) => Promise<ControlReply>;

export function withExchange<Body, Query>(
  handle: Handler<Body, Query, [exchange: Exchange]>,
): Handler<Body, Query, []> {
  return async (call) => {
    const { journal } = call.kept;
    const { number = '' } = call.params;
    const exchange = isIntegerText(number) ? await journal.find(Number(number)) : undefined;
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

function withStates<Body, Query>(
  handle: Handler<Body, Query, [exchange: Exchange, states: RememberedStates]>,
): Handler<Body, Query, []> {
  return withExchange(async (call, exchange) => {
    const { forgets } = call.parts.persistence;
    if (forgets !== undefined) return refuse('not_found', 404, forgets);
    const states = call.sandbox.journal.remembered(exchange.number);
    if (states !== undefined) return handle(call, exchange, states);
    const message = `the states around exchange ${exchange.number} are no longer kept: files were loaded again`;
    return refuse('not_found', 404, message);
  });
}

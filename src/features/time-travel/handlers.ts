import { toBytes } from '../../core/bytes.ts';
import {
  ASSUMPTION_IDS,
  ASSUMPTIONS,
  type AssumptionId,
  assumptionShape,
  isOptionOf,
  optionsOf,
} from '../../core/contract/assumption-table.ts';
import { parseTarget } from '../../core/contract/target.ts';
import { type ControlCall, edit, readCaller, YAML_TYPE } from '../../core/control/endpoint.ts';
import {
  type Alternative,
  type ExchangeHandler,
  type REPLAYED,
  type REWIND,
  type SIDE,
  type Undone,
  withExchange,
} from '../../core/control/journal/time-travel-endpoints.ts';
import { type ControlReply, json, NO_CONTENT, refuse } from '../../core/control/reply.ts';
import { parseInput, tryParseJson } from '../../core/json.ts';
import { LIMITS } from '../../core/limits.ts';
import { findHeader, mergeHeaders, withoutHeaders } from '../../core/raw-http.ts';
import { answer, outcome } from '../../core/sandbox/answer.ts';
import { changesNoRecord, type LastEdit } from '../../core/sandbox/edit-log.ts';
import {
  bodyText,
  type Exchange,
  isDropped,
  isHeld,
  type ServiceRequest,
} from '../../core/sandbox/exchange.ts';
import type { ReadyReply } from '../../core/sandbox/holds.ts';
import type { Persistence } from '../../core/sandbox/persistence.ts';
import type { Sandbox } from '../../core/sandbox/sandbox.ts';
import { changeLayers, type State } from '../../core/sandbox/state.ts';
import { currentInstant, steadyNow } from '../../core/service/clock.ts';
import { BodyBytes, NO_BODY, type RequestBody } from '../../core/service/input.ts';
import { groundsOf } from '../../core/service/reply.ts';
import type { ValueOf } from '../../core/shape/shapes.ts';
import { storeText } from '../../core/store/store-text.ts';
import { createServiceRequest, findPreference } from '../../server/arrival.ts';
import { splitMount, writeRule } from './rule-text.ts';

const NO_CLIENT: ReadyReply = {
  send() {},
  onDisconnect(act) {
    act();
    return () => {};
  },
};

export const TIME_TRAVEL_HANDLERS = {
  getStateOfRequest: withStates(
    async (
      { query: { at = 'before' } }: ControlCall<unknown, ValueOf<typeof SIDE>>,
      _exchange,
      states,
    ) => {
      return { status: 200, content: storeText(states[at].store) };
    },
  ),
  rewind: withStates((call: ControlCall<ValueOf<typeof REWIND>>, exchange, states) => {
    const { to = 'before' } = call.body;
    return edit(call, `rewound to ${to} call ${exchange.number}`, (state) =>
      outcome(state, NO_CONTENT, { ...states[to], scenarios: state.scenarios }),
    );
  }),
  async undo({ parts: { persistence }, sandbox, headers }: ControlCall) {
    const { whyNoUndo } = persistence;
    if (whyNoUndo !== undefined) return refuse('not_found', 404, whyNoUndo);
    const undone = await undoLatest(persistence, sandbox, readCaller(headers));
    if (undone !== undefined) return json<Undone>(undone);
    return refuse('nothing_to_undo', 409, 'there is nothing left to undo');
  },
  listAlternatives: withStates(async (call, exchange, states) => {
    // A deployment decides by no assumption of the mock.
    const { upstream } = call.parts.sandboxes;
    if (exchange.isRefused || upstream !== undefined) return json<readonly Alternative[]>([]);
    const request = recreateRequest(exchange);
    if (request === undefined) return refuseDropped(exchange);
    return json(await findAlternatives(call, exchange, request, states.before));
  }),
  replay: withExchange(async (call, exchange) => {
    if (exchange.isRefused) return refuseUnreplayable(exchange);
    const { upstream } = call.parts.sandboxes;
    if (upstream !== undefined) {
      const message = `request ${exchange.number} cannot be replayed: ${upstream.url} answers in place of the mock; send it again with a client`;
      return refuse('not_replayable', 409, message);
    }
    const request = recreateRequest(exchange);
    if (request === undefined) return refuseDropped(exchange);
    const { sandbox, parts } = call;
    const preference = await preferenceOf(request, sandbox.state, parts);
    const replayed = await parts.persistence.keep(sandbox, () =>
      sandbox.answer(request, currentInstant(), preference),
    );
    if (isHeld(replayed)) sandbox.holds.wait(replayed, NO_CLIENT);
    return json<ValueOf<typeof REPLAYED>>({ number: replayed.number });
  }),
  getRuleOfRequest: withExchange(async (_call, exchange) => {
    const content = writeRule(exchange);
    if (content !== undefined) return { status: 200, mediaType: YAML_TYPE, content };
    return refuse('not_found', 404, `exchange ${exchange.number} reached no operation`);
  }),
};

/** Replaying a refused request would run it, without what it was refused for. */
function refuseUnreplayable({ number, reasons }: Exchange): ControlReply {
  const message = `request ${number} cannot be replayed: it was refused before it reached an operation (${reasons.join('; ')})`;
  return refuse('not_replayable', 409, message);
}

function refuseDropped({ number }: Exchange): ControlReply {
  return refuse('body_dropped', 409, `the journal has dropped the body of request ${number}`);
}

function preferenceOf(
  { headers }: ServiceRequest,
  state: State,
  { platform }: ControlCall['parts'],
) {
  const prefer = findHeader(headers, 'prefer');
  return prefer === undefined
    ? undefined
    : findPreference(prefer, state, platform, async () => state);
}

async function findAlternatives(
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
  try {
    // The time at which the sandbox's clock showed the time of the exchange.
    const now = { wall: exchange.at - clock.ahead, steady: request.receivedAt };
    const preference = await preferenceOf(request, before, parts);
    const own = answer(before, request, now, preference).result;
    // Listing a large store takes long, so let other requests run before the next.
    await pause();
    const alternatives: Alternative[] = [];
    const ids = ASSUMPTION_IDS.filter((id) => {
      return operation === undefined || assumptionShape(id).touches.includes(operation);
    });
    for (const id of ids) {
      for (const option of optionsOf(id)) {
        if (option === settings.choices[id] || !isOptionOf(id, option) || hasLeft) continue;
        const byHand = { ...settings.byHand, [id]: option };
        const other = answer(changeLayers(before, { byHand }), request, now, preference).result;
        if (!isSameReply(own, other)) {
          alternatives.push(describeAlternative(id, option, other));
        }
        await pause();
      }
    }
    const decided = new Set(groundsOf(exchange.basis).map((by) => by.replace(/=.*/, '')));
    return alternatives.sort(
      (a, b) => Number(decided.has(b.assumption)) - Number(decided.has(a.assumption)),
    );
  } finally {
    stopListening();
  }
}

function isSameReply({ reply: one }: Exchange, { reply: other }: Exchange): boolean {
  if (one === undefined || other === undefined) return one === other;
  if (one.status !== other.status || one.size !== other.size) return false;
  const [body, otherBody] = [one.body, other.body];
  const isSame =
    body instanceof Uint8Array && otherBody instanceof Uint8Array
      ? body.every((byte, at) => byte === otherBody[at])
      : body === otherBody;
  const [headers, otherHeaders] = [one, other].map((reply) =>
    withoutHeaders(reply.headers, NOT_COMPARED).join('\n'),
  );
  return isSame && headers === otherHeaders;
}

const NOT_COMPARED: ReadonlySet<string> = new Set(['mock-basis', 'date']);

function describeAlternative(id: AssumptionId, option: string, other: Exchange): Alternative {
  const { options } = ASSUMPTIONS[id];
  const { reply } = other;
  const text = reply && reply.size <= LIMITS.keptBody ? bodyText(reply) : undefined;
  return {
    assumption: id,
    option,
    meaning: options.find(({ name }) => name === option)?.meaning ?? '',
    status: other.status,
    basis: other.basis.kind,
    by: groundsOf(other.basis),
    body: text === undefined ? undefined : (tryParseJson(text, parseInput) ?? text),
  };
}

function withStates<Body, Query>(
  handle: ExchangeHandler<
    Body,
    Query,
    [exchange: Exchange, states: { before: State; after: State }]
  >,
): ExchangeHandler<Body, Query, []> {
  return withExchange(async (call, exchange) => {
    const { whyNoUndo } = call.parts.persistence;
    if (whyNoUndo !== undefined) return refuse('not_found', 404, whyNoUndo);
    const states = call.sandbox.journal.remembered(exchange.number);
    if (states !== undefined) return handle(call, exchange, states);
    const message = `the states around exchange ${exchange.number} are no longer kept: files were loaded again`;
    return refuse('not_found', 404, message);
  });
}

/** @returns undefined if the journal has dropped the body */
function recreateRequest(exchange: Exchange): ServiceRequest | undefined {
  const { number, method, authorization, request } = exchange;
  if (isDropped(request)) return undefined;
  const headers = mergeHeaders(request.headers);
  const { mount, url } = splitMount(exchange);
  const head = { method, headers, rawHeaders: request.headers, mount, port: undefined };
  const { body } = request;
  const bytes = typeof body === 'string' ? toBytes(body) : body;
  const received: RequestBody = bytes === undefined ? NO_BODY : new BodyBytes(bytes);
  const target = parseTarget(url);
  const receivedAt = steadyNow();
  return {
    ...createServiceRequest({ ...head, receivedAt }, target, authorization, received),
    replays: number,
  };
}

/** Undoes the latest edit. @returns undefined if there is none */
export async function undoLatest(
  persistence: Persistence,
  sandbox: Sandbox,
  by: string,
): Promise<Undone | undefined> {
  // The journal lists an edit only once it is saved.
  while (sandbox.unsaved !== undefined) await persistence.keep(sandbox, () => sandbox.read());
  return persistence.keep(sandbox, () => {
    const last = sandbox.journal.edits.last();
    if (last === undefined) return outcome(sandbox.read().state, undefined);
    const text = { what: `undid: ${last.edit.what}`, by, isUndo: true };
    return sandbox.change((state) => undo(state, last), currentInstant(), text);
  });
}

function undo(state: State, { edit, before, counters: left, laterCalls }: LastEdit) {
  const { what } = edit;
  const { store, past } = state;
  // What later calls have counted stays: a rule for the first call must not match another one.
  const counters = {
    ...state.counters,
    rules: addLater(before.counters.rules, left.rules, state.counters.rules),
    rates: addLater(before.counters.rates, left.rates, state.counters.rates),
  };
  if (!changesNoRecord(edit)) return outcome(state, { what, laterCalls }, { ...before, counters });
  // Undoing a setting leaves the records as later calls have made them.
  return outcome(state, { what, laterCalls: 0 }, { ...before, store, past, counters });
}

/** The counts before an edit, and what calls have counted since `left`, as the edit left them. */
function addLater<Count>(
  before: ReadonlyMap<string, Count>,
  left: ReadonlyMap<string, Count>,
  now: ReadonlyMap<string, Count>,
): ReadonlyMap<string, Count> {
  if (now === left) return before;
  return new Map([...before, ...[...now].filter(([name, count]) => left.get(name) !== count)]);
}

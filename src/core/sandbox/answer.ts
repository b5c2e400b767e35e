import { findErrorCodes } from '../contract/error-codes.ts';
import { type OperationId, operationShape } from '../contract/operations.ts';
import type { RecordName } from '../contract/records.ts';
import { withoutHeaders } from '../raw-http.ts';
import { FAULTS } from '../scenario/fault-table.ts';
import type { RuleReply } from '../scenario/reply-shape.ts';
import { CallCounter, matchRules, type RuleMatch } from '../scenario/rules.ts';
import { type Instant, readClock } from '../service/clock.ts';
import type { Call } from '../service/input.ts';
import { listInventory, updateInventory } from '../service/inventory.ts';
import { NO_RATES } from '../service/keyring.ts';
import {
  answerWithoutOperation,
  challenge,
  type Operation,
  type ServiceState,
} from '../service/operation.ts';
import { cancelOrder, conflictBody, listOrders } from '../service/orders.ts';
import { createPet, deprecationHeaders, getPet, listPets } from '../service/pets.ts';
import {
  AssumptionTrace,
  type Body,
  errorBody,
  errorReply,
  RETRY_AFTER_S,
  type Reply,
} from '../service/reply.ts';
import { createExchange } from './create-exchange.ts';
import type { DecidedRequest, Exchange, ServiceRequest } from './exchange.ts';
import { findInRequest, judgeRetry } from './findings.ts';
import type { EditText } from './journal-page.ts';
import type { Preference } from './preference.ts';
import type { State } from './state.ts';

export const SERVICE = {
  listPets,
  createPet,
  getPet,
  listInventory,
  updateInventory,
  listOrders,
  cancelOrder,
} satisfies Record<OperationId, Operation>;

/** What a call would do. Nothing has happened until a sandbox takes it. */
export interface Outcome<T> {
  readonly before: State;
  readonly state: State;
  readonly result: T;
  readonly exchange?: Exchange | undefined;
  readonly edit?: EditText | undefined;
  /** `all` includes coverage and findings. */
  readonly clears?: 'journal' | 'all' | undefined;
  /** No earlier state can come back: files say otherwise by now. */
  readonly forgets?: boolean | undefined;
  /** Whether it undoes the latest edit. */
  readonly undoes?: boolean | undefined;
}

/** @param changes what becomes different; nothing if it is left out */
export function outcome<T>(before: State, result: T, changes?: Partial<State>): Outcome<T> {
  return { before, state: changes === undefined ? before : { ...before, ...changes }, result };
}

/** Pure. The request decides first, then the first matching rule, then the service. */
export function answer(
  state: State,
  request: ServiceRequest,
  now: Instant,
  preference?: Preference,
): Outcome<Exchange> {
  const serviceState = readServiceState(state, now.wall);
  const { decided, state: after } = decide(state, request, serviceState, preference);
  const found = findInRequest(decided);
  // Held replies have no send time yet.
  if (request.call === undefined || decided.match?.hold !== undefined) {
    const exchange = createExchange(decided, found, now, state);
    return { before: state, state: after, result: exchange, exchange };
  }
  const { counters } = after;
  const { findings, retries } = judgeRetry(counters.retries, decided, now);
  const all = findings.length === 0 ? found : [...found, ...findings];
  const exchange = createExchange(decided, all, now, state);
  return {
    before: state,
    state: retries === counters.retries ? after : { ...after, counters: { ...counters, retries } },
    result: exchange,
    exchange,
  };
}

function decide(
  state: State,
  request: ServiceRequest,
  serviceState: ServiceState,
  preference: Preference | undefined,
): { readonly decided: DecidedRequest; readonly state: State } {
  const { call, given, route } = request;
  let after = state;
  let reply: Reply | undefined;
  let match: RuleMatch | undefined;
  if (given !== undefined) {
    match = given.match;
    reply = applyRule(serviceState, call, match, given.reply);
  } else if (call === undefined) {
    if (route === undefined) throw new Error('A request has neither a call nor a route.');
    reply = answerWithoutOperation(serviceState.choices, route);
  } else if (preference?.kind === 'wrong' && preference.strict) {
    const trace = new AssumptionTrace(serviceState.choices);
    reply = errorReply(trace, 'invalid_input', 400, preference.wrong);
  } else {
    ({ state: after, result: match } = matchCall(state, call, preference));
    if (needsService(match)) {
      const result = SERVICE[call.operation](serviceState, call);
      after = withResult(after, result.store, result.rates);
      reply = result.reply;
    }
    reply = applyRule(serviceState, call, match, reply);
  }
  if (preference !== undefined) reply = reply && markPreference(reply, preference);
  const isReplaced = match?.fault !== undefined && FAULTS[match.fault.kind] === 'replaces';
  const shown = isReplaced ? undefined : reply;
  return { decided: { request, serviceState, reply, shown, match }, state: after };
}

function withResult(state: State, store: State['store'], rates: ServiceState['rates']): State {
  if (store === state.store && rates === state.counters.rates) return state;
  const { settings, clock, counters, snapshots, scenarios, latches } = state;
  // Spreading the state costs a PATCH 2 %.
  return {
    store,
    settings,
    clock,
    counters: rates === counters.rates ? counters : { ...counters, rates },
    snapshots,
    scenarios,
    latches,
  };
}

/** Latches go first, then what the request prefers, then active scenarios. Each counts the call. */
export function matchCall(
  state: State,
  call: Call,
  preference: Preference | undefined,
): Outcome<RuleMatch | undefined> {
  if (preference?.kind === 'status') return outcome(state, preference.match);
  const { rules: book, start } = state.settings;
  const counter = new CallCounter(state.counters.rules);
  let latch: RuleMatch | undefined;
  for (const { book: latchBook } of state.latches.values()) {
    const latched = matchRules(latchBook, counter, call, start.seed);
    latch ??= latched;
  }
  const preferred =
    preference?.kind === 'scenario'
      ? matchRules(preference.book, counter, call, start.seed)
      : undefined;
  const match = preferred ?? matchRules(book, counter, call, start.seed);
  const { counts: rules } = counter;
  const result = latch === undefined ? match : addLatch(latch, match);
  if (rules === state.counters.rules) return outcome(state, result);
  return outcome(state, result, { counters: { ...state.counters, rules } });
}

/** A latch adds its hold to the rule that matched, unless it has a reply of its own. */
function addLatch(latch: RuleMatch, match: RuleMatch | undefined): RuleMatch {
  if (latch.reply !== undefined || latch.fault !== undefined || match === undefined) return latch;
  return { ...match, delay: 0, hold: latch.hold };
}

export function needsService(match: RuleMatch | undefined): boolean {
  if (match === undefined || match.apply) return true;
  const { reply, fault } = match;
  return (
    reply === undefined && (fault === undefined || !/replaces|substitutes/.test(FAULTS[fault.kind]))
  );
}

/** @param own undefined if neither the service nor a deployment was asked */
function applyRule(
  serviceState: ServiceState,
  call: Call | undefined,
  match: RuleMatch | undefined,
  own: Reply | undefined,
): Reply | undefined {
  if (match === undefined) return own;
  const basis = { kind: 'forced', by: match.by } as const;
  if (match.fault?.kind === 'html') return { ...PROXY_ERROR, basis };
  if (match.reply !== undefined && call !== undefined) {
    const { operation } = call;
    const run = () => SERVICE[operation]({ ...serviceState, rates: NO_RATES }, call);
    return { ...createForcedReply(serviceState, operation, match.reply, run), basis };
  }
  return match.fault === undefined ? own : own && { ...own, basis };
}

type BareReply = Omit<Reply, 'basis'>;

const PROXY_ERROR: BareReply = {
  status: 502,
  headers: ['Server', 'proxy', 'Content-Type', 'text/html', 'Connection', 'close'],
  body: {
    kind: 'raw',
    text: `<html>
<head><title>502 Bad Gateway</title></head>
<body>
<center><h1>502 Bad Gateway</h1></center>
<hr><center>proxy</center>
</body>
</html>
`,
  },
};

/** @param runOperation what the service itself replies now */
function createForcedReply(
  serviceState: ServiceState,
  id: OperationId,
  { status, headers, body }: RuleReply,
  runOperation: () => ReturnType<Operation>,
): BareReply {
  if (body !== undefined) return { status, headers, body };
  const own = status < 400 ? runOperation().reply : undefined;
  const known = own?.status === status ? own : createCannedReply(serviceState, id, status);
  const names = headers.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  return { ...known, headers: [...withoutHeaders(known.headers, new Set(names)), ...headers] };
}

/** A status that no operation has gets an Error from 400 up, and no body below. */
function createCannedReply(serviceState: ServiceState, id: OperationId, status: number): BareReply {
  const { choices } = serviceState;
  const headers = [
    ...(status === 401 ? challenge(choices, true) : []),
    ...(status === 429 || status === 503 ? ['Retry-After', RETRY_AFTER_S] : []),
    ...(operationShape(id).sunset === undefined ? [] : deprecationHeaders(choices)),
  ];
  if (status < 400) return { status, headers, body: createSuccessBody(serviceState, id, status) };
  const [code = 'other_error'] = findErrorCodes(id, status);
  const message = code.replaceAll('_', ' ');
  if (code === 'order_already_shipped') {
    return { status, headers, body: conflictBody(serviceState, code, message) };
  }
  const text = JSON.stringify(errorBody(choices, code, status, message));
  return { status, headers, body: { kind: 'json', text } };
}

function createSuccessBody(serviceState: ServiceState, id: OperationId, status: number): Body {
  const shown = operationShape(id).replies[status]?.body;
  if (shown === undefined) return { kind: 'none' };
  const text = formatFirst(serviceState, shown.record);
  return { kind: 'json', text: shown.list ? `[${text}]` : text };
}

function formatFirst({ store, represent }: ServiceState, record: RecordName): string {
  const [animal = { id: 1n, name: 'Bella', categoryId: 1n }] = store.animals.ascending();
  switch (record) {
    case 'InventoryEntry': {
      const empty = { petId: animal.id, quantity: 0, status: 'sold' };
      const [entry = empty] = store.inventory.ascending();
      return represent.inventoryEntry(entry);
    }
    case 'Order': {
      const [order = { id: 1n }] = store.orders.ascending();
      return represent.order(order);
    }
    case 'Animal':
    case 'Error': // never what a success shows
      return represent.animal(animal);
  }
}

/** RFC 7240, section 3. */
function markPreference(reply: Reply, preference: Preference): Reply {
  if (preference.kind !== 'wrong') {
    return { ...reply, headers: [...reply.headers, 'Preference-Applied', preference.applied] };
  }
  const { wrong, strict } = preference;
  const reason = reply.reason === undefined || strict ? wrong : `${reply.reason}; ${wrong}`;
  return { ...reply, reason, unknownPreference: wrong };
}

export function readServiceState(
  { store, settings, clock, counters }: State,
  wall: number,
): ServiceState {
  const { start, startedAt, choices, represent, keys } = settings;
  return {
    store,
    choices,
    represent,
    keys,
    rates: counters.rates,
    seed: start.seed,
    now: readClock(clock, wall),
    startedAt,
  };
}

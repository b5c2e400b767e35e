import { operationShape } from '../contract/operations.ts';
import { DEFAULTS } from '../limits.ts';
import { findHeader } from '../raw-http.ts';
import { effectOf } from '../scenario/fault-table.ts';
import { CallCounter, matchRules, type RuleMatch } from '../scenario/rules.ts';
import { type Instant, readClock } from '../service/clock.ts';
import type { Call } from '../service/input.ts';
import type { ServiceState } from '../service/operation.ts';
import { AssumptionTrace, errorReply, type Reply } from '../service/reply.ts';
import { SERVICE } from '../service/service.ts';
import { refuseUnknownRoute } from '../service/unknown-route.ts';
import { createExchange } from './create-exchange.ts';
import type { EditText } from './edit-log.ts';
import {
  type DecidedRequest,
  type Exchange,
  type ExchangeUnderWay,
  NONE,
  type ServiceRequest,
} from './exchange.ts';
import { findInRequest } from './findings.ts';
import { forceReply } from './forced-reply.ts';
import type { Preference } from './preference.ts';
import { judgeRepetition, type RecentCalls } from './retries.ts';
import { pastStore, rememberStore, type State } from './state.ts';

/** The result of a call that has not changed anything yet: `Sandbox.take` makes it happen. */
export interface Outcome<T> {
  readonly before: State;
  readonly state: State;
  readonly result: T;
  readonly exchange?: ExchangeUnderWay | undefined;
  readonly edit?: EditText | undefined;
  /** What to clear first; `all` is the journal with coverage and findings. */
  readonly clears?: 'journal' | 'all' | undefined;
  /** Set if files were loaded again, so that an undo must not bring back an earlier state. */
  readonly forgets?: boolean | undefined;
}

/** @param changes the parts of the state that change; nothing changes without them */
export function outcome<T>(before: State, result: T, changes?: Partial<State>): Outcome<T> {
  return { before, state: changes === undefined ? before : { ...before, ...changes }, result };
}

/**
 * Answers a request. Pure: it returns the next state and the exchange, and changes nothing.
 *
 * The reply comes from the first of these: a supplied one (a refusal, or from a deployment), the
 * request's `Prefer`, the first matching rule, the operation. A rule may also change the
 * operation's reply. Then the call is judged for findings and compared with earlier ones. A call
 * that a person makes with the mock's own tools says nothing about the client, so it counts neither
 * in findings nor in coverage.
 */
export function answer(
  state: State,
  request: ServiceRequest,
  now: Instant,
  preference?: Preference,
): Outcome<Exchange> {
  const serviceState = readServiceState(state, now.wall);
  const { decided, after } = decide(state, request, serviceState, preference);
  const { counters } = after;
  const isByHand = isManual(request);
  const { findings, recent } = isByHand
    ? { findings: NONE, recent: counters.recent }
    : judge(counters.recent, decided, now);
  const recorded = createExchange(decided, findings, now, state);
  const exchange = isByHand ? { ...recorded, covers: NONE } : recorded;
  const past = state.settings.isLagging
    ? rememberStore(state.past, state.store, after.store, serviceState.now)
    : state.past;
  const isSame = recent === counters.recent && past === state.past;
  const next = isSame ? after : { ...after, past, counters: { ...counters, recent } };
  return { before: state, state: next, result: exchange, exchange };
}

/** Finds what the client should not do against the real service, also in view of earlier calls. */
function judge(earlier: RecentCalls, decided: DecidedRequest, now: Instant) {
  const found = findInRequest(decided);
  const { findings, recent } = judgeRepetition(earlier, decided, now);
  return { findings: findings.length === 0 ? found : [...found, ...findings], recent };
}

/** Whether a person sent it with the mock's own tools: a replay, or a call of the dashboard. */
export function isManual({
  headers,
  replays,
}: Pick<ServiceRequest, 'headers' | 'replays'>): boolean {
  return replays !== undefined || findHeader(headers, 'mock-client') !== undefined;
}

/** Decides the reply. `after` is the state after the operation and after rules counted the call. */
function decide(
  state: State,
  request: ServiceRequest,
  serviceState: ServiceState,
  preference: Preference | undefined,
): { readonly decided: DecidedRequest; readonly after: State } {
  const { reply: own, match, after } = chooseReply(state, request, serviceState, preference);
  const isHead = request.method === 'HEAD';
  const forced = match ? forceReply(serviceState, request.call, match, own, isHead) : own;
  const { sender, isDelivered } = effectOf(match?.fault);
  // A proxy does not understand `Prefer`.
  const isMarked = preference !== undefined && sender !== 'proxy';
  const reply = forced && isMarked ? markPreference(forced, preference) : forced;
  const received = sender === 'nobody' ? undefined : reply;
  const isCarriedOut = own !== undefined && own.status < 400;
  const decided = { request, serviceState, reply, received, match, isCarriedOut, isDelivered };
  return { decided, after };
}

/** The reply before a rule changes it, that rule, and the state after the operation. */
interface Choice {
  readonly reply: Reply | undefined;
  readonly match?: RuleMatch | undefined;
  readonly after: State;
}

function chooseReply(
  state: State,
  { call, supplied, route }: ServiceRequest,
  serviceState: ServiceState,
  preference: Preference | undefined,
): Choice {
  const { choices } = serviceState;
  if (supplied !== undefined) return { reply: supplied.reply, match: supplied.match, after: state };
  if (call === undefined) {
    if (route === undefined) throw new Error('A request has neither a call nor a route.');
    return { reply: refuseUnknownRoute(choices, route), after: state };
  }
  if (preference?.kind === 'wrong' && preference.strict) {
    const trace = new AssumptionTrace(choices);
    return { reply: errorReply(trace, 'invalid_input', 400, preference.wrong), after: state };
  }
  const { state: counted, result: match } = matchCall(state, call, preference);
  if (!needsService(match)) return { reply: undefined, match, after: counted };
  return runOperation(counted, call, match, serviceState);
}

function runOperation(
  state: State,
  call: Call,
  match: RuleMatch | undefined,
  serviceState: ServiceState,
): Choice {
  const { store, now } = serviceState;
  const isRead = operationShape(call.operation).method === 'GET';
  const seen = match?.lag && isRead ? pastStore(state.past, match.lag, store, now) : store;
  if (match === undefined || seen === store) {
    const { reply, store: next, rates } = SERVICE[call.operation](serviceState, call);
    return { reply, match, after: withResult(state, next, rates) };
  }
  const { reply, rates } = SERVICE[call.operation]({ ...serviceState, store: seen }, call);
  const late: Reply = { ...reply, basis: { kind: 'forced', by: match.by } };
  return { reply: late, match, after: withResult(state, store, rates) };
}

function withResult(state: State, store: State['store'], rates: ServiceState['rates']): State {
  const { counters } = state;
  if (rates !== counters.rates) return { ...state, store, counters: { ...counters, rates } };
  return store === state.store ? state : { ...state, store };
}

/**
 * Finds the rule for a call. A status in `Prefer` decides alone, and no rule counts the call. Else
 * a scenario in `Prefer` is tried before the active ones. All latches that match count the call.
 */
export function matchCall(
  state: State,
  call: Call,
  preference: Preference | undefined,
): Outcome<RuleMatch | undefined> {
  if (preference?.kind === 'status') return outcome(state, preference.match);
  const { rules: book, start } = state.settings;
  const isPlain = preference === undefined && state.latches.size === 0;
  if (isPlain && book.get(call.operation)?.length === 0) return outcome(state, undefined);
  const counter = new CallCounter(state.counters.rules);
  const { seed = DEFAULTS.seed } = start.options;
  let latched: RuleMatch | undefined;
  for (const latch of state.latches.values()) {
    const match = matchRules(latch.book, counter, call, seed);
    latched ??= match;
  }
  const preferred =
    preference?.kind === 'scenario' ? matchRules(preference.book, counter, call, seed) : undefined;
  const match = preferred ?? matchRules(book, counter, call, seed);
  const { counts: rules } = counter;
  const result = latched === undefined ? match : addHold(latched, match);
  if (rules === state.counters.rules) return outcome(state, result);
  return outcome(state, result, { counters: { ...state.counters, rules } });
}

/** Without a reply of its own, a latch replaces only the hold or delay of the rule that matched. */
function addHold(latched: RuleMatch, match: RuleMatch | undefined): RuleMatch {
  const hasReply = (latched.reply ?? latched.patch ?? latched.fault) !== undefined;
  if (hasReply || match === undefined) return latched;
  return { ...match, delay: 0, hold: latched.hold };
}

export function needsService(match: RuleMatch | undefined): boolean {
  if (match === undefined || match.apply) return true;
  return match.reply === undefined && effectOf(match.fault).runs;
}

/** Tells the client which preference was applied (RFC 7240, section 3). */
function markPreference(reply: Reply, preference: Preference): Reply {
  if (preference.kind !== 'wrong') {
    const { applied } = preference;
    return applied === undefined
      ? reply
      : { ...reply, headers: [...reply.headers, 'Preference-Applied', applied] };
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
    options: start.options,
    now: readClock(clock, wall),
    startedAt,
  };
}

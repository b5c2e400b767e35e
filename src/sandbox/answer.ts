import { performance } from 'node:perf_hooks';
import type { OperationId } from '../contract/operations.ts';
import { type RawHeaders, without } from '../raw-headers.ts';
import { FAULTS } from '../scenario/fault-table.ts';
import type { RuleReply } from '../scenario/reply-shape.ts';
import { matchRules, type RuleMatch } from '../scenario/rules.ts';
import { type Instant, readClock } from '../service/clock.ts';
import type { Call } from '../service/input.ts';
import { listInventory, updateInventory } from '../service/inventory.ts';
import { NO_RATES } from '../service/keyring.ts';
import { answerWithoutOperation } from '../service/no-operation.ts';
import type { Operation, World } from '../service/operation.ts';
import { cancelOrder, listOrders } from '../service/orders.ts';
import { createPet, getPet, listPets } from '../service/pets.ts';
import { AssumptionTrace, errorReply, type Reply } from '../service/reply.ts';
import { cannedReply } from './canned-reply.ts';
import { createExchange } from './create-exchange.ts';
import type { Exchange, ServiceRequest } from './exchange.ts';
import type { FindingText } from './finding-codes.ts';
import { findInCall, findUnmatched } from './findings.ts';
import type { Preference } from './preference.ts';
import { judgeRetry } from './retries.ts';
import type { State } from './state.ts';

/** The function of each operation. A missing one does not compile. */
export const SERVICE = {
  listPets,
  createPet,
  getPet,
  listInventory,
  updateInventory,
  listOrders,
  cancelOrder,
} satisfies Record<OperationId, Operation>;

/** What a request makes of a state. */
export interface Answer {
  /** The same state if nothing changed. */
  readonly state: State;
  readonly exchange: Exchange;
}

/**
 * Answers a request: as it prefers, else as the first matching rule says, else as the service does.
 * Pure: the same arguments give the same answer.
 *
 * @param preference what the request asks of the mock
 */
export function answer(
  state: State,
  request: ServiceRequest,
  now: Instant,
  preference?: Preference,
): Answer {
  const world = worldAt(state, now.wall);
  const { call, given, route } = request;
  if (given !== undefined) {
    const reply = ruledReply(world, call, given.match, given.reply);
    return conclude({ state, request, world, now, reply, match: given.match, preference });
  }
  if (call === undefined) {
    if (route === undefined) throw new Error('A request has neither a call nor a route.');
    const reply = answerWithoutOperation(world.choices, route);
    return conclude({ state, request, world, now, reply, match: undefined, preference });
  }
  if (preference?.kind === 'wrong' && preference.strict) {
    const decidedBy = new AssumptionTrace(world.choices);
    const reply = errorReply(decidedBy, 'invalid_input', 400, preference.wrong);
    return conclude({ state, request, world, now, reply, match: undefined, preference });
  }
  const { state: counted, match } = matchCall(state, call, preference);
  if (!needsService(match)) {
    const reply = ruledReply(world, call, match, undefined);
    return conclude({ state: counted, request, world, now, reply, match, preference });
  }
  const { reply: own, store, rates } = SERVICE[call.operation](world, call);
  const reply = ruledReply(world, call, match, own);
  const after = withResult(counted, store, rates);
  return conclude({ state: after, request, world, now, reply, match, preference });
}

/** The state itself, if nothing changed. */
function withResult(state: State, store: State['store'], rates: World['rates']): State {
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

/** The state in which a call is counted, and the rule that decides about it. */
export interface MatchedCall {
  readonly state: State;
  readonly match: RuleMatch | undefined;
}

/**
 * The rule that decides about a call: the latches first, then what the request prefers, then the
 * active scenarios. Every one of them counts the call.
 */
export function matchCall(
  state: State,
  call: Call,
  preference: Preference | undefined,
): MatchedCall {
  if (preference?.kind === 'status') return { state, match: preference.match };
  const { rules: book, start } = state.settings;
  let counts = state.counters.rules;
  let latch: RuleMatch | undefined;
  let match: RuleMatch | undefined;
  for (const { book: latchBook } of state.latches.values()) {
    const result = matchRules(latchBook, counts, call, start.seed);
    latch ??= result.match;
    counts = result.counts;
  }
  if (preference?.kind === 'scenario') {
    ({ match, counts } = matchRules(preference.book, counts, call, start.seed));
  }
  if (match === undefined) ({ match, counts } = matchRules(book, counts, call, start.seed));
  const counted =
    counts === state.counters.rules
      ? state
      : { ...state, counters: { ...state.counters, rules: counts } };
  return { state: counted, match: latch === undefined ? match : addLatch(latch, match) };
}

/** A latch adds its hold to the rule that matched, unless it has a reply of its own. */
function addLatch(latch: RuleMatch, match: RuleMatch | undefined): RuleMatch {
  if (latch.reply !== undefined || latch.fault !== undefined || match === undefined) return latch;
  return { ...match, delay: 0, hold: latch.hold };
}

/** Whether the service, or a deployment in its place, must be asked for its reply or its effect. */
export function needsService(match: RuleMatch | undefined): boolean {
  if (match === undefined || match.apply) return true;
  const { reply, fault } = match;
  return reply === undefined && (fault === undefined || FAULTS[fault.kind] !== 'replaces');
}

/** @param own the reply of the service or of a deployment; undefined if neither was asked */
function ruledReply(
  world: World,
  call: Call | undefined,
  match: RuleMatch | undefined,
  own: Reply | undefined,
): Reply | undefined {
  if (match === undefined) return own;
  const { by, reply: ruleReply, fault } = match;
  const basis = { kind: 'forced', by } as const;
  if (ruleReply !== undefined && call !== undefined) {
    return { ...forcedReply(world, call, ruleReply), basis };
  }
  return fault === undefined ? own : own && { ...own, basis };
}

function forcedReply(world: World, call: Call, ruleReply: RuleReply): Omit<Reply, 'basis'> {
  const { status, headers, body } = ruleReply;
  if (body !== undefined) return { status, headers, body };
  const known = knownReply(world, call, status);
  return { ...known, headers: mergeHeaders(known.headers, headers) };
}

/** For a success, what the service itself shows, if that is one; else a reply made for the status. */
function knownReply(world: World, call: Call, status: number): Omit<Reply, 'basis'> {
  if (status < 400) {
    const { reply } = SERVICE[call.operation]({ ...world, rates: NO_RATES }, call);
    if (reply.status === status) return reply;
  }
  return cannedReply(world, call.operation, status);
}

/** The headers, but those in `later` in place of `earlier` ones of the same name. */
function mergeHeaders(earlier: RawHeaders, later: RawHeaders): RawHeaders {
  const names = later.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  return [...without(earlier, new Set(names)), ...later];
}

/** A request that is decided. */
interface Decided {
  /** After the call. */
  readonly state: State;
  readonly request: ServiceRequest;
  /** Before the call. */
  readonly world: World;
  readonly now: Instant;
  readonly reply: Reply | undefined;
  readonly match: RuleMatch | undefined;
  readonly preference: Preference | undefined;
}

/** Judges what the client did, and makes the exchange. */
function conclude(decided: Decided): Answer {
  const { state, request, world, now, match } = decided;
  const { call, route } = request;
  const reply = decided.reply && withPreference(decided.reply, decided.preference);
  const isShown = match?.fault === undefined || FAULTS[match.fault.kind] !== 'replaces';
  const shown = isShown ? reply : undefined;
  let findings = NO_FINDINGS;
  if (call !== undefined) findings = findInCall(call, shown, world);
  else if (route !== undefined) findings = findUnmatched(route);
  let after = state;
  // Held replies have no send time yet.
  if (call !== undefined && match?.hold === undefined) {
    const leavesAt = performance.timeOrigin + now.steady + (match?.delay ?? 0);
    const context = { request, call, reply: shown, at: world.now, leavesAt };
    const judged = judgeRetry(state.counters.retries, context);
    if (judged.findings.length > 0) findings = [...findings, ...judged.findings];
    if (judged.retries !== state.counters.retries) {
      after = { ...state, counters: { ...state.counters, retries: judged.retries } };
    }
  }
  const isFrozen = state.clock.frozenAt !== undefined;
  const exchange = createExchange({
    request,
    world,
    reply,
    match,
    findings,
    plain: state.settings.start.plain,
    wall: now.wall,
    elapsed: isFrozen ? 0 : now.steady - request.receivedAt,
  });
  return { state: after, exchange };
}

const NO_FINDINGS: readonly FindingText[] = [];

/** Tells the client and the journal whether its preference was applied (RFC 7240, section 3). */
function withPreference(reply: Reply, preference: Preference | undefined): Reply {
  if (preference === undefined) return reply;
  if (preference.kind === 'wrong') {
    const { wrong } = preference;
    const reason =
      reply.reason === undefined || preference.strict ? wrong : `${reply.reason}; ${wrong}`;
    return { ...reply, reason, unknownPreference: wrong };
  }
  return { ...reply, headers: [...reply.headers, 'Preference-Applied', preference.applied] };
}

/** What operations see of a state at an instant. */
export function worldAt({ store, settings, clock, counters }: State, wall: number): World {
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

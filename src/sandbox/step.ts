import type { OperationId } from '../contract/operations.ts';
import { type RawHeaders, without } from '../raw-headers.ts';
import { FAULTS } from '../scenario/fault-table.ts';
import type { RuleReply } from '../scenario/reply-shape.ts';
import { type Decision, decide, type Outcome } from '../scenario/rules.ts';
import { type Instant, timeOf } from '../service/clock.ts';
import type { Call } from '../service/input.ts';
import { listInventory, updateInventory } from '../service/inventory.ts';
import { NO_RATES } from '../service/keyring.ts';
import type { Operation, World } from '../service/operation.ts';
import { cancelOrder, listOrders } from '../service/orders.ts';
import { createPet, getPet, listPets } from '../service/pets.ts';
import { type Basis, errorReply, Grounds, type Reply } from '../service/reply.ts';
import { knownReply } from './known-reply.ts';
import type { Preference } from './preference.ts';
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

/** What a call makes of a state. */
export interface Step {
  readonly state: State;
  readonly outcome: Outcome;
}

/**
 * Answers a call: as the request prefers, else as the first matching rule says, else as the service
 * does. Pure: the same arguments give the same result.
 *
 * @param preferred what the request asks of the mock
 */
export function step(state: State, call: Call, now: Instant, preferred?: Preference): Step {
  const world = worldOf(state, now.wall);
  const ruling = plan(state, world, call, preferred);
  if (ruling.outcome !== undefined) return { state: ruling.state, outcome: ruling.outcome };
  const { reply, store, rates } = SERVICE[call.operation](world, call);
  const outcome = outcomeOf(world, call, ruling.decision, reply, preferred);
  return { state: after(ruling.state, store, rates), outcome };
}

/** The state itself, if nothing changed. */
function after(state: State, store: State['store'], rates: World['rates']): State {
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

/** How a call is answered. */
export interface Plan {
  /** The state in which the call is counted. */
  readonly state: State;
  /** What a rule says about it. */
  readonly decision: Decision | undefined;
  /** Undefined if the service, or a deployment in its place, must be asked. */
  readonly outcome: Outcome | undefined;
}

/** Decides a call by what the request prefers, else by the sandbox's rules. */
export function plan(
  state: State,
  world: World,
  call: Call,
  preferred: Preference | undefined,
): Plan {
  const outcome = preferred && outcomeOfPreference(world, call, preferred);
  if (outcome !== undefined) return { state, decision: undefined, outcome };
  const { rules: book, seed } = state.settings.start;
  let { rules } = state.counters;
  let decision: Decision | undefined;
  let latchDecision: Decision | undefined;
  for (const [name, latch] of state.latches) {
    const ruling = decide(latch.book, rules, call, { seed, preferred: `latch ${name}` });
    latchDecision ??= ruling.decision;
    rules = ruling.counts;
  }
  if (preferred !== undefined && 'book' in preferred) {
    const context = { seed, preferred: preferred.scenario };
    ({ decision, counts: rules } = decide(preferred.book, rules, call, context));
  }
  if (decision === undefined && book.get(call.operation)?.length !== 0) {
    ({ decision, counts: rules } = decide(book, rules, call, { seed }));
  }
  if (latchDecision !== undefined) decision = underLatch(latchDecision, decision);
  const isCounted = rules !== state.counters.rules;
  return {
    state: isCounted ? { ...state, counters: { ...state.counters, rules } } : state,
    decision,
    outcome: asksService(decision)
      ? undefined
      : outcomeOf(world, call, decision, undefined, preferred),
  };
}

/** What a latch makes of a decision: unless it replies itself, only the hold is its own. */
function underLatch(ofLatch: Decision, decision: Decision | undefined): Decision {
  const { reply, fault } = ofLatch.rule ?? {};
  if (reply !== undefined || fault !== undefined || decision?.rule === undefined) return ofLatch;
  return { ...decision, delay: 0, hold: ofLatch.hold };
}

/** The outcome that a preference alone decides. */
function outcomeOfPreference(world: World, call: Call, preferred: Preference): Outcome | undefined {
  if ('status' in preferred) {
    const { status } = preferred;
    const decision = { by: `Prefer: code=${status}`, rule: undefined, call: 1, delay: 0 };
    const basis: Basis = { kind: 'forced', by: 'prefer' };
    const reply = withPreferenceApplied(
      { ...replyWith(world, call, status), basis },
      `code=${status}`,
    );
    return { kind: 'reply', reply, delay: 0, decision };
  }
  if ('wrong' in preferred && preferred.strict) {
    const { wrong } = preferred;
    const reply = errorReply(new Grounds(world.choices), 'invalid_input', 400, wrong);
    return { kind: 'reply', reply: { ...reply, unknownPreference: wrong }, delay: 0 };
  }
  return undefined;
}

/** Tells the client and the journal whether its preference was applied. */
function withPreferenceHeader(outcome: Outcome, preferred: Preference | undefined): Outcome {
  if (preferred === undefined || 'status' in preferred) return outcome;
  if (outcome.reply === undefined) return outcome;
  const reply =
    'wrong' in preferred
      ? withUnknownPreference(outcome.reply, preferred.wrong)
      : withPreferenceApplied(outcome.reply, `scenario=${preferred.scenario}`);
  return { ...outcome, reply };
}

/** Confirms to the client that its preference was applied (RFC 7240, section 3). */
function withPreferenceApplied(reply: Reply, preference: string): Reply {
  return { ...reply, headers: [...reply.headers, 'Preference-Applied', preference] };
}

/** Adds what is wrong with a preference to the reasons for a reply; it becomes a finding too. */
function withUnknownPreference(reply: Reply, remark: string): Reply {
  const reason = reply.reason === undefined ? remark : `${reply.reason}; ${remark}`;
  return { ...reply, reason, unknownPreference: remark };
}

/** Whether a decision wants the service's own reply, or at least its effect. */
function asksService(decision: Decision | undefined): boolean {
  if (decision?.rule === undefined) return true;
  const { reply, fault, apply } = decision.rule;
  if (apply) return true;
  return reply === undefined && (fault === undefined || FAULTS[fault.kind] !== 'replaces');
}

/** @param own the reply of the service or of a deployment; undefined if the decision did not want it */
export function outcomeOf(
  world: World,
  call: Call,
  decision: Decision | undefined,
  own: Reply | undefined,
  preferred: Preference | undefined,
): Outcome {
  return withPreferenceHeader(ruledOutcome(world, call, decision, own), preferred);
}

function ruledOutcome(
  world: World,
  call: Call,
  decision: Decision | undefined,
  own: Reply | undefined,
): Outcome {
  if (decision?.rule === undefined) return replyOutcome(own, 0, decision);
  const { rule, by, delay, hold } = decision;
  const { reply: ruleReply, fault } = rule;
  const basis: Basis = { kind: 'forced', by };
  const reply = ruleReply === undefined ? own : { ...forcedReply(world, call, ruleReply), basis };
  const outcome: Outcome =
    fault === undefined
      ? replyOutcome(reply, delay, decision)
      : { kind: 'fault', fault, reply: reply && { ...reply, basis }, delay, decision };
  return hold === undefined ? outcome : { ...outcome, hold: { name: hold, exchange: 0, since: 0 } };
}

function replyOutcome(
  reply: Reply | undefined,
  delay: number,
  decision: Decision | undefined,
): Outcome {
  if (reply === undefined) throw new Error('A reply is wanted, but the service was not asked.');
  return { kind: 'reply', reply, delay, decision };
}

function forcedReply(world: World, call: Call, ruleReply: RuleReply): Omit<Reply, 'basis'> {
  const { status, headers, body } = ruleReply;
  if (body !== undefined) return { status, headers, body };
  const known = replyWith(world, call, status);
  return { ...known, headers: mergeHeaders(known.headers, headers) };
}

/** The service's own reply, if it has the status, or else the one that the status is known for. */
function replyWith(world: World, call: Call, status: number): Omit<Reply, 'basis'> {
  const { reply } = SERVICE[call.operation]({ ...world, rates: NO_RATES }, call);
  return reply.status === status ? reply : knownReply(world, call.operation, status);
}

/** The headers, but those in `later` in place of `earlier` ones of the same name. */
function mergeHeaders(earlier: RawHeaders, later: RawHeaders): RawHeaders {
  const names = later.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase());
  return [...without(earlier, new Set(names)), ...later];
}

/** What operations see of a state at an instant. */
export function worldOf({ store, settings, clock, counters }: State, wall?: number): World {
  const { start, startedAt, choices, represent } = settings;
  return {
    store,
    choices,
    represent,
    keys: start.keys,
    rates: counters.rates,
    seed: start.seed,
    now: timeOf(clock, wall),
    startedAt,
  };
}

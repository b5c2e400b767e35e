import { isDelivered, isShown, type Outcome } from '../scenario/outcome.ts';
import type { MovableClock } from '../service/clock.ts';
import type { Reply } from '../service/reply.ts';
import { turnTime } from '../service/turn-time.ts';
import type { World } from '../service/world.ts';
import type { Coverage } from './coverage.ts';
import type { EvidenceState, ExchangeEvidence } from './evidence-shapes.ts';
import { Exchange, type Seen } from './exchange.ts';
import type { Findings } from './findings.ts';
import type { Journal } from './journal.ts';

/** A sandbox as evidence sees it. */
export interface Witness {
  readonly world: World;
  readonly clock: MovableClock;
  readonly journal: Journal;
  readonly coverage: Coverage;
  readonly findings: Findings;
}

/** Records an exchange: in the journal, and as evidence of what the client was shown and did. */
export function recordExchange(
  { world, clock, journal, coverage, findings }: Witness,
  seen: Seen,
  outcome: Outcome,
): void {
  const at = clock.now();
  journal.record(at, seen, outcome, clock.frozen);
  const { call } = seen;
  if (call === undefined) return;
  const exchange = journal.number;
  const { delay } = outcome;
  const reply = isShown(outcome) ? outcome.reply : undefined;
  if (countsAsShown(seen, outcome, reply)) coverage.record(exchange, call, reply, world);
  findings.record({ exchange, at, seen, call, reply, delay, world });
}

/** The document defines no HEAD, and a spoilt reply is not the documented one. */
function countsAsShown(
  { method }: Seen,
  outcome: Outcome,
  reply: Reply | undefined,
): reply is Reply {
  return reply !== undefined && isDelivered(outcome) && method !== 'HEAD';
}

/** What `recordExchange` would record, as a value for `putExchange`. Records nothing. */
export function witnessExchange(
  { world, clock, journal, coverage, findings }: Witness,
  seen: Seen,
  outcome: Outcome,
): ExchangeEvidence {
  const { call } = seen;
  const { delay } = outcome;
  const at = clock.now();
  const exchange = new Exchange();
  const duration = delay + (clock.frozen ? 0 : turnTime().steady - seen.receivedAt);
  exchange.take(0, at, duration, seen, outcome);
  if (call === undefined) return { exchange: exchange.value };
  const reply = isShown(outcome) ? outcome.reply : undefined;
  const witnessed = { exchange: journal.number + 1, at, seen, call, reply, delay, world };
  const checked = findings.attempt(witnessed);
  const found = findings.find(witnessed, checked);
  const facts = countsAsShown(seen, outcome, reply)
    ? coverage.newFacts(call, reply, world)
    : undefined;
  if (checked === undefined) return { exchange: exchange.value, facts, findings: found };
  const { pointless: _pointless, early: _early, ...attempt } = checked;
  return { exchange: exchange.value, facts, findings: found, attempt };
}

/**
 * Records the value of an exchange.
 *
 * @param seen the request, if this server answered it
 */
export function putExchange(
  { world, journal, coverage, findings }: Witness,
  { exchange, facts, findings: found = [], attempt }: ExchangeEvidence,
  seen?: Seen,
): void {
  journal.put(exchange, seen && exactDuration(exchange, seen));
  const { operation, status, basis, at, delay } = exchange;
  if (operation === undefined) return;
  const { number } = journal;
  if (facts !== undefined && status !== undefined) {
    coverage.count(number, { operation, status, basis, facts });
  }
  if (found.length > 0) {
    findings.count(found, { exchange: number, at, seen: exchange, call: { operation } });
  }
  if (attempt === undefined) return;
  const leaving = seen && { leftAt: turnTime().steady + delay, connection: seen.connection };
  findings.noteAttempt(attempt, world, leaving);
}

/** Nothing takes time while the clock is frozen. */
function exactDuration(
  { duration, delay }: ExchangeEvidence['exchange'],
  { receivedAt }: Seen,
): number {
  return duration === delay ? duration : performance.now() - receivedAt + delay;
}

/** The evidence as a value, without the exchanges that the journal keeps. */
export function evidenceState({ world, journal, coverage, findings }: Witness): EvidenceState {
  return { journal: journal.state, coverage: coverage.state, findings: findings.state(world) };
}

/** @param latest the latest exchanges up to the state, as many as are known */
export function restoreEvidence(
  { world, journal, coverage, findings }: Witness,
  state: EvidenceState,
  latest: readonly ExchangeEvidence[] = [],
): void {
  journal.restore(state.journal, latest);
  coverage.restore(state.coverage);
  findings.restore(state.findings, world);
}

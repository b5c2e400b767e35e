import { type Decision, decide, type LatchRule, type RuleCounts } from '../scenario/rules.ts';
import type { Call } from '../service/input.ts';
import type { State } from './state.ts';

/** A decision about a call, and the counts after it. */
interface LatchRuling {
  readonly latched: Decision | undefined;
  readonly counts: RuleCounts;
}

/** Finds the first latch that holds a call back. */
export function decideLatches(
  { latches, settings: { start }, counters }: State,
  call: Call,
): LatchRuling {
  let counts = counters.rules;
  let latched: Decision | undefined;
  for (const [name, { book }] of latches) {
    const context = { seed: start.seed, preferred: `latch ${name}` };
    const ruling = decide(book, counts, call, context);
    latched ??= ruling.decision;
    counts = ruling.counts;
  }
  return { latched, counts };
}

/** What a latch makes of a decision: unless it replies itself, only the hold is its own. */
export function underLatch(latched: Decision, decision: Decision | undefined): Decision {
  const { reply, fault } = latched.rule ?? {};
  if (reply !== undefined || fault !== undefined || decision?.rule === undefined) return latched;
  return { ...decision, delay: 0, hold: latched.hold };
}

/** Sets a latch in place of one of this name, and counts its calls anew; undefined removes it. */
export function withLatch(state: State, name: string, latch: LatchRule | undefined): State {
  const latches = new Map(state.latches);
  latches.delete(name);
  if (latch !== undefined) latches.set(name, latch);
  const rules = new Map(state.counters.rules);
  rules.delete(`latch ${name} 0`);
  return { ...state, latches, counters: { ...state.counters, rules } };
}

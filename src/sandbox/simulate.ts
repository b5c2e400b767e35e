import { FAULTS } from '../scenario/fault-table.ts';
import type { Outcome } from '../scenario/outcome.ts';
import type { RuleReply } from '../scenario/reply-shape.ts';
import type { Decision } from '../scenario/rules.ts';
import { SERVICE } from '../service/implementations.ts';
import type { Call } from '../service/input.ts';
import { type Basis, errorReply, Grounds, type Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import { knownReply } from './known-reply.ts';
import type { Preferred } from './preference.ts';
import type { Sandbox } from './sandbox.ts';

/**
 * Answers a call in a sandbox: as the request prefers, else as the first matching rule says, else as
 * the service does.
 */
export function simulate(sandbox: Sandbox, call: Call, preferred?: Preferred): Outcome {
  if (preferred !== undefined) return simulatePreferred(sandbox, call, preferred);
  return outcomeOf(sandbox.world, call, sandbox.rules.decide(call));
}

function simulatePreferred({ world, rules }: Sandbox, call: Call, preferred: Preferred): Outcome {
  if ('status' in preferred) {
    const { status } = preferred;
    const decision = { by: `Prefer: code=${status}`, rule: undefined, call: 1, delay: 0 };
    const basis: Basis = { kind: 'forced', by: 'prefer' };
    const reply = applied({ ...knownReply(world, call, status), basis }, `code=${status}`);
    return { kind: 'reply', reply, delay: 0, decision };
  }
  if ('wrong' in preferred && preferred.strict) {
    const reply = errorReply(new Grounds(world.choices), 'invalid_input', 400, preferred.wrong);
    return { kind: 'reply', reply, delay: 0 };
  }
  const theirs = 'rules' in preferred ? preferred.rules.decide(call) : undefined;
  const outcome = outcomeOf(world, call, theirs ?? rules.decide(call));
  if (outcome.reply === undefined) return outcome;
  const reply =
    'wrong' in preferred
      ? noted(outcome.reply, preferred.wrong)
      : applied(outcome.reply, `scenario=${preferred.scenario}`);
  return { ...outcome, reply };
}

/** Confirms to the client that its preference was applied (RFC 7240, section 3). */
function applied(reply: Reply, preference: string): Reply {
  return { ...reply, headers: [...reply.headers, 'Preference-Applied', preference] };
}

/** Adds a remark to the reasons for a reply; the log and the journal show it. */
function noted(reply: Reply, remark: string): Reply {
  return { ...reply, reason: reply.reason === undefined ? remark : `${reply.reason}; ${remark}` };
}

function outcomeOf(world: World, call: Call, decision: Decision | undefined): Outcome {
  const operation = SERVICE[call.operation];
  if (decision?.rule === undefined) {
    return { kind: 'reply', reply: operation(world, call), delay: 0, decision };
  }
  const { rule, by, delay } = decision;
  const { reply: forced, fault, apply } = rule;
  const basis: Basis = { kind: 'forced', by };
  if (forced !== undefined) {
    if (apply) operation(world, call);
    const reply = { ...forcedReply(world, call, forced), basis };
    if (fault === undefined) return { kind: 'reply', reply, delay, decision };
    return { kind: 'fault', fault, reply, delay, decision };
  }
  if (fault === undefined) return { kind: 'reply', reply: operation(world, call), delay, decision };
  const runs = apply || FAULTS[fault.kind].effect !== 'replaces';
  const reply = runs ? { ...operation(world, call), basis } : undefined;
  return { kind: 'fault', fault, reply, delay, decision };
}

function forcedReply(world: World, call: Call, forced: RuleReply): Omit<Reply, 'basis'> {
  const { status, headers, body } = forced;
  if (body !== undefined) return { status, headers, body };
  const known = knownReply(world, call, status);
  return { ...known, headers: over(known.headers, headers) };
}

/** Alternating names and values of headers. Those in `later` replace `earlier` ones by name. */
function over(earlier: readonly string[], later: readonly string[]): readonly string[] {
  const replaced = later.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const isKept = (_: string, index: number): boolean =>
    !replaced.includes((earlier[index - (index % 2)] ?? '').toLowerCase());
  return [...earlier.filter(isKept), ...later];
}

import { parseJson, writeJson } from '../contract/json.ts';
import { RULE_SHAPE, type RuleDefinition } from '../scenario/rule-shape.ts';
import { createRuleBook, dropCounters, type LatchRule } from '../scenario/rules.ts';
import { readAs, type Shape } from '../shape/shapes.ts';
import type { State } from './state.ts';

/** A rule as a latch, under the name of its hold. */
export const LATCH: Shape<readonly [name: string, latch: LatchRule], RuleDefinition> = {
  ...RULE_SHAPE,
  read(value, at, report) {
    const rule = RULE_SHAPE.read(value, at, report);
    if (rule === undefined) return undefined;
    const { hold } = rule;
    if (hold === undefined) {
      return report({ at: [...at, 'hold'], expected: 'true, or a name', found: 'nothing' });
    }
    const book = createRuleBook([{ ...rule, scenario: 'latch', number: 1 }], 'latch', hold);
    return [hold, { json: writeJson(Object(value)), book }];
  },
};

/** Reads a latch that was read before. */
export function parseLatch(json: string): LatchRule {
  const reading = readAs(LATCH, parseJson(json));
  if (!reading.ok) throw new Error(`a latch cannot be read: ${json}`);
  return reading.value[1];
}

/** Sets a latch in place of one of this name, and counts its calls anew; undefined removes it. */
export function withLatch(state: State, name: string, latch: LatchRule | undefined): State {
  const latches = new Map(state.latches);
  latches.delete(name);
  if (latch !== undefined) latches.set(name, latch);
  const rules = dropCounters(state.counters.rules, 'latch', name);
  return { ...state, latches, counters: { ...state.counters, rules } };
}

import { parseJson, writeJson } from '../contract/json.ts';
import type { Reading } from '../contract/records.ts';
import { RULE_SHAPE } from '../scenario/rule-shape.ts';
import { type LatchRule, ruleBook } from '../scenario/rules.ts';
import { readAs } from '../shape/read-as.ts';

/** Reads a rule as a latch, under the name of its hold. */
export function readLatch(value: unknown): Reading<readonly [name: string, latch: LatchRule]> {
  const reading = readAs(RULE_SHAPE, value);
  if (!reading.ok) return reading;
  const { hold } = reading.value;
  if (hold === undefined) {
    const problem = { path: '$.hold', expected: 'true, or a name', found: 'nothing' };
    return { ok: false, problems: [problem] };
  }
  const book = ruleBook([{ ...reading.value, scenario: 'latch', number: 1 }]);
  return { ok: true, value: [hold, { json: writeJson(Object(value)), book }] };
}

/** Reads a latch that was read before. */
export function latchFrom(json: string): LatchRule {
  const reading = readLatch(parseJson(json));
  if (!reading.ok) throw new Error(`a latch cannot be read: ${json}`);
  return reading.value[1];
}

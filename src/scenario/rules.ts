import { OPERATION_IDS, type OperationId, operationShape } from '../contract/operations.ts';
import { isObject } from '../contract/records.ts';
import type { Call } from '../service/input.ts';
import { bearerToken } from '../service/keyring.ts';
import type { Reply } from '../service/reply.ts';
import { draw } from '../store/draw.ts';
import type { Fault } from './fault-table.ts';
import type { Hold } from './hold.ts';
import type { Condition, Delay, Rule } from './rule-shape.ts';
import { LONGEST_DELAY } from './time-shapes.ts';

/** The decision of a rule, or of a header, about a call. */
export interface Decision {
  /** Named by `Mock-Basis`: a scenario and its rule, or a request header. */
  readonly by: string;
  /** Undefined if the request itself asked for a status. */
  readonly rule: Rule | undefined;
  /** The number of calls that `on` and `where` have matched, including this one. */
  readonly call: number;
  /** In milliseconds. */
  readonly delay: number;
  /** The name under which the reply is held back. */
  readonly hold?: string | undefined;
}

/** A rule, prepared for one operation. */
interface OperationRule {
  readonly rule: Rule;
  /** The position of its counter. */
  readonly index: number;
  /** Whether the rule depends on the number of calls. */
  readonly isCounting: boolean;
  /** The conditions of the rule's `where`. */
  readonly checks: readonly CallTest[];
}

type CallTest = (call: Call) => boolean;

/** Rules by operation, in the order in which they are tried. Sandboxes share it. */
export type RuleBook = ReadonlyMap<OperationId, readonly OperationRule[]>;

/** A rule with `hold` that was set through the control API, apart from scenarios. */
export interface LatchRule {
  /** The rule, as it was sent. */
  readonly json: string;
  readonly book: RuleBook;
}

/**
 * Groups rules by operation.
 *
 * @param rules in the order in which they are tried: those of the newest scenario first
 */
export function ruleBook(rules: readonly Rule[]): RuleBook {
  const rulesOf = (id: OperationId): OperationRule[] =>
    rules.flatMap((rule, index) => (rule.on.includes(id) ? [operationRule(rule, index, id)] : []));
  return new Map(OPERATION_IDS.map((id) => [id, rulesOf(id)]));
}

function operationRule(rule: Rule, index: number, id: OperationId): OperationRule {
  const { calls, chance, delay, where } = rule;
  const isCounting =
    calls !== undefined || chance < 1 || (delay && delay.kind !== 'fixed') === true;
  return { rule, index, isCounting, checks: where.map((condition) => checkOf(id, condition)) };
}

/** The field numbers of the random draws. */
const FIELD = { chance: 0x60, delay: 0x61, delayAngle: 0x62 } as const;

/** The calls that rules have counted, by `ruleName`. */
export type RuleCounts = ReadonlyMap<string, number>;

export const NO_COUNTS: RuleCounts = new Map();

/** A decision, if a rule made one, and the counts after it. */
export interface Ruling {
  readonly decision: Decision | undefined;
  readonly counts: RuleCounts;
}

/**
 * Finds the first rule that matches a call. Every rule that counts calls counts this one if its `on`
 * and `where` match, even after the rule that decides.
 *
 * @param preferred the scenario, if the request asked for its rules
 */
export function decide(
  book: RuleBook,
  before: RuleCounts,
  call: Call,
  { seed, preferred }: { readonly seed: number; readonly preferred?: string },
): Ruling {
  const rules = book.get(call.operation) ?? [];
  let counts: Map<string, number> | undefined;
  let decision: Decision | undefined;
  for (const { rule, index, isCounting, checks } of rules) {
    if (decision !== undefined && !isCounting) continue;
    if (!checks.every((check) => check(call))) continue;
    let count = 0;
    if (isCounting) {
      counts ??= new Map(before);
      const name = ruleName(index, preferred);
      count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
    }
    decision ??= decisionOf(rule, index, count, seed);
  }
  return { decision, counts: counts ?? before };
}

/** The name of a rule among the counts: its index, after the scenario if requests ask for that. */
function ruleName(index: number | '', preferred: string | undefined): string {
  return preferred === undefined ? String(index) : `${preferred} ${index}`;
}

/** The counts without those of requests that asked for a scenario. */
export function withoutPreferred(counts: RuleCounts, scenario: string): RuleCounts {
  const prefix = ruleName('', scenario);
  return new Map([...counts].filter(([name]) => !name.startsWith(prefix)));
}

/** How many calls an active rule has matched; undefined if it does not count them. */
export function callsOf(book: RuleBook, counts: RuleCounts, rule: Rule): number | undefined {
  const entry = [...book.values()].flat().find((it) => it.rule === rule);
  return entry?.isCounting === true
    ? (counts.get(ruleName(entry.index, undefined)) ?? 0)
    : undefined;
}

function decisionOf(rule: Rule, index: number, call: number, all: number): Decision | undefined {
  if (rule.calls?.some(({ from, to }) => call >= from && call <= to) === false) return undefined;
  const seed = draw(all, index, call);
  if (rule.chance < 1 && share(seed, FIELD.chance) >= rule.chance) return undefined;
  const delay = rule.delay === undefined ? 0 : Math.round(drawDelay(rule.delay, seed));
  return { by: `${rule.scenario}#${rule.number}`, rule, call, delay, hold: rule.hold };
}

/** A number from 0 up to, but not including, 1. */
function share(seed: number, field: number): number {
  return draw(seed, 0, field) / 2 ** 32;
}

function drawDelay(delay: Delay, seed: number): number {
  switch (delay.kind) {
    case 'fixed':
      return delay.milliseconds;
    case 'uniform':
      return delay.min + share(seed, FIELD.delay) * (delay.max - delay.min);
    case 'log-normal': {
      // The Box-Muller transform; 1 - share is never 0.
      const radius = Math.sqrt(-2 * Math.log(1 - share(seed, FIELD.delay)));
      const normal = radius * Math.cos(2 * Math.PI * share(seed, FIELD.delayAngle));
      return Math.min(delay.median * Math.exp(delay.sigma * normal), LONGEST_DELAY);
    }
  }
}

/** Prepared once, since every call is compared with every rule of its operation. */
function checkOf(id: OperationId, { of, name, values }: Condition): CallTest {
  // Values as a path, query or header writes them. Null stands for an absent one.
  const texts = values.map((value) => (value === null ? undefined : String(value)));
  if (of === 'key') return ({ authorization }) => texts.includes(bearerToken(authorization));
  if (of === 'header') {
    return ({ headers: { [name]: value } }) =>
      texts.includes(typeof value === 'object' ? value.join(', ') : value);
  }
  const parameter = operationShape(id).parameters.find((it) => it.name === name);
  if (parameter?.in === 'path') return ({ pathId }) => texts.includes(pathId);
  return ({ query, body }) => {
    const [, queryValue] = query.find((it) => it[0] === name) ?? [];
    if (queryValue !== undefined) return texts.includes(queryValue);
    if (body.kind !== 'bytes') return texts.includes(undefined);
    const fields = body.json.ok && isObject(body.json.value) ? body.json.value : NO_FIELDS;
    const field = Object.hasOwn(fields, name) ? fields[name] : null;
    return values.some((value) => value === field);
  };
}

/** The fields of a body that is not a JSON object. */
const NO_FIELDS: Readonly<Record<string, unknown>> = {};

/** The result of a request: a reply, or a fault on the wire; after `delay` milliseconds. */
export type Outcome = {
  readonly delay: number;
  /** What forced it; undefined if the service itself answered. */
  readonly decision?: Decision | undefined;
  /** Set if a rule holds the reply back. */
  readonly hold?: Hold | undefined;
} & (
  | { readonly kind: 'reply'; readonly reply: Reply }
  /** `reply` is what the fault spoils or hides; undefined if no operation ran. */
  | { readonly kind: 'fault'; readonly fault: Fault; readonly reply: Reply | undefined }
);

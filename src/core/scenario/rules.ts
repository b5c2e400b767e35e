import { hashOf } from '../bytes.ts';
import { OPERATION_IDS, type OperationId, operationShape } from '../contract/operations.ts';
import { isObject } from '../json.ts';
import { LIMITS } from '../limits.ts';
import { findHeaders, readHeaderText } from '../raw-http.ts';
import type { Call } from '../service/input.ts';
import { bearerToken } from '../service/keyring.ts';
import { MAX_DELAY_MS } from '../service/settings-shapes.ts';
import { matchesWhere } from '../shape/record-shapes.ts';
import { randomInteger, STREAMS } from '../store/random.ts';
import type { Fault } from './fault-table.ts';
import type { RuleReply } from './reply-shape.ts';
import type { Calls, Delay, Lag, Patch, Rule } from './rule-shape.ts';
import type { Condition } from './where-shape.ts';

/** What a matching rule, or `Prefer`, decides about a call. */
export interface RuleMatch {
  /** Names the scenario and the rule in `Mock-Basis`, or is `prefer`. */
  readonly by: string;
  /** The same in words for people. */
  readonly reason: string;
  readonly delay: number;
  readonly hold?: string | undefined;
  readonly reply?: RuleReply | undefined;
  readonly patch?: Patch | undefined;
  readonly lag?: Lag | undefined;
  readonly fault?: Fault | undefined;
  /** Whether the operation runs although the rule replaces its reply. */
  readonly apply: boolean;
  /** Whether the scenario says that replies may be off-contract. */
  readonly declared?: boolean | undefined;
}

/** Where a rule comes from. Each source has its own call counters. */
type RuleSource = 'active' | 'prefer' | 'latch';

interface OperationRule {
  readonly rule: Rule;
  readonly counter: string;
  /** Separates this rule's random numbers from those of other rules. */
  readonly stream: number;
  readonly isCounting: boolean;
  readonly tests: readonly CallTest[];
}

type CallTest = (call: Call) => boolean;

/** The rules for each operation in the order in which they are tried. Sandboxes share it. */
export type RuleBook = ReadonlyMap<OperationId, readonly OperationRule[]>;

/** A rule with `hold` that was set through the control API. It belongs to no scenario. */
export interface LatchRule {
  /** The rule as JSON, from which other servers of a fleet can recreate it. */
  readonly json: string;
  readonly book: RuleBook;
}

/**
 * @param rules in the order in which they are tried, the newest scenario first
 * @param owner in whose name the rules count calls, if not that of their own scenario
 */
export function createRuleBook(
  rules: readonly Rule[],
  source: RuleSource = 'active',
  owner?: string,
): RuleBook {
  const prepare = (rule: Rule, id: OperationId): OperationRule => {
    const counter = counterKey(source, owner ?? rule.scenario, rule);
    const stream = Number.parseInt(hashOf(counter), 36);
    const tests = rule.where.map((condition) => createCallTest(id, condition));
    return { rule, counter, stream, isCounting: isCounted(rule), tests };
  };
  const forOperation = (id: OperationId): OperationRule[] =>
    rules.flatMap((rule) => (rule.on.includes(id) ? [prepare(rule, id)] : []));
  return new Map(OPERATION_IDS.map((id) => [id, forOperation(id)]));
}

function isCounted({ calls, chance, delay }: Rule): boolean {
  const isDrawn = delay !== undefined && ('median' in delay || delay.min < delay.max);
  return calls !== undefined || chance < 1 || isDrawn;
}

export type RuleCounts = ReadonlyMap<string, number>;

export const NO_COUNTS: RuleCounts = new Map();

/** A unique key, since names of scenarios contain no slash. */
function counterKey(
  source: RuleSource,
  owner: string,
  { scenario, number }: Pick<Rule, 'scenario' | 'number'>,
): string {
  return `${source}/${owner}/${scenario}/${number}`;
}

export function dropCounters(counts: RuleCounts, source: RuleSource, owner: string): RuleCounts {
  const prefix = `${source}/${owner}/`;
  const left = [...counts].filter(([key]) => !key.startsWith(prefix));
  return left.length === counts.size ? counts : new Map(left);
}

/** How many calls a rule has counted; undefined if it does not count. */
export function readCallCount(counts: RuleCounts, rule: Rule): number | undefined {
  if (!isCounted(rule)) return undefined;
  return counts.get(counterKey('active', rule.scenario, rule)) ?? 0;
}

/** Counts a call for several rules. It copies the counters only once. */
export class CallCounter {
  readonly #before: RuleCounts;
  #after: Map<string, number> | undefined;

  constructor(before: RuleCounts) {
    this.#before = before;
  }

  get counts(): RuleCounts {
    return this.#after ?? this.#before;
  }

  add(counter: string): number {
    this.#after ??= new Map(this.#before);
    const count = (this.#after.get(counter) ?? 0) + 1;
    // The least recently used counters come first, and are dropped first.
    this.#after.delete(counter);
    this.#after.set(counter, count);
    const [unused = counter] = this.#after.keys();
    if (this.#after.size > LIMITS.counters) this.#after.delete(unused);
    return count;
  }
}

/** Finds the first rule that matches. Later ones that match count the call all the same. */
export function matchRules(
  book: RuleBook,
  counter: CallCounter,
  call: Call,
  seed: number,
): RuleMatch | undefined {
  let match: RuleMatch | undefined;
  for (const known of book.get(call.operation) ?? []) {
    const { isCounting, tests } = known;
    if (match !== undefined && !isCounting) continue;
    if (!tests.every((test) => test(call))) continue;
    const count = isCounting ? counter.add(known.counter) : 0;
    match ??= applyRule(known, count, seed);
  }
  return match;
}

/** @param call how many calls `on` and `where` have matched, this one included */
function applyRule(
  { rule, stream }: OperationRule,
  call: number,
  seed: number,
): RuleMatch | undefined {
  const { scenario, number, calls, chance } = rule;
  const isSelected = ({ from, to, step }: Calls) =>
    call >= from && call <= to && (call - from) % step === 0;
  if (calls?.some(isSelected) === false) return undefined;
  const drawn = randomInteger(seed, stream, call);
  if (chance < 1 && randomShare(drawn, 'chance') >= chance) return undefined;
  const delay = rule.delay === undefined ? 0 : Math.round(drawDelay(rule.delay, drawn));
  return { ...rule, by: `${scenario}#${number}`, reason: describeRule(rule, call), delay };
}

function describeRule(rule: Rule, call: number): string {
  const { scenario, number, calls, title: name = `scenario ${scenario}, rule ${number}` } = rule;
  if (calls === undefined) return name;
  const last = Math.max(...calls.map(({ to }) => to));
  return Number.isFinite(last) ? `${name}, call ${call} of ${last}` : `${name}, call ${call}`;
}

/** Draws a delay in milliseconds. A log-normal delay has no upper bound, so it gets one. */
function drawDelay(delay: Delay, drawn: number): number {
  const share = randomShare(drawn, 'delay');
  if ('min' in delay) return delay.min + share * (delay.max - delay.min);
  // The Box-Muller transform. Its logarithm is finite, as 1 - share is never 0.
  const angle = 2 * Math.PI * randomShare(drawn, 'delayAngle');
  const normal = Math.sqrt(-2 * Math.log(1 - share)) * Math.cos(angle);
  return Math.min(delay.median * Math.exp(delay.sigma * normal), MAX_DELAY_MS);
}

/** A random number in [0, 1) that depends only on seed, rule and call. */
function randomShare(drawn: number, stream: keyof typeof STREAMS.ofMatch): number {
  return randomInteger(drawn, 0, STREAMS.ofMatch[stream]) / 2 ** 32;
}

/** Prepares the test once, since every call is compared with all rules of its operation. */
function createCallTest(id: OperationId, { of, name, values }: Condition): CallTest {
  const texts = values.map(({ text }) => text);
  const matchesAny = (given: readonly string[]): boolean =>
    given.length === 0 ? texts.includes(undefined) : given.some((text) => texts.includes(text));
  if (of === 'key') return ({ authorization }) => texts.includes(bearerToken(authorization));
  if (of === 'header') {
    return ({ headers }) => {
      const given = findHeaders(headers, name).map(readHeaderText);
      // A repeated header means the same as a comma-separated list (RFC 9110, section 5.3).
      return matchesAny(given.length < 2 ? given : [...given, given.join(', ')]);
    };
  }
  const parameter = operationShape(id).parameters.find((known) => known.name === name);
  if (parameter?.in === 'path') return ({ pathId }) => texts.includes(pathId);
  const where = new Map([[name, new Set(values.map(({ value }) => value))]]);
  return ({ query, body }) => {
    const given = query.flatMap(([known, text]) => (known === name ? [text] : []));
    if (given.length > 0 || body.kind !== 'bytes') return matchesAny(given);
    const fields = body.json.ok && isObject(body.json.value) ? body.json.value : NO_FIELDS;
    return matchesWhere(fields, where);
  };
}

const NO_FIELDS: Readonly<Record<string, unknown>> = {};

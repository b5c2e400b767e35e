import { type OperationId, operationShape } from '../contract/operations.ts';
import { isObject } from '../contract/records.ts';
import { bearerToken } from '../service/bearer.ts';
import type { Call } from '../service/input.ts';
import { draw } from '../store/draw.ts';
import { type Delay, LONGEST_DELAY, type Rule, type Where, type WhereValue } from './scenario.ts';

/** What decides a call instead of the service. */
export interface Decision {
  /** What `Mock-Basis` names: a scenario and its rule, or the header that asked for it. */
  readonly by: string;
  /** Undefined where the request itself asked for a status. */
  readonly rule: Rule | undefined;
  /** How many calls the rule's `on` and `where` have matched, this one included. */
  readonly call: number;
  /** How long the reply is held back, in milliseconds. */
  readonly delay: number;
}

/** A rule, and where its calls are counted. */
interface BoundRule {
  readonly rule: Rule;
  readonly index: number;
  /** Whether anything depends on how many calls it has matched. */
  readonly counted: boolean;
  /** What a call of one operation must have, made of the rule's `where`. */
  readonly checks: readonly Check[];
}

type Check = (input: CallInput) => boolean;

/** The rules of scenarios by operation, in the order in which they are tried. Sandboxes share it. */
export interface RuleBook {
  readonly size: number;
  readonly of: Readonly<Record<OperationId, readonly BoundRule[]>>;
}

/**
 * Sorts rules by the operations they are for.
 *
 * @param rules in the order in which they are tried: the newest scenario's first
 */
export function ruleBook(rules: readonly Rule[]): RuleBook {
  const of = (id: OperationId): BoundRule[] =>
    rules.flatMap((rule, index) =>
      rule.on.includes(id)
        ? [{ rule, index, counted: isCounted(rule), checks: checksOf(id, rule.where) }]
        : [],
    );
  return {
    size: rules.length,
    of: {
      listPets: of('listPets'),
      createPet: of('createPet'),
      getPet: of('getPet'),
      listInventory: of('listInventory'),
      updateInventory: of('updateInventory'),
      listOrders: of('listOrders'),
      cancelOrder: of('cancelOrder'),
    },
  };
}

function isCounted({ calls, chance, delay }: Rule): boolean {
  return calls !== undefined || chance < 1 || (delay !== undefined && delay.kind !== 'fixed');
}

/** One field number for each thing that a rule draws. */
const FIELD = { chance: 0x60, delay: 0x61, delayAngle: 0x62 } as const;

/** A rule book with the calls that it has counted: what a sandbox has of its scenarios' rules. */
export class Rules {
  readonly book: RuleBook;
  readonly #seed: number;
  #counts: Uint32Array | undefined;

  constructor(book: RuleBook, seed: number) {
    this.book = book;
    this.#seed = seed;
  }

  /**
   * The first rule that matches a call, if any. Every rule that counts its calls counts this one
   * where its `on` and `where` match, also behind the rule that decides.
   */
  decide(call: Call): Decision | undefined {
    const rules = this.book.of[call.operation];
    if (rules.length === 0) return undefined;
    const input = new CallInput(call);
    let decision: Decision | undefined;
    for (const { rule, index, counted, checks } of rules) {
      if (decision !== undefined && !counted) continue;
      if (!passes(checks, input)) continue;
      const count = counted ? this.#count(index) : 0;
      decision ??= this.#decision(rule, index, count);
    }
    return decision;
  }

  /** How many calls a rule's `on` and `where` have matched; undefined where nothing depends on it. */
  callsOf(rule: Rule): number | undefined {
    const bound = Object.values(this.book.of)
      .flat()
      .find((it) => it.rule === rule);
    return bound?.counted === true ? (this.#counts?.[bound.index] ?? 0) : undefined;
  }

  #count(index: number): number {
    this.#counts ??= new Uint32Array(this.book.size);
    const count = (this.#counts[index] ?? 0) + 1;
    this.#counts[index] = count;
    return count;
  }

  #decision(rule: Rule, index: number, call: number): Decision | undefined {
    if (rule.calls?.some(({ from, to }) => call >= from && call <= to) === false) return undefined;
    const seed = draw(this.#seed, index, call);
    if (rule.chance < 1 && share(seed, FIELD.chance) >= rule.chance) return undefined;
    const delay = rule.delay === undefined ? 0 : Math.round(drawDelay(rule.delay, seed));
    return { by: `${rule.scenario}#${rule.number}`, rule, call, delay };
  }
}

/** A number from 0 up to 1, 1 not included. */
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
      // A normal number by the Box-Muller transform; 1 - share is never 0.
      const radius = Math.sqrt(-2 * Math.log(1 - share(seed, FIELD.delay)));
      const normal = radius * Math.cos(2 * Math.PI * share(seed, FIELD.delayAngle));
      return Math.min(delay.median * Math.exp(delay.sigma * normal), LONGEST_DELAY);
    }
  }
}

function passes(checks: readonly Check[], input: CallInput): boolean {
  for (const check of checks) if (!check(input)) return false;
  return true;
}

/** All that can be worked out before there is a call, since every call is held against every rule. */
function checksOf(id: OperationId, { inputs, headers, keys }: Where): Check[] {
  const checks: Check[] = [];
  if (keys !== undefined) checks.push((input) => keys.includes(input.key ?? ''));
  for (const [name, wanted] of inputs) {
    const texts = textsOf(wanted);
    const parameter = operationShape(id).parameters.find((it) => it.name === name);
    if (parameter?.in === 'path') checks.push((input) => texts.includes(input.pathId));
    else checks.push((input) => input.has(name, wanted, texts));
  }
  for (const [name, wanted] of headers) {
    const texts = textsOf(wanted);
    checks.push((input) => texts.includes(input.header(name)));
  }
  return checks;
}

/** What values are written as in a path, a query or a header; null stands for nothing there. */
function textsOf(wanted: readonly WhereValue[]): readonly (string | undefined)[] {
  return wanted.map((value) => (value === null ? undefined : String(value)));
}

/** Of a body that is no JSON object: no rule can mean those. */
const NO_FIELDS: Readonly<Record<string, unknown>> = {};

/** What a rule can look at in a call, each part made when the first rule looks at it. */
class CallInput {
  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  get key(): string | undefined {
    return bearerToken(this.#call.authorization);
  }

  get pathId(): string | undefined {
    return this.#call.pathId;
  }

  /** Whether a parameter of the query or a field of the body has one of some values. */
  has(
    name: string,
    wanted: readonly WhereValue[],
    texts: readonly (string | undefined)[],
  ): boolean {
    const { query, body } = this.#call;
    if (query.length > 0) {
      const asked = query.find(([given]) => given === name);
      if (asked !== undefined) return texts.includes(asked[1]);
    }
    if (body.kind !== 'bytes') return texts.includes(undefined);
    const fields = body.json.ok && isObject(body.json.value) ? body.json.value : NO_FIELDS;
    const field = Object.hasOwn(fields, name) ? fields[name] : null;
    return wanted.some((value) => value === field);
  }

  header(name: string): string | undefined {
    const value = this.#call.headers[name];
    return typeof value === 'object' ? value.join(', ') : value;
  }
}

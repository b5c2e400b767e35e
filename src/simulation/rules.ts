import { parseJson } from '../contract/json.ts';
import { type OperationId, operationShape } from '../contract/operations.ts';
import { isObject } from '../contract/records.ts';
import type { Call } from '../service/input.ts';
import { draw } from '../store/draw.ts';
import type { Delay, Rule, Where, WhereValue } from './scenario.ts';

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
}

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
  const bound = rules.map((rule, index) => ({ rule, index, counted: isCounted(rule) }));
  const of = (id: OperationId) => bound.filter(({ rule }) => rule.on.includes(id));
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
    for (const { rule, index, counted } of rules) {
      if (decision !== undefined && !counted) continue;
      if (!matches(rule.where, input)) continue;
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
    const delay = rule.delay === undefined ? 0 : drawDelay(rule.delay, seed);
    return { by: `${rule.scenario}#${rule.number}`, rule, call, delay };
  }
}

/** A number from 0 up to 1, 1 not included. */
function share(seed: number, field: number): number {
  return draw(seed, 0, field) / 2 ** 32;
}

const LONGEST_DELAY = 5 * 60_000;

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

function matches({ inputs, headers, keys }: Where, input: CallInput): boolean {
  if (keys !== undefined && !keys.some((key) => key === input.key)) return false;
  for (const [name, wanted] of inputs) if (!input.has(name, wanted)) return false;
  for (const [name, wanted] of headers) if (!input.hasHeader(name, wanted)) return false;
  return true;
}

const BEARER = /^Bearer +(.*)$/i;

/** What a rule can look at in a call, each part made when the first rule looks at it. */
class CallInput {
  readonly #call: Call;
  #body: Readonly<Record<string, unknown>> | undefined;

  constructor(call: Call) {
    this.#call = call;
  }

  get key(): string | undefined {
    return BEARER.exec(this.#call.authorization ?? '')?.[1]?.trim();
  }

  /** Whether a parameter or a field of the body has one of some values. */
  has(name: string, wanted: readonly WhereValue[]): boolean {
    const { operation, pathId, query } = this.#call;
    const parameter = operationShape(operation).parameters.find((it) => it.name === name);
    if (parameter?.in === 'path') return holdsText(wanted, pathId);
    const asked = query.find(([given]) => given === name);
    if (asked !== undefined) return holdsText(wanted, asked[1]);
    const fields = this.#fields();
    const field = Object.hasOwn(fields, name) ? fields[name] : null;
    return wanted.some((value) => value === field);
  }

  hasHeader(name: string, wanted: readonly WhereValue[]): boolean {
    const value = this.#call.headers[name];
    return holdsText(wanted, typeof value === 'object' ? value.join(', ') : value);
  }

  /** No fields where the body is not a JSON object: no rule can mean those. */
  #fields(): Readonly<Record<string, unknown>> {
    this.#body ??= this.#parse();
    return this.#body;
  }

  #parse(): Readonly<Record<string, unknown>> {
    const { body } = this.#call;
    if (body.kind !== 'bytes') return {};
    try {
      const value = parseJson(body.bytes.toString());
      return isObject(value) ? value : {};
    } catch {
      return {};
    }
  }
}

/** Whether a text is what one of some values is written as; null stands for no text. */
function holdsText(wanted: readonly WhereValue[], text: string | undefined): boolean {
  return wanted.some((value) => (value === null ? text === undefined : String(value) === text));
}

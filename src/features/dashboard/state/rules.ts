import { isSeq, type Node, parse, parseDocument, stringify } from 'yaml';
import { OPERATIONS, operationShape } from '../../../core/contract/operations.ts';
import { isObject, writeJson } from '../../../core/json.ts';
import { isRowName } from '../../../core/tables.ts';
import type { Texts } from '../parts/form.tsx';
import { client } from './session.ts';

/** A rule as its scenario has it, which may have mistakes. */
export type WrittenRule = Readonly<Record<string, unknown>>;

/** The rules of a scenario; none while its YAML has mistakes. */
export function readRules(scenario: string): readonly WrittenRule[] {
  try {
    const { rules } = Object(parse(scenario, { intAsBigInt: true }));
    return Array.isArray(rules) ? rules.map((rule) => Object(rule)) : [];
  } catch {
    return [];
  }
}

/** Puts a rule in the place of another, or before all; comments are kept. */
export function insertRule(scenario: string, rule: WrittenRule, index?: number): string {
  const document = parseDocument(scenario, { intAsBigInt: true });
  const node: Node = document.createNode(rule);
  const rules = document.get('rules');
  if (isSeq<Node>(rules)) {
    const comment = index === undefined ? undefined : rules.items[index]?.commentBefore;
    if (comment) node.commentBefore = comment;
    rules.flow = false;
    rules.items.splice(index ?? 0, index === undefined ? 0 : 1, node);
  } else document.set('rules', document.createNode([node]));
  return document.toString({ lineWidth: 0 });
}

/** As much of JSON Schema as the shapes of scenarios are written in. */
export interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly items?: Schema;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
}

/** That of a scenario, which the server writes from the shapes that it reads scenarios with. */
export function loadSchema(): Promise<Schema> {
  return client.call('GET /scenario-schema');
}

/** A schema, or the alternatives that it lists. */
export function listAlternatives(schema: Schema): readonly Schema[] {
  return schema.anyOf?.flatMap(listAlternatives) ?? [schema];
}

/** The schemas of a member or an item. */
export function listMembers(schemas: readonly Schema[], step: unknown): readonly Schema[] {
  return schemas
    .flatMap(listAlternatives)
    .map(({ properties, additionalProperties, items }) =>
      typeof step === 'number' ? items : (properties?.[String(step)] ?? additionalProperties),
    )
    .filter((found) => typeof found === 'object');
}

/** The values that a schema names. */
export function listValues(schema: Schema): readonly string[] {
  const all = listAlternatives(schema).flatMap((one) =>
    one.type === 'boolean' && one.const === undefined
      ? [true, false]
      : [one.const ?? [], one.enum ?? [], one.examples ?? []].flat(),
  );
  return [...new Set(all.map(String))];
}

/** A field of the form: a member of a rule, or of its reply or its patch. */
export interface RuleField {
  /** Its place in the rule: `calls`, or `reply.status`. */
  readonly path: string;
  readonly name: string;
  readonly group: Group;
  readonly kind: 'text' | 'lines' | 'choice' | 'choices';
  readonly help: string;
  readonly values: readonly string[];
}

type Group = 'When' | 'Then' | 'Also' | 'How often';

/** What the schema does not say: where a field stands, if not with the rare ones. */
const GROUPS: Readonly<Record<string, Group>> = {
  ...{ on: 'When', where: 'When', calls: 'How often', chance: 'How often' },
  ...{ status: 'Then', headers: 'Then', body: 'Then', each: 'Then', items: 'Then' },
  ...{ delay: 'Then', fault: 'Then', hold: 'Then' },
};

export const REPLIES = ['reply', 'patch'];

/** The fields of a rule, as the schema of its scenario describes them. */
export function listRuleFields(scenario: Schema): readonly RuleField[] {
  const members = (of: Schema, prefix = ''): readonly RuleField[] =>
    Object.entries(of.properties ?? {}).flatMap(([name, schema]) => {
      if (REPLIES.includes(name)) return members(schema, `${name}.`);
      const values = listValues(schema).filter((value) => value !== '*');
      const { description: help = '' } = schema;
      const kind = kindOf(schema, values);
      return [{ path: prefix + name, name, group: GROUPS[name] ?? 'Also', kind, help, values }];
    });
  const [rule = {}] = listMembers(listMembers([scenario], 'rules'), 0);
  return members(rule);
}

function kindOf(schema: Schema, values: readonly string[]): RuleField['kind'] {
  const all = listAlternatives(schema);
  if (all.some(({ items }) => items?.enum)) return 'choices';
  if (all.some(({ type, enum: named }) => TYPED.includes(`${type}`) && !named)) return 'text';
  return values.length > 0 ? 'choice' : 'lines';
}

const TYPED = ['string', 'number', 'integer'];

/** The texts of a rule's fields, in YAML. */
export function formatRule(rule: WrittenRule): Texts {
  const texts = new Map([['how', 'patch' in rule ? 'patch' : 'reply']]);
  const write = (members: object, prefix: string) => {
    for (const [name, value] of Object.entries(members)) {
      const path = prefix + name;
      if (REPLIES.includes(path) && isObject(value)) write(value, `${path}.`);
      else if (path === 'on') texts.set(path, [value].flat().join(', '));
      else if (path === 'hold' && value === true) texts.set(IS_HELD, 'true');
      else if (name === 'body') texts.set(path, writeJson(value, 2));
      else texts.set(path, stringify(value, { lineWidth: 0 }).trimEnd());
    }
  };
  write(rule, '');
  if (texts.has('hold')) texts.set(IS_HELD, 'true');
  return texts;
}

/** The rule that the texts of the fields describe. Throws at one that is no YAML. */
export function parseRule(texts: Texts): WrittenRule {
  const how = texts.get('how') ?? '';
  const rule: Record<string, unknown> = { on: parseOperations(texts.get('on') ?? '') };
  const reply: Record<string, unknown> = {};
  for (const [path, text] of texts) {
    const [first = '', name] = path.split('.');
    if (text.trim() === '' || NO_MEMBERS.includes(path) || (name && first !== how)) continue;
    try {
      const value: unknown = parse(text, { intAsBigInt: true });
      if (name === undefined) rule[path] = value;
      else reply[name] = value;
    } catch (error) {
      throw new Error(`${path}: ${String(error).replace(/^\w+: |\n[\s\S]*/g, '')}`);
    }
  }
  if (texts.has(IS_HELD)) rule.hold ??= true;
  return Object.keys(reply).length > 0 ? { ...rule, [how]: reply } : rule;
}

/** Says that a hold may have no name. */
export const IS_HELD = 'held';

/** Fields of the form that say something else. */
const NO_MEMBERS = ['on', 'how', 'scenario', 'active', IS_HELD];

function parseOperations(text: string): unknown {
  const names = text.split(/[ ,]+/).filter(Boolean);
  return names.length > 1 ? names : (names[0] ?? '*');
}

/** Each effect of a rule in words. */
const EFFECTS: Readonly<Record<string, (value: object, text: string) => string>> = {
  fault: (fault, text) => `gets the fault ${'kind' in fault ? fault.kind : text}`,
  reply: (reply) => `gets ${statusOf(reply)}${'body' in reply ? ' with a body of its own' : ''}`,
  patch: (patch) => `gets the real reply, changed${'status' in patch ? ` to ${patch.status}` : ''}`,
  lag: (lag, text) => `from the store of ${'calls' in lag ? `${lag.calls} calls` : text} ago`,
  delay: (delay, text) => `after ${delayText(delay, text)} ms`,
  hold: () => 'once it is released',
};

function delayText(delay: object, text: string): string {
  if ('min' in delay && 'max' in delay) return `${delay.min} to ${delay.max}`;
  return 'median' in delay ? `about ${delay.median}` : text;
}

function statusOf(reply: object): unknown {
  return 'status' in reply ? reply.status : 'a reply without a status';
}

/** What a rule does, in a sentence. */
export function describeRule(rule: WrittenRule): string {
  const { on, where, calls, chance } = rule;
  const subjects = [on].flat().map((name) => {
    if (name === '*') return 'Each call';
    if (typeof name !== 'string' || !isRowName(OPERATIONS, name)) return `${name}`;
    const { method, path } = operationShape(name);
    return `${method} ${path}`;
  });
  const { headers, ...inputs } = Object(where);
  const named = Object.entries(Object(headers)).map(([name, value]) => [`header ${name}`, value]);
  const conditions = [...Object.entries(inputs), ...named].map(
    ([name, value]) => ` ${name} ${[value].flat().join(' or ')}`,
  );
  const given = Object.entries(EFFECTS).filter(([name]) => rule[name] !== undefined);
  const isPlain = given.every(([name]) => ['delay', 'hold', 'lag'].includes(name));
  const effects = given.map(([name, say]) => say(Object(rule[name]), `${rule[name]}`));
  const effect = given.length === 0 ? 'gets nothing new' : effects.join(' ');
  const listed = (_all: string, step: string) =>
    `${[1, 2, 3].map((it) => it * +step).join(', ')} …`;
  const turns = [calls]
    .flat()
    .join(', ')
    .replaceAll(/every +(\d+)/g, listed);
  const turn =
    calls === undefined ? 'at every call' : `at call${/^\d+$/.test(turns) ? '' : 's'} ${turns}`;
  return [
    subjects.join(' or '),
    conditions.length > 0 && ` with${conditions.join(' and')}`,
    isPlain && given.length > 0 && ' answers',
    ` ${effect}, ${turn}`,
    chance !== undefined && ` with a chance of ${chance}`,
    '.',
  ]
    .filter(Boolean)
    .join('');
}

/** Rules that an earlier one leaves no call. */
export function findHiddenRules(rules: readonly WrittenRule[]): readonly string[] {
  return rules.flatMap((rule, index) => {
    const hiding = rules.findIndex((earlier, at) => at < index && hides(earlier, rule));
    const message = `Rule ${index + 1} never applies: rule ${hiding + 1} takes its calls.`;
    return hiding < 0 ? [] : [message];
  });
}

function hides({ on, calls, chance, where }: WrittenRule, later: WrittenRule): boolean {
  const others = new Map(Object.entries(Object(later.where)));
  return (
    (on === '*' || [later.on].flat().every((name) => [on].flat().includes(name))) &&
    calls === undefined &&
    chance === undefined &&
    Object.entries(Object(where)).every(
      ([name, value]) => others.has(name) && writeJson(value) === writeJson(others.get(name)),
    )
  );
}

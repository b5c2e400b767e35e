import type { Node } from 'yaml';
import { OPERATIONS, operationShape } from '../../../core/contract/operations.ts';
import { isObject, parseInput, writeJson } from '../../../core/json.ts';
import { isRowName } from '../../../core/words.ts';
import type { Texts } from '../parts/form.tsx';
import { formatBody, parseHeaderLines } from './requests.ts';

export interface EditedRule {
  readonly on: string | readonly string[];
  readonly where?: Readonly<Record<string, unknown>>;
  readonly calls?: unknown;
  readonly chance?: number;
  readonly delay?: number | Readonly<Record<'min' | 'max', number>>;
  readonly hold?: boolean | string;
  readonly fault?: string | { readonly kind: string };
  readonly reply?: EditedReply;
  readonly patch?: Partial<EditedReply>;
}

interface EditedReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: unknown;
}

/** The rules of a scenario; none while its YAML has mistakes. */
export async function readRules(scenario: string): Promise<readonly EditedRule[]> {
  // Loaded here: the first view needs no YAML.
  const { parse } = await import('yaml');
  try {
    const { rules } = Object(parse(scenario, { intAsBigInt: true }));
    return Array.isArray(rules) ? rules : [];
  } catch {
    return [];
  }
}

export interface RuleGroup {
  readonly index: number;
  readonly count: number;
  readonly texts: Texts;
  readonly fits: boolean;
}

/** Puts rules in the place of others, or before all; comments are kept. */
export async function insertRules(
  scenario: string,
  added: readonly object[],
  replaced?: RuleGroup,
): Promise<string> {
  const { isSeq, parseDocument } = await import('yaml');
  const document = parseDocument(scenario, { intAsBigInt: true });
  const nodes: Node[] = added.map((rule) => document.createNode(rule));
  const [first] = nodes;
  const rules = document.get('rules');
  if (isSeq<Node>(rules)) {
    const { index, count } = replaced ?? { index: 0, count: 0 };
    const own = count === 0 ? undefined : rules.items[index]?.commentBefore;
    if (first !== undefined && own) first.commentBefore = own;
    rules.flow = false;
    rules.items.splice(index, count, ...nodes);
  } else document.set('rules', document.createNode(nodes));
  return document.toString({ lineWidth: 0 });
}

export function groupRules(rules: readonly EditedRule[]): readonly RuleGroup[] {
  const groups: RuleGroup[] = [];
  for (let index = 0; index < rules.length; index += groups.at(-1)?.count ?? 1) {
    let count = 1;
    while (index + count < rules.length && isInForm(rules.slice(index, index + count + 1))) {
      count += 1;
    }
    const some = rules.slice(index, index + count);
    groups.push({ index, count, texts: formatSequence(some), fits: isInForm(some) });
  }
  return groups;
}

function isInForm(rules: readonly EditedRule[]): boolean {
  return (
    rules.every((rule) => typeof rule?.on === 'string' || Array.isArray(rule?.on)) &&
    writeSorted(parseRules(formatSequence(rules))) === writeSorted(rules)
  );
}

function formatSequence(rules: readonly EditedRule[]): Texts {
  const texts = rules.map(formatRuleFields);
  const [first = new Map<string, string>()] = texts;
  if (texts.length === 1) return first;
  const others = [...first].filter(([name]) => name !== 'calls');
  return new Map([...others, ['status', texts.map((one) => one.get('status')).join(', ')]]);
}

export function findHiddenRules(rules: readonly EditedRule[]): readonly string[] {
  return rules.flatMap((rule, index) => {
    const hiding = rules.slice(0, index).findIndex((earlier) => hides(earlier, rule));
    return hiding < 0
      ? []
      : [`Rule ${index + 1} never applies: rule ${hiding + 1} takes its calls.`];
  });
}

function hides({ on, calls, chance, where = {} }: EditedRule, later: EditedRule): boolean {
  const others: Readonly<Record<string, unknown>> = later.where ?? {};
  return (
    (on === '*' || [later.on].flat().every((name) => [on].flat().includes(name))) &&
    calls === undefined &&
    chance === undefined &&
    Object.entries(where).every(([name, value]) => writeSorted(value) === writeSorted(others[name]))
  );
}

function writeSorted(value: unknown): string {
  return writeJson(sortMembers(value));
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([name, part]) => [name, sortMembers(part)] as const);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function formatLines(members: object = {}): string {
  return Object.entries(members)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : writeJson(value)}`)
    .join('\n');
}

function formatDelay(delay: EditedRule['delay']): unknown {
  if (typeof delay !== 'object') return delay;
  return `${delay.min} to ${delay.max}`;
}

export function formatRuleFields({ where, patch, fault, ...others }: EditedRule): Texts {
  const { reply = patch } = others;
  const { headers = {}, ...conditions } = { headers: undefined, ...where };
  const asConditions = Object.entries(headers).map(([name, value]) => [`header ${name}`, value]);
  const texts = {
    ...others,
    on: [others.on].flat().join(', '),
    where: formatLines({ ...conditions, ...Object.fromEntries(asConditions) }),
    status: reply?.status,
    headers: formatLines(reply?.headers),
    body: reply?.body === undefined ? undefined : formatBody(reply.body, 2),
    how: patch && PATCHED,
    reply: undefined,
    delay: formatDelay(others.delay),
    fault: typeof fault === 'object' ? fault.kind : fault,
  };
  const given = Object.entries(texts).filter(([, value]) => value !== undefined && value !== false);
  return new Map(given.map(([name, value]) => [name, String(value)]));
}

/** How the fields of a reply are meant; otherwise they are all of it. */
export const PATCHED = 'change the real reply';

function parseConditions(text: string): Readonly<Record<string, unknown>> {
  const headers = new Map<string, unknown>();
  const where = new Map<string, unknown>();
  for (const line of text.split('\n')) {
    const [, header, name, value = ''] =
      /^\s*(header\s)?\s*([^:]+?)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined) (header === undefined ? where : headers).set(name, jsonOr(value));
  }
  if (headers.size > 0) where.set('headers', Object.fromEntries(headers));
  return Object.fromEntries(where);
}

function jsonOr(text: string): unknown {
  try {
    return parseInput(text);
  } catch {
    return text;
  }
}

function readStatuses(texts: Texts): readonly string[] {
  return texts.get('fault') ? [] : (texts.get('status') ?? '').split(/[ ,]+/).filter(Boolean);
}

export function parseRules(texts: Texts): readonly EditedRule[] {
  const text = (name: string): string => texts.get(name)?.trim() ?? '';
  const given = (name: string, value: unknown) => text(name) !== '' && { [name]: value };
  const where = parseConditions(text('where'));
  const isPatch = text('how') === PATCHED;
  const headers = parseHeaderLines(text('headers')).map(
    ([name, value]) => [name, isPatch && value === 'null' ? null : value] as const,
  );
  const operations = text('on').split(/[ ,]+/).filter(Boolean);
  const replyOf = (status: string) => ({
    ...(status !== '' && { status: Number(status) }),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...given('body', jsonOr(text('body'))),
  });
  const ruleOf = (calls: string, status?: string) => ({
    on: operations.length > 1 ? operations : (operations[0] ?? '*'),
    ...(Object.keys(where).length > 0 && { where }),
    ...(calls !== '' && { calls: jsonOr(calls) }),
    ...given('chance', Number(text('chance'))),
    ...given('delay', Number(text('delay'))),
    ...given('hold', text('hold') === 'true' || text('hold')),
    ...given('fault', text('fault')),
    ...(isPatch
      ? { patch: replyOf(status ?? '') }
      : status !== undefined && { reply: { status: Number(status), ...replyOf(status) } }),
  });
  const statuses = readStatuses(texts);
  return statuses.length > 1
    ? statuses.map((status, index) => ruleOf(String(index + 1), status))
    : [ruleOf(text('calls'), statuses[0])];
}

export function formatRules(texts: Texts): string {
  const text = (name: string): string => texts.get(name)?.trim() ?? '';
  const operations = text('on')
    .split(/[ ,]+/)
    .filter((name) => name !== '' && name !== '*');
  const calls = operations.map((name) => {
    if (!isRowName(OPERATIONS, name)) return name;
    const { method, path } = operationShape(name);
    return `${method} ${path}`;
  });
  const subject = calls.length === 0 ? 'Each call' : calls.join(' or ');
  const conditions = text('where')
    .split(/\s*\n\s*/)
    .filter(Boolean);
  const where = conditions.join(' and ').replaceAll(': ', ' ');
  const statuses = readStatuses(texts);
  const body = text('body') && ' with the body below';
  const isPatch = text('how') === PATCHED;
  const effects = [
    text('fault') && `gets the fault ${text('fault')}`,
    isPatch && `gets the real reply, changed${statuses[0] ? ` to ${statuses[0]}` : ''}`,
    !isPatch && statuses.length > 0 && `gets ${statuses.join(', then ')}${body}`,
    !text('fault') &&
      !isPatch &&
      statuses.length === 0 &&
      (text('delay') || text('hold')) &&
      'answers',
    text('delay') && `after ${text('delay')} ms`,
    text('hold') && 'once it is released',
  ];
  const effect = effects.filter(Boolean).join(' ') || 'gets nothing new';
  const numbers =
    text('calls') && `${/^\d+$/.test(text('calls')) ? 'at call' : 'at calls'} ${text('calls')}`;
  const turn = statuses.length > 1 ? 'then what it would get' : numbers || 'at every call';
  const chance = text('chance') && ` with a chance of ${text('chance')}`;
  return `${subject}${where && ` with ${where}`} ${effect}, ${turn}${chance}.`;
}

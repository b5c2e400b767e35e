import { stringify } from 'lossless-json';
import { parseJson } from '../../contract/json.ts';
import { OPERATIONS, operationShape } from '../../contract/operations.ts';
import { isRowName } from '../../contract/records.ts';
import type { Texts } from '../parts/form.tsx';
import { formatBody, parseHeaderLines } from './requests.ts';

/** The members of a rule that a form shows, as a scenario has them. */
export interface Rule {
  readonly on: string;
  readonly where?: Readonly<Record<string, unknown>>;
  readonly calls?: string | number;
  readonly chance?: number;
  readonly delay?: number;
  readonly hold?: boolean | string;
  readonly fault?: string | { readonly kind: string };
  readonly reply?: {
    readonly status: number;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
}

export interface ScenarioParts {
  readonly description: string;
  readonly rules: readonly Rule[];
}

export async function parseScenario(text: string): Promise<ScenarioParts> {
  // Loaded here: the first view needs no YAML.
  const { parse } = await import('yaml');
  try {
    const { description = '', rules } = parse(text, { intAsBigInt: true });
    return { description: String(description), rules: Array.isArray(rules) ? rules : [] };
  } catch {
    return { description: '', rules: [] };
  }
}

/** A scenario with another description; its comments are kept. */
export async function setDescription(scenario: string, description: string): Promise<string> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(scenario, { intAsBigInt: true });
  document.set('description', description);
  return document.toString({ lineWidth: 0 });
}

/** Whether the fields of a form can say all that a rule says. */
export function fitsForm(rule: Rule): boolean {
  return (
    typeof rule?.on === 'string' &&
    writeSorted(parseRules(formatRuleFields(rule))) === writeSorted([rule])
  );
}

/** The index of an earlier rule that takes every call of a rule, if there is one. */
export function findHidingRule(rules: readonly Rule[], index: number): number | undefined {
  const { on, where = {} } = rules[index] ?? { on: '' };
  const found = rules
    .slice(0, index)
    .findIndex(
      (earlier) =>
        [on, '*'].includes(earlier.on) &&
        earlier.calls === undefined &&
        earlier.chance === undefined &&
        Object.entries(earlier.where ?? {}).every(
          ([name, value]) => writeSorted(value) === writeSorted(where[name]),
        ),
    );
  return found < 0 ? undefined : found;
}

function writeSorted(value: unknown): string {
  const sort = (_name: string, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part;
  return stringify(value, sort) ?? '';
}

function lines(members: object = {}): string {
  return Object.entries(members)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : stringify(value)}`)
    .join('\n');
}

export function formatRuleFields({
  on,
  where,
  calls,
  chance,
  delay,
  hold,
  fault,
  reply,
}: Rule): Texts {
  const { headers, ...conditions } = { headers: undefined, ...where };
  const texts = {
    on,
    where: lines({ ...conditions, ...prefixed(headers) }),
    status: reply?.status,
    headers: lines(reply?.headers),
    body: reply?.body === undefined ? undefined : formatBody(reply.body, 2),
    fault: typeof fault === 'object' ? fault.kind : fault,
    ...{ calls, chance, delay, hold },
  };
  const given = Object.entries(texts).filter(([, value]) => value !== undefined && value !== false);
  return new Map(given.map(([name, value]) => [name, String(value)]));
}

function prefixed(headers: object = {}): object {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [`header ${name}`, value]),
  );
}

function parseConditions(text: string): object {
  const headers: Record<string, unknown> = {};
  const where: Record<string, unknown> = {};
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^\s*([^:]+?)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
    if (name.startsWith('header ')) headers[name.slice('header '.length).trim()] = jsonOr(value);
    else if (name !== '') where[name] = jsonOr(value);
  }
  return { ...where, ...(Object.keys(headers).length > 0 && { headers }) };
}

/** The rules that the fields describe, as values for YAML: one for each status in turn. */
export function parseRules(texts: Texts): readonly object[] {
  const text = (name: string): string => texts.get(name)?.trim() ?? '';
  const number = (name: string) => (text(name) === '' ? {} : { [name]: Number(text(name)) });
  const where = parseConditions(text('where'));
  const headers = parseHeaderLines(text('headers'));
  const replyOf = (status: string) => ({
    status: Number(status),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(text('body') !== '' && { body: jsonOr(text('body')) }),
  });
  const statuses = text('fault') === '' ? text('status').split(/[ ,]+/) : [''];
  return statuses.map((status, index) => {
    const calls = statuses.length > 1 ? String(index + 1) : text('calls');
    return {
      on: text('on'),
      ...(Object.keys(where).length > 0 && { where }),
      ...(calls !== '' && { calls: jsonOr(calls) }),
      ...number('chance'),
      ...number('delay'),
      ...(text('hold') !== '' && { hold: text('hold') === 'true' ? true : text('hold') }),
      ...(text('fault') !== '' && { fault: text('fault') }),
      ...(status !== '' && { reply: replyOf(status) }),
    };
  });
}

export function formatRules(texts: Texts): string {
  const text = (name: string): string => texts.get(name)?.trim() ?? '';
  const operation = text('on');
  const shape = isRowName(OPERATIONS, operation) ? operationShape(operation) : undefined;
  const statuses = text('status').split(/[ ,]+/).filter(Boolean);
  const where = text('where')
    .split(/\s*\n\s*/)
    .filter(Boolean);
  const body = text('body') === '' ? '' : ' with the body below';
  const effects = [
    text('fault') === '' ? '' : `gets the fault ${text('fault')}`,
    text('fault') !== '' || statuses.length === 0 ? '' : `gets ${statuses.join(', then ')}${body}`,
    text('delay') === '' ? '' : `after ${text('delay')} ms`,
    text('hold') === '' ? '' : 'once it is released',
  ].filter(Boolean);
  const calls = text('calls') === '' ? 'at every call' : `at calls ${text('calls')}`;
  return [
    shape === undefined ? 'Each call' : `${shape.method} ${shape.path}`,
    ...(where.length > 0 ? [`with ${where.join(' and ').replaceAll(': ', ' ')}`] : []),
    `${effects.join(' ') || 'gets nothing new'},`,
    statuses.length > 1 ? 'then what it would get' : calls,
    ...(text('chance') === '' ? [] : [`with a chance of ${text('chance')}`]),
  ]
    .join(' ')
    .concat('.');
}

/** JSON, or else the text itself. */
function jsonOr(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/**
 * A scenario with more rules, which come before its own; its comments are kept.
 *
 * @param replaced the index of the rule whose place they take
 */
export async function insertRules(
  scenario: string,
  added: readonly object[],
  comment: string,
  replaced?: number,
): Promise<string> {
  const { isSeq, parseDocument } = await import('yaml');
  const document = parseDocument(scenario, { intAsBigInt: true });
  const nodes = added.map((rule) => document.createNode(rule));
  const [first] = nodes;
  if (first !== undefined) first.commentBefore = ` ${comment}`;
  const rules = document.get('rules');
  if (isSeq(rules)) {
    rules.flow = false;
    rules.items.splice(replaced ?? 0, replaced === undefined ? 0 : 1, ...nodes);
  } else document.set('rules', document.createNode(nodes));
  return document.toString({ lineWidth: 0 });
}

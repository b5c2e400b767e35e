import { stringify } from 'lossless-json';
import { parseJson } from '../../contract/json.ts';
import { type OperationId, operationShape } from '../../contract/operations.ts';
import type { RecordedExchange } from '../../control/control-shapes.ts';
import { parseTarget, queryOf } from '../../http/target.ts';
import type { Texts } from '../parts/form.tsx';
import { headersIn, isKeyLost, requestOf, textOfBody } from './requests.ts';

/** A rule as a person edits it. */
export interface RuleDraft {
  readonly operation: OperationId;
  /** Of each field. A condition has its value as JSON, and a tick if it applies. */
  readonly texts: Texts;
}

/** What the names of the fields of a condition begin with. */
export const [TICK, VALUE] = ['match ', 'value '] as const;

/** Headers that each reply gets anyway. */
const OF_THE_MOCK =
  /^(?:connection|content-length|date|keep-alive|mock-.*|access-control-.*|transfer-encoding|vary)$/;

/** A rule that gives requests like that of an exchange the same reply or fault. */
export function draftOf(exchange: RecordedExchange, operation: OperationId): RuleDraft {
  const { status, fault, reply } = exchange;
  const headers = Object.entries(reply.headers).filter(
    ([name, value]) =>
      !OF_THE_MOCK.test(name) && !(name === 'content-type' && value.includes('json')),
  );
  const texts = new Map([
    ['status', status === undefined ? '' : String(status)],
    ['headers', headers.map(([name, value]) => `${name}: ${value}`).join('\n')],
    ['body', reply.body === undefined || reply.cut ? '' : textOfBody(reply.body, 2)],
    ['fault', fault ?? (status === undefined ? 'close' : '')],
  ]);
  for (const [name, value] of matchesOf(exchange, operation)) {
    texts.set(VALUE + name, value);
    // A key is the same for most calls of a client.
    if (name !== 'key') texts.set(TICK + name, 'on');
  }
  return { operation, texts };
}

/** What distinguishes a request from others of its operation: its path, query, body and key. */
function matchesOf(exchange: RecordedExchange, operation: OperationId): Map<string, string> {
  const { parameters, body } = operationShape(operation);
  const target = parseTarget(exchange.target);
  const query = queryOf(target);
  const fields: Readonly<Record<string, unknown>> = Object(exchange.request.body);
  const matches = new Map<string, string>();
  for (const { name, in: place } of parameters) {
    const text = place === 'path' ? target.pathId : query.find(([it]) => it === name)?.[1];
    if (text) matches.set(name, /^-?\d{1,19}$/.test(text) ? text : JSON.stringify(text));
  }
  for (const name of Object.keys(body?.fields ?? {})) {
    const value = fields[name];
    if (value !== undefined && typeof value !== 'object') matches.set(name, `${stringify(value)}`);
  }
  const request = requestOf(exchange);
  const [key = ''] = request.key.split('~');
  if (key !== '' && !isKeyLost(request)) matches.set('key', JSON.stringify(key));
  return matches;
}

/** The rule that a draft describes, as a value for YAML. */
export function ruleIn({ operation, texts }: RuleDraft): object {
  const text = (name: string): string => texts.get(name)?.trim() ?? '';
  const where = matchedIn(texts).map(([name, value]) => [name, jsonOr(value)]);
  const headers = headersIn(text('headers'));
  const reply = {
    status: Number(text('status')),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(text('body') !== '' && { body: jsonOr(text('body')) }),
  };
  return {
    on: operation,
    ...(where.length > 0 && { where: Object.fromEntries(where) }),
    ...(text('calls') !== '' && { calls: text('calls') }),
    ...(text('delay') !== '' && { delay: Number(text('delay')) }),
    ...(text('fault') !== '' ? { fault: text('fault') } : { reply }),
  };
}

/** What a rule will do, in a sentence. */
export function sentenceOf({ operation, texts }: RuleDraft): string {
  const text = (name: string): string => texts.get(name)?.trim() ?? '';
  const { method, path } = operationShape(operation);
  const matched = matchedIn(texts).map(([name, value]) => `${name} ${value}`);
  const effect =
    text('fault') === ''
      ? `gets ${text('status')}${text('body') === '' ? '' : ' with the body below'}`
      : `gets the fault ${text('fault')}`;
  const parts = [
    matched.length > 0 ? `with ${matched.join(' and ')} ` : '',
    effect,
    text('delay') === '' ? '' : ` after ${text('delay')} ms`,
    text('calls') === '' ? ', at every call' : `, at calls ${text('calls')}`,
  ];
  return `${method} ${path} ${parts.join('')}.`;
}

/** The names of conditions whose fields begin with a prefix. */
export function namesOf(texts: Texts, prefix: string): string[] {
  const fields = [...texts.keys()].filter((it) => it.startsWith(prefix));
  return fields.map((it) => it.slice(prefix.length));
}

/** The ticked conditions, with their values. */
function matchedIn(texts: Texts): (readonly [name: string, value: string])[] {
  return namesOf(texts, TICK).map((name) => [name, texts.get(VALUE + name)?.trim() ?? '']);
}

/** JSON, or else the text itself. */
function jsonOr(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** A scenario with one more rule, its comments kept. */
export async function withRule(scenario: string, rule: object, comment: string): Promise<string> {
  // Loaded here: the first view needs no YAML.
  const { isSeq, parseDocument } = await import('yaml');
  const document = parseDocument(scenario, { intAsBigInt: true });
  const node = document.createNode(rule);
  node.commentBefore = ` ${comment}`;
  const rules = document.get('rules');
  if (isSeq(rules)) {
    rules.flow = false;
    rules.add(node);
  } else document.set('rules', document.createNode([node]));
  return document.toString({ lineWidth: 0 });
}

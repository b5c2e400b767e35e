import { operationShape } from '../../core/contract/operations.ts';
import { parseAddress, parseQuery, parseTarget } from '../../core/contract/target.ts';
import { parseInput, tryParseJson, writeJson } from '../../core/json.ts';
import { pairHeaders, readHeaderText } from '../../core/raw-http.ts';
import { bodyText, type Exchange, isDropped } from '../../core/sandbox/exchange.ts';
import { effectOf } from '../../core/scenario/fault-table.ts';

const MAX_RULE_BODY = 8192;

export function writeRule(exchange: Exchange): string | undefined {
  const { number, operation, fault, delay, status } = exchange;
  if (operation === undefined) return undefined;
  const parsed = parseTarget(splitMount(exchange).url);
  const { pathId } = parsed;
  const { parameters } = operationShape(operation);
  const parameter = parameters.find((known) => known.in === 'path');
  const names = parameters.map(({ name }) => name);
  const where = {
    ...(parameter && pathId !== undefined && { [parameter.name]: tryParseJson(pathId) ?? pathId }),
    ...Object.fromEntries(parseQuery(parsed).filter(([name]) => names.includes(name))),
  };
  const rule = {
    on: operation,
    where: Object.keys(where).length > 0 ? where : undefined,
    delay: delay > 0 ? delay : undefined,
    fault: fault?.kind === 'slow-body' ? fault : fault?.kind,
    reply: ruleReply(exchange),
  };
  const lines = Object.entries(rule).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [`${name}: ${typeof value === 'string' ? value : writeJson(value)}`];
  });
  const description = `${operation} gets ${status ?? fault?.kind}, as in call ${number}.`;
  return `description: ${description}\nrules:\n  - ${lines.join('\n    ')}\n`;
}

/** Separates the mount path of an embedding app from the service's path. */
export function splitMount({ operation, target }: Exchange) {
  const mount = operation === undefined ? '' : parseAddress(target.replace(/\?.*/s, '')).root;
  return { mount, url: target.slice(mount.length) };
}

/** Headers that the mock or Node adds, or that describe a body which is decoded here. */
const WRITTEN_HEADERS =
  /^(?:access-control-.*|connection|content-encoding|content-length|date|keep-alive|mock-basis|preference-applied|transfer-encoding|vary)$/i;

function ruleReply({ method, status, reply, fault, basis }: Exchange) {
  if (status === undefined || reply === undefined || effectOf(fault).sender === 'proxy')
    return undefined;
  const text = bodyText(reply);
  const isMade = basis.kind !== 'documented' && basis.kind !== 'assumed';
  const isShort = text !== undefined && text.length <= MAX_RULE_BODY;
  const hasBody = isShort && (isMade || method !== 'GET' || status >= 400);
  if (fault !== undefined && (status < 400 || !hasBody)) return undefined;
  const headers = pairHeaders(reply.headers).filter(([name, value]) => {
    // A rule without a body sends the operation's headers.
    if (!hasBody && !isMade) return /^retry-after$/i.test(name);
    if (!hasBody && /^content-type$/i.test(name)) return false;
    return !WRITTEN_HEADERS.test(name) && value !== 'application/json';
  });
  const isEmpty = isMade && text === undefined && !isDropped(reply) && method !== 'HEAD';
  return {
    status,
    ...(headers.length > 0 && {
      headers: Object.fromEntries(headers.map(([name, value]) => [name, readHeaderText(value)])),
    }),
    ...(hasBody && { body: tryParseJson(text, parseInput) ?? text }),
    ...(isEmpty && status >= 400 && { empty: true }),
  };
}

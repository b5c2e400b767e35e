import { byteLength } from '../../bytes.ts';
import { reasonPhrase } from '../../contract/error-codes.ts';
import { operationShape } from '../../contract/operations.ts';
import { parseQuery, parseTarget } from '../../contract/target.ts';
import { parseInput, tryParseJson, writeJson } from '../../json.ts';
import { findHeader, readHeaderText } from '../../raw-http.ts';
import {
  bodyText,
  describeHold,
  type Exchange,
  findTraceId,
  HOLD_ENDS,
  isDropped,
  listFindings,
  maskedKey,
  maskHeaders,
} from '../../sandbox/exchange.ts';
import {
  BASIS_KIND,
  COUNT,
  EXPECTED_REPLY,
  FINDING_CODES,
  NOTED_MEMBERS,
  OPERATION,
  TEXTS,
} from '../../sandbox/report-shapes.ts';
import { INSTANT_TEXT } from '../../scenario/settings-shapes.ts';
import { basisReasons } from '../../service/reply.ts';
import { dictionary, namedObject, object, optional, required } from '../../shape/objects.ts';
import {
  ANY,
  ANY_TEXT,
  choice,
  convert,
  FLAG,
  type InputOf,
  list,
  number,
} from '../../shape/shapes.ts';
import { roundDuration } from '../../words.ts';

const MILLISECONDS = number(0, Number.MAX_VALUE, 'milliseconds');

const HEADERS = convert(
  dictionary(ANY_TEXT, /^/, { expected: 'headers by name', expectedName: 'a name' }),
  (headers): Readonly<Record<string, string>> => Object.fromEntries(headers),
);

const MESSAGE = object({
  headers: required(HEADERS, 'The headers by name.'),
  body: optional(ANY, 'The JSON value of the body, or else its text.'),
  size: optional(COUNT, 'The bytes of the whole body; left out if there was none.'),
  cut: optional(FLAG, 'Whether the body was dropped: too long, or displaced by newer ones.'),
});

export const EXCHANGE = namedObject('Exchange', {
  number: required(COUNT, 'Counted from 1, dropped exchanges included.'),
  at: required(INSTANT_TEXT, "When it was answered, by the sandbox's clock."),
  method: required(ANY_TEXT, 'The method of the request.'),
  target: required(ANY_TEXT, 'The path and the query of the request.'),
  operation: optional(OPERATION, 'The operation, if the request reached one.'),
  traceId: optional(ANY_TEXT, 'The trace that its `traceparent` names, if it names one.'),
  replays: optional(COUNT, 'The number of the exchange that it replays.'),
  key: optional(ANY_TEXT, 'The first characters of the API key.'),
  status: optional(COUNT, 'Left out if the client received none.'),
  fault: optional(ANY_TEXT, 'The fault that replaced or spoilt the reply.'),
  delay: required(MILLISECONDS, 'How long the reply was delayed, in milliseconds.'),
  hold: optional(
    object({
      name: required(ANY_TEXT, 'The name of the hold; `default` for `hold: true`.'),
      ended: optional(choice(HOLD_ENDS), 'Why it ended; left out while the reply is held back.'),
      lasted: optional(MILLISECONDS, 'How long the reply was held back, in milliseconds.'),
    }),
    'Set if a rule holds or held the reply back.',
  ),
  duration: required(MILLISECONDS, 'Milliseconds from the request to its reply, delay included.'),
  basis: required(BASIS_KIND, 'What the reply rests on.'),
  by: required(TEXTS, 'The assumptions or the rule that the basis names.'),
  why: required(TEXTS, 'The reasons in words, the nearest first.'),
  findings: required(
    list(object(NOTED_MEMBERS)),
    'What the client should not do against the real service.',
  ),
  expected: optional(
    EXPECTED_REPLY,
    'What the mock would have answered in place of the deployment; left out where it cannot know.',
  ),
  request: required(MESSAGE, 'The request. Credentials in its headers are masked.'),
  reply: required(MESSAGE, 'The reply, without the headers of the connection.'),
});
export type RecordedExchange = InputOf<typeof EXCHANGE>;

/** In one line of JSON. Bodies that are JSON are copied: streams write thousands per second. */
export function formatExchange(exchange: Exchange): string {
  const { number, at, method, target, operation, status, fault, delay, duration } = exchange;
  const { basis, expected, hold, reasons, replays, request, reply } = exchange;
  const head: Omit<RecordedExchange, 'request' | 'reply'> = {
    number,
    at: new Date(at).toISOString(),
    method,
    target,
    operation,
    traceId: findTraceId(exchange),
    replays,
    key: maskedKey(exchange),
    status,
    fault: fault?.kind,
    delay,
    hold: hold && describeHold(hold),
    duration: roundDuration(duration),
    basis: basis.kind,
    by: basisReasons(basis),
    why: reasons,
    findings: listFindings(exchange).map((finding) => ({
      ...finding,
      advice: FINDING_CODES[finding.code],
    })),
    expected,
  };
  const parts = `"request":${writeMessage(request)},"reply":${writeMessage(reply ?? NO_REPLY)}`;
  return `${JSON.stringify(head).slice(0, -1)},${parts}}`;
}

type ShownMessage = Exchange['request'];

const NO_REPLY = { headers: [], body: undefined, size: 0 };

function writeMessage(message: ShownMessage): string {
  const { headers, size } = message;
  const shown = mergeHeaders(maskHeaders(headers));
  const sizes = { ...(size > 0 && { size }), ...(isDropped(message) && { cut: true }) };
  const mark = JSON.stringify({ headers: shown, ...sizes });
  const text = bodyText(message);
  if (text === undefined || text === '') return mark;
  const body =
    tryParseJson(text) === undefined ? JSON.stringify(text) : text.replaceAll(/[\r\n]/g, ' ');
  return `${mark.slice(0, -1)},"body":${body}}`;
}

/** @param headers alternating names and values */
function mergeHeaders(headers: readonly string[]): Readonly<Record<string, string>> {
  const view = new Map<string, string>();
  for (const { name, value } of pairHeaders(headers)) {
    const before = view.get(name.toLowerCase());
    view.set(name.toLowerCase(), before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(view);
}

const UNKNOWN = -1;

export function writeHarHead(version: string): string {
  const creator = JSON.stringify({ name: 'petstore-mock', version });
  return `{"log":{"version":"1.2","creator":${creator},"entries":`;
}

export function writeHarEntry(exchange: Exchange, origin: string): string {
  const { at, delay, duration, reasons } = exchange;
  return JSON.stringify({
    startedDateTime: new Date(at - Math.max(0, duration - delay)).toISOString(),
    time: duration,
    request: createHarRequest(exchange, origin),
    response: createHarResponse(exchange),
    cache: {},
    timings: { send: 0, wait: duration, receive: 0 },
    comment: reasons.join('; '),
  });
}

function createHarRequest({ method, target, request }: Exchange, origin: string): object {
  const headers = maskHeaders(request.headers);
  const host = findHeader(headers, 'host');
  const base = host === undefined ? origin : origin.replace(/\/\/.*/, `//${host}`);
  const query = parseQuery(parseTarget(target));
  return {
    method,
    // `OPTIONS *` is about the server (RFC 9112, section 3.3).
    url: target === '*' ? base : target.startsWith('/') ? base + target : target,
    ...createHarMessage(headers),
    queryString: query.map(([name, value]) => ({ name, value })),
    ...(request.size > 0 && {
      postData: {
        mimeType: findHeader(headers, 'content-type') ?? '',
        text: bodyText(request) ?? '',
        ...(isDropped(request) && { comment: DROPPED }),
      },
    }),
    bodySize: request.size,
  };
}

const DROPPED = 'It was dropped to limit the memory of the journal.';

function createHarResponse({
  status = 0,
  fault,
  reply = { ...NO_REPLY, status: 0 },
}: Exchange): object {
  const headers = maskHeaders(reply.headers);
  const text = bodyText(reply);
  return {
    status,
    statusText: reasonPhrase(status),
    ...createHarMessage(headers),
    content: {
      size: text === undefined ? reply.size : byteLength(text),
      mimeType: findHeader(headers, 'content-type') ?? '',
      ...(text !== undefined && { text }),
      ...(isDropped(reply) && { comment: DROPPED }),
    },
    redirectURL: '',
    bodySize: fault !== undefined ? UNKNOWN : reply.size,
    ...(fault !== undefined && { _error: fault.kind }),
  };
}

function createHarMessage(headers: readonly string[]): object {
  return {
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: pairHeaders(headers),
    headersSize: UNKNOWN,
  };
}

/** @param headers alternating names and values */
function pairHeaders(headers: readonly string[]) {
  return headers.flatMap((name, index) =>
    index % 2 === 0 ? [{ name, value: headers[index + 1] ?? '' }] : [],
  );
}

const MAX_RULE_BODY = 8192;

export function writeRule(exchange: Exchange): string | undefined {
  const { number, operation, target, fault, delay, status } = exchange;
  if (operation === undefined) return undefined;
  const parsed = parseTarget(/(?:\/~[^/]+)?\/v1\/.*/s.exec(target)?.[0] ?? target);
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

/** Headers that the mock or Node writes by itself, or that tell of a body that is decoded. */
const WRITTEN_HEADERS =
  /^(?:access-control-.*|connection|content-encoding|content-length|date|keep-alive|mock-basis|preference-applied|transfer-encoding|vary)$/i;

function ruleReply({ method, status, reply, fault, basis }: Exchange) {
  if (status === undefined || reply === undefined || fault?.kind === 'html') return undefined;
  const text = bodyText(reply);
  const isMade = basis.kind !== 'documented' && basis.kind !== 'assumed';
  const isShort = text !== undefined && text.length <= MAX_RULE_BODY;
  const hasBody = isShort && (isMade || method !== 'GET' || status >= 400);
  if (fault !== undefined && (status < 400 || !hasBody)) return undefined;
  const headers = pairHeaders(reply.headers).filter(({ name, value }) => {
    // Without a body of its own, a rule has the headers of the operation.
    if (!hasBody && !isMade) return /^retry-after$/i.test(name);
    if (!hasBody && /^content-type$/i.test(name)) return false;
    return !WRITTEN_HEADERS.test(name) && value !== 'application/json';
  });
  const isEmpty = isMade && text === undefined && !isDropped(reply) && method !== 'HEAD';
  return {
    status,
    ...(headers.length > 0 && {
      headers: Object.fromEntries(headers.map(({ name, value }) => [name, readHeaderText(value)])),
    }),
    ...(hasBody && { body: tryParseJson(text, parseInput) ?? text }),
    ...(isEmpty && status >= 400 && { empty: true }),
  };
}

import { tryParseJson } from '../../json.ts';
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

export const NO_REPLY = { headers: [], body: undefined, size: 0 };

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

/** @param headers alternating names and values */
export function pairHeaders(headers: readonly string[]) {
  return headers.flatMap((name, index) =>
    index % 2 === 0 ? [{ name, value: headers[index + 1] ?? '' }] : [],
  );
}

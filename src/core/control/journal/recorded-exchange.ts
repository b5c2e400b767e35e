import { isTooDeep, tryParseJson } from '../../json.ts';
import { type Message, mergeHeaders } from '../../raw-http.ts';
import { bodyText, type Exchange, isDropped, maskHeaders } from '../../sandbox/exchange.ts';
import { EXCHANGE_FIELDS, readFields } from '../../sandbox/exchange-fields.ts';
import { COUNT } from '../../sandbox/report-shapes.ts';
import { dictionary, namedObject, object, optional, required } from '../../shape/objects.ts';
import { ANY, ANY_TEXT, convert, FLAG, type InputOf } from '../../shape/shapes.ts';

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
type RecordedMessage = InputOf<typeof MESSAGE>;

export const EXCHANGE = namedObject('Exchange', {
  ...EXCHANGE_FIELDS,
  request: required(MESSAGE, 'The request. Credentials in its headers are masked.'),
  reply: required(MESSAGE, 'The reply, without the headers of the connection.'),
});

/** An exchange as observers and the journal show it, with credentials masked. */
export interface RecordedExchange extends InputOf<typeof EXCHANGE> {}

export const NO_REPLY = { headers: [], body: undefined, size: 0 };

function readMessage(message: Message): RecordedMessage {
  const { headers, size } = message;
  return {
    headers: mergeHeaders(maskHeaders(headers)),
    ...(size > 0 && { size }),
    ...(isDropped(message) && { cut: true }),
  };
}

/** Getters compute the members that few observers read. */
export function recordExchange(exchange: Exchange): RecordedExchange {
  return {
    ...readFields(exchange),
    get request() {
      return recordMessage(exchange.request);
    },
    get reply() {
      return recordMessage(exchange.reply ?? NO_REPLY);
    },
  };
}

function recordMessage(message: Message): RecordedMessage {
  const text = bodyText(message);
  const body = text && (isTooDeep(text) ? text : (tryParseJson(text) ?? text));
  return { ...readMessage(message), ...(body !== undefined && body !== '' && { body }) };
}

/** What is unusual about an exchange, in words for a line of text. */
export function listCircumstances({ fault, delay, hold, offContract }: RecordedExchange): string[] {
  return [
    ...(offContract === undefined ? [] : ['off-contract']),
    ...(fault === undefined ? [] : [`fault ${fault}`]),
    ...(delay > 0 ? [`delayed by ${delay} ms`] : []),
    ...(hold === undefined ? [] : [`${hold.ended ?? 'held'} as ${hold.name}`]),
  ];
}

/**
 * Called after each exchange in any sandbox, with the sandbox's name. Called again when the hold of
 * a reply ends.
 */
export type Observer = (sandbox: string, exchange: RecordedExchange) => void;

/** The exchange in a line of JSON. Copies bodies that are JSON, to be fast enough for streams. */
export function formatExchange(exchange: Exchange): string {
  const { request, reply = NO_REPLY } = exchange;
  const parts = `"request":${writeMessage(request)},"reply":${writeMessage(reply)}`;
  return `${JSON.stringify(readFields(exchange)).slice(0, -1)},${parts}}`;
}

function writeMessage(message: Message): string {
  const mark = JSON.stringify(readMessage(message));
  const text = bodyText(message);
  if (text === undefined || text === '') return mark;
  // A body that is nested too deeply stays a string, because readers of the journal recurse.
  const isJson = !isTooDeep(text) && tryParseJson(text) !== undefined;
  const body = isJson ? text.replaceAll(/[\r\n]/g, ' ') : JSON.stringify(text);
  return `${mark.slice(0, -1)},"body":${body}}`;
}

/** An event of a sandbox, in the form that `requests/stream` sends. */
export type StreamEvent =
  | { readonly name: 'exchange' | 'hold'; readonly data: RecordedExchange }
  | { readonly name: 'dropped'; readonly data: { readonly count: number } }
  | { readonly name: 'edit'; readonly data: object };

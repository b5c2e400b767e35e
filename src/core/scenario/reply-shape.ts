import { type Int64, numberText, WrittenNumber, writeJson } from '../json.ts';
import { mayHaveContent, writeHeaderText } from '../raw-http.ts';
import { type Content, EMPTY, jsonBody } from '../service/reply.ts';
import { dictionary, object, optional, required } from '../shape/objects.ts';
import {
  ANY,
  convert,
  either,
  integer,
  NULL,
  oneOrMore,
  type ReportMisfit,
  type Shape,
  scalar,
  TRUE,
  text,
  type ValueOf,
  type ValuePath,
} from '../shape/shapes.ts';
import { describe, joinWords } from '../words.ts';

/** A token (RFC 9110, section 5.6.2). */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Visible characters, with spaces between them (RFC 9110, section 5.5). */
const HEADER_VALUE = /^(?:[^\s\p{Cc}](?:[\t\P{Cc}]*[^\s\p{Cc}])?)?$/u;

const NUMBER_TEXT = scalar<string, Int64>('a number', { type: 'number' }, (value, written) =>
  typeof value === 'bigint' || typeof value === 'number' || value instanceof WrittenNumber
    ? numberText(written)
    : undefined,
);

const EXPECTED_VALUE =
  'a header value: a string without control characters and without spaces around it, or a number';

const VALUE = either(
  text(EXPECTED_VALUE, HEADER_VALUE, { pattern: HEADER_VALUE.source }),
  NUMBER_TEXT,
  EXPECTED_VALUE,
);

export function headersShape<T, In>(values: Shape<T, In>) {
  const expected = 'an object of headers by name';
  return dictionary(values, HEADER_NAME, { expected, expectedName: 'a header name' });
}

const HEADERS = messageHeaders(oneOrMore(VALUE));

/** Headers to set by name, in any case. Null removes a header. */
export const CHANGED_HEADERS = messageHeaders(
  either(
    oneOrMore(VALUE),
    convert(NULL, (): readonly string[] => []),
    `${EXPECTED_VALUE}; or null`,
  ),
);

function messageHeaders<In>(values: Shape<readonly string[], In>) {
  return convert(headersShape(values), refuseFraming);
}

function refuseFraming(
  headers: ReadonlyMap<string, readonly string[]>,
  at: ValuePath,
  report: ReportMisfit,
) {
  const framing = [...headers].filter(([name, values]) => isFraming(name.toLowerCase(), values));
  for (const [name] of framing) {
    const but = name.toLowerCase() === 'connection' ? ', such as `Connection: close`' : '';
    const expected = `a header that does not frame the message${but}; use a \`fault\` to break that`;
    report({ at: [...at, name], ofName: true, expected, found: describe(name) });
  }
  return framing.length === 0 ? headers : undefined;
}

/**
 * Headers that a rule must not set: with a wrong length the message has no end, or Node refuses to
 * write it. With any `Connection` but `close`, Node ignores the client's wish to close.
 */
function isFraming(name: string, values: readonly string[]): boolean {
  const isLength = ['content-length', 'transfer-encoding', 'trailer'].includes(name);
  return isLength || (name === 'connection' && !/^close$/i.test(values.join()));
}

const ANY_JSON = convert(ANY, (value) => ({ value, text: writeJson(value) }));

const RULE_REPLY = object({
  status: required(integer(200, 599, 'a status from 200 to 599'), 'The status, from 200 to 599.'),
  headers: optional(
    HEADERS,
    'Additional headers by name, each with a value or an array of values.',
  ),
  body: optional(
    ANY_JSON,
    'Any JSON value, even one that the document does not allow. A string is sent as plain text if `headers` has a Content-Type that is not JSON. Without `body` and `empty`, the reply has the documented or assumed body of the status.',
  ),
  empty: optional(TRUE, 'Send no body, even if the status has a documented or assumed one.'),
});

/** A rule's reply. Without `content`, it gets the body that the service has for this status. */
export const REPLY = convert(
  RULE_REPLY,
  ({ status, headers: given = [], body, empty }, at, report) => {
    const headers = [...given];
    const refuse = (member: string, expected: string, found: string) =>
      report({ at: [...at, member], ofName: true, expected, found });
    const types = headers.flatMap(([name, values]) => (isContentType(name) ? values : []));
    if (body !== undefined && !mayHaveContent(status)) {
      return refuse('body', `no body beside the status ${status}`, 'one');
    }
    if (body !== undefined && empty) return refuse('empty', '`body` or `empty`', 'both');
    if (types.length > 0 && !body) return refuse('headers', 'a `body` beside Content-Type', 'none');
    if (types.length > 1) return refuse('headers', 'one Content-Type', joinWords(types, 'and'));
    return {
      status,
      headers: headers.flatMap(([name, values]) =>
        isContentType(name) ? [] : values.flatMap((value) => [name, writeHeaderText(value)]),
      ),
      content: empty ? EMPTY : body && createContent(body, types[0] && writeHeaderText(types[0])),
    };
  },
);

export type RuleReply = ValueOf<typeof REPLY>;

function isContentType(name: string): boolean {
  return name.toLowerCase() === 'content-type';
}

/** The body: JSON exactly as written, or a plain string if the media type is not JSON. */
function createContent(
  { value, text }: ValueOf<typeof ANY_JSON>,
  mediaType: string | undefined,
): Content {
  if (mediaType === undefined) return jsonBody(text);
  const isText = typeof value === 'string' && !isJsonType(mediaType);
  return { body: isText ? value : text, mediaType };
}

function isJsonType(mediaType: string): boolean {
  const [essence = ''] = mediaType.toLowerCase().split(';');
  return /(?:\/|\+)json$/.test(essence.trim());
}

import { writeJson } from '../contract/json.ts';
import { isObject } from '../contract/records.ts';
import { having, mapOf, object, optional, required } from '../shape/objects.ts';
import {
  type At,
  convert,
  either,
  integer,
  type Misfit,
  oneOrMore,
  type Shape,
  scalar,
  type Tell,
  TRUE,
  text,
} from '../shape/shapes.ts';
import { describe, listed } from '../words.ts';
import type { RuleReply } from './scenario.ts';

/** A token (RFC 9110, section 5.6.2). */
export const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Visible characters of Latin-1, with spaces between them (RFC 9110, section 5.5). */
const HEADER_VALUE = /^(?:[!-~\u0080-\u00ff](?:[\t -~\u0080-\u00ff]*[!-~\u0080-\u00ff])?)?$/;

/** Headers that frame the message. With a wrong value, no client could find its end. */
const FRAMING = ['content-length', 'transfer-encoding'];

const NUMBER_TEXT: Shape<string> = scalar({
  kinds: ['number'],
  expected: 'a number',
  schema: { type: 'number' },
  read: (value) =>
    typeof value === 'bigint' || Number.isFinite(value) ? String(value) : undefined,
});

const EXPECTED_VALUE = 'a header value: a string without line breaks, or a number';

const VALUE = either(
  text(EXPECTED_VALUE, HEADER_VALUE, { pattern: HEADER_VALUE.source }),
  NUMBER_TEXT,
  EXPECTED_VALUE,
);

const HEADERS: Shape<ReadonlyMap<string, readonly string[]>> = convert(
  mapOf(oneOrMore(VALUE), {
    expected: 'an object of headers by name',
    name: HEADER_NAME,
    expectedName: 'a header name',
  }),
  (headers, at, tell) => {
    const framing = [...headers.keys()].filter((name) => FRAMING.includes(name.toLowerCase()));
    for (const name of framing) {
      const expected = 'a header that does not frame the message; use a `fault` to break that';
      tell({ at: [...at, name], ofName: true, expected, found: describe(name) });
    }
    return framing.length === 0 ? headers : undefined;
  },
);

/** Deeper than any real document. */
const MAX_DEPTH = 100;

interface JsonValue {
  readonly value: unknown;
  readonly text: string;
}

const ANY_JSON: Shape<JsonValue> = {
  schema: {},
  expected: 'a JSON value',
  likeness: () => 1,
  read(value, at, tell) {
    if (!tellNoJson(value, at, tell)) return undefined;
    return { value, text: jsonText(value) };
  },
};

/** Reports values that JSON cannot represent, or that are nested too deeply. */
function tellNoJson(value: unknown, at: At, tell: Tell, depth = 0): boolean {
  if (depth > MAX_DEPTH) {
    tell({ at, expected: `at most ${MAX_DEPTH} levels`, found: 'more' });
    return false;
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    tell({ at, expected: 'a number that JSON can represent', found: String(value) });
    return false;
  }
  if (Array.isArray(value)) {
    return value
      .map((item, index) => tellNoJson(item, [...at, index], tell, depth + 1))
      .every(Boolean);
  }
  if (!isObject(value)) return true;
  return Object.entries(value)
    .map(([name, member]) => tellNoJson(member, [...at, name], tell, depth + 1))
    .every(Boolean);
}

function jsonText(value: unknown): string {
  if (typeof value === 'object' && value !== null) return writeJson(value);
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}

const STATUS = integer(200, 599, 'a status from 200 to 599');

/** Statuses that have no body (RFC 9110, section 6.4.1). */
export const BODILESS: readonly number[] = [204, 304];

const MEMBERS = {
  status: required(STATUS, 'The status, from 200 to 599.'),
  headers: optional(
    HEADERS,
    'Additional headers by name, each with a value or an array of values.',
  ),
  body: optional(
    ANY_JSON,
    'Any JSON value, even one that the document does not allow. A string is sent as plain text if `headers` has a Content-Type that is not JSON. Without `body` and `empty`, the reply has the documented or assumed body of the status.',
  ),
  empty: optional(TRUE, 'Send no body, even if the status has a documented or assumed one.'),
};

export const REPLY: Shape<RuleReply> = convert(
  object(MEMBERS, {
    schema: {
      allOf: [
        { not: having(['body', 'empty']) },
        {
          anyOf: [
            { not: having(['body']) },
            { properties: { status: { not: { enum: BODILESS } } } },
          ],
        },
      ],
    },
  }),
  ({ status, headers = NO_HEADERS, body, empty }, at, tell) => {
    const types = [...headers].filter(([name]) => isContentType(name)).flatMap(([, it]) => it);
    const wrong = misfitOf(status, types, body !== undefined, empty === true);
    if (wrong !== undefined) {
      tell({ ...wrong, at: [...at, ...wrong.at] });
      return undefined;
    }
    return {
      status,
      headers: [...headers].flatMap(([name, values]) =>
        isContentType(name) ? [] : values.flatMap((value) => [name, value]),
      ),
      body: empty ? { kind: 'none' } : body && bodyOf(body, types[0]),
    };
  },
);

const NO_HEADERS: ReadonlyMap<string, readonly string[]> = new Map();

function isContentType(name: string): boolean {
  return name.toLowerCase() === 'content-type';
}

/** Finds parts of a reply that do not go together. */
function misfitOf(
  status: number,
  types: readonly string[],
  hasBody: boolean,
  empty: boolean,
): Misfit | undefined {
  if (hasBody && BODILESS.includes(status)) {
    return {
      at: ['body'],
      ofName: true,
      expected: `no body beside the status ${status}`,
      found: 'one',
    };
  }
  if (hasBody && empty) {
    return { at: ['empty'], ofName: true, expected: '`body` or `empty`', found: 'both' };
  }
  if (types.length > 0 && !hasBody) {
    return { at: ['headers'], expected: 'a `body` beside Content-Type', found: 'none' };
  }
  if (types.length > 1) {
    return { at: ['headers'], expected: 'one Content-Type', found: listed(types, 'and') };
  }
  return undefined;
}

function bodyOf({ value, text }: JsonValue, mediaType: string | undefined): RuleReply['body'] {
  if (mediaType === undefined) return { kind: 'json', text };
  const isText = typeof value === 'string' && !isJsonType(mediaType);
  return { kind: 'text', text: isText ? value : text, mediaType };
}

function isJsonType(mediaType: string): boolean {
  const [essence = ''] = mediaType.toLowerCase().split(';');
  return /(?:\/|\+)json$/.test(essence.trim());
}

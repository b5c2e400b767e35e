import type { AssumptionId } from '../contract/assumption-table.ts';
import { isIntegerText, parseInt64 } from '../contract/int64.ts';
import type { OperationId } from '../contract/operations.ts';
import {
  FIELD_TYPES,
  type Fields,
  isObject,
  type RecordOf,
  readRecord,
  unknownMembers,
} from '../contract/records.ts';
import { describe } from '../words.ts';
import type { ReceivedBody, ReceivedBytes } from './received-body.ts';
import { errorReply, type Grounds, type Reply } from './reply.ts';

/** A request for an operation, decoded as far as can be done without the world it goes to. */
export interface Call {
  readonly operation: OperationId;
  /** The path as the client wrote it, for links to further pages. */
  readonly path: string;
  /** The segment in the place of the path's parameter, percent-decoded. */
  readonly pathId: string | undefined;
  readonly query: readonly (readonly [name: string, value: string])[];
  /** All headers, by name in lower case. */
  readonly headers: RequestHeaders;
  /** The `Authorization` header, without the name of a sandbox in its token. */
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly body: ReceivedBody;
}

type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The bytes that each option of `body-limit` lets in. */
export const BODY_LIMITS = {
  '1mb': 1024 * 1024,
  '10kb': 10 * 1024,
  none: 64 * 1024 * 1024,
} as const;

/** The values of query parameters by name. */
type Query = Readonly<Record<string, string | undefined>>;

const NO_QUERY_NAMES: readonly string[] = [];
const NO_VALUES: Query = {};

/**
 * Reads a call's input and gathers everything that is wrong with it, so that a client is told all
 * of it at once.
 */
export class InputReader {
  readonly #call: Call;
  readonly #grounds: Grounds;
  // Most requests have neither, and are the quicker for it.
  #problems: string[] | undefined;
  /** The assumptions of which another option would leave no problem; none where one is certain. */
  #because: readonly AssumptionId[] | undefined;
  /** The assumptions of which another option would make a problem. */
  #accepted: AssumptionId[] | undefined;
  /** The 413 or 415 that keeps the body from being read at all. */
  #unreadable: Reply | undefined;

  constructor(call: Call, grounds: Grounds) {
    this.#call = call;
    this.#grounds = grounds;
  }

  get grounds(): Grounds {
    return this.#grounds;
  }

  /** Notes something wrong; `because` names the assumptions that make it so, where any do. */
  problem(text: string, ...because: readonly AssumptionId[]): void {
    this.#problems ??= [];
    this.#problems.push(text);
    // Another option of one assumption helps only where it takes every problem away.
    this.#because = this.#because?.filter((id) => because.includes(id)) ?? because;
  }

  /** Notes that the chosen option of an assumption lets through what another would refuse. */
  accept(id: AssumptionId): void {
    this.#accepted ??= [];
    this.#accepted.push(id);
  }

  /** Whether anything was let through that another option would refuse. */
  get letThrough(): boolean {
    return this.#accepted !== undefined;
  }

  /** The status of a refusal of the input's values. */
  get refusalStatus(): 400 | 422 {
    return this.#grounds.choices['invalid-input'] === '422' ? 422 : 400;
  }

  /** Adds what was let through to the grounds of a reply that is no refusal of the input. */
  settle(): void {
    for (const id of this.#accepted ?? []) this.#grounds.decidedBy(id);
  }

  /** The reply to an input that has something wrong with it, or undefined. */
  get refusal(): Reply | undefined {
    if (this.#unreadable !== undefined) return this.#unreadable;
    if (this.#problems === undefined) return undefined;
    const grounds = this.#grounds;
    for (const id of this.#because ?? []) grounds.decidedBy(id);
    grounds.decidedBy('invalid-input');
    return errorReply(grounds, 'invalid_input', this.refusalStatus, this.#problems.join('; '));
  }

  /** The int64 in the path. */
  pathId(name: string): bigint | undefined {
    const text = this.#call.pathId ?? '';
    const id = parseInt64(text);
    if (id === undefined) {
      this.problem(`${name}: expected ${FIELD_TYPES.int64.expected}, found ${describe(text)}`);
    }
    return id;
  }

  /** The values of the named query parameters; any other is dropped or refused. */
  query(names: readonly string[] = NO_QUERY_NAMES): Query {
    if (this.#call.query.length === 0) return NO_VALUES;
    const values: Record<string, string | undefined> = {};
    for (const [name, value] of this.#call.query) {
      if (!names.includes(name)) {
        if (this.#grounds.choices['unknown-query'] === 'ignore') {
          this.accept('unknown-query');
        } else {
          const known = names.length > 0 ? `only ${names.join(', ')}` : 'no query parameter';
          this.problem(`${describe(name)}: expected ${known}`, 'unknown-query');
        }
      } else if (values[name] !== undefined) {
        this.problem(`${name}: expected once, found twice`);
      } else values[name] = value;
    }
    return values;
  }

  /** A whole number of any size in a query parameter. */
  integer(name: string, text: string, expected: string): number | undefined {
    if (isIntegerText(text)) return Number(text);
    this.problem(`${name}: expected ${expected}, found ${describe(text)}`);
    return undefined;
  }

  /**
   * The body's fields. Fields beyond them are dropped or refused, but for those in `handled`, which
   * the caller sees to.
   */
  body<const F extends Fields>(
    fields: F,
    handled: readonly string[] = [],
  ): { readonly fields: RecordOf<F>; readonly names: readonly string[] } | undefined {
    const value = this.#json();
    if (value === undefined) return undefined;
    const read = readRecord(fields, value, 'body');
    if (!read.ok) {
      for (const { path, expected, found } of read.problems) {
        this.problem(`${path}: expected ${expected}, found ${found}`);
      }
    }
    const unknown = isObject(value) ? unknownMembers(fields, value) : [];
    for (const name of unknown.filter((name) => !handled.includes(name))) {
      if (this.#grounds.choices['unknown-body-fields'] === 'ignore') {
        this.accept('unknown-body-fields');
      } else {
        const known = Object.keys(fields).join(', ');
        this.problem(
          `body: expected only ${known}, found ${describe(name)}`,
          'unknown-body-fields',
        );
      }
    }
    return read.ok ? { fields: read.value, names: unknown } : undefined;
  }

  /** The body as a parsed JSON value, or undefined where a problem or a refusal was noted. */
  #json(): unknown {
    const { body, contentType, contentEncoding } = this.#call;
    const grounds = this.#grounds;
    if (body.kind === 'too-large') {
      grounds.decidedBy('body-limit');
      const message = `the body is larger than ${body.limit} bytes`;
      this.#unreadable = errorReply(grounds, 'body_too_large', 413, message);
      return undefined;
    }
    if (body.kind === 'none') {
      this.problem('body: expected a JSON object, found nothing');
      return undefined;
    }
    if (body.bytes.length > BODY_LIMITS['10kb']) grounds.decidedBy('body-limit');
    if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
      this.#unsupported(`the Content-Encoding ${describe(contentEncoding)} is not supported`);
      return undefined;
    }
    if (!isJsonMediaType(contentType)) {
      grounds.decidedBy('media-type');
      if (grounds.choices['media-type'] === 'reject') {
        const found = contentType === undefined ? 'nothing' : describe(contentType);
        this.#unsupported(`Content-Type: expected application/json, found ${found}`);
        return undefined;
      }
    }
    return this.#object(body);
  }

  #object({ json }: ReceivedBytes): unknown {
    if (!json.ok) this.problem(json.problem);
    else if (isObject(json.value)) return json.value;
    else this.problem(`body: expected a JSON object, found ${describe(json.value)}`);
    return undefined;
  }

  #unsupported(message: string): void {
    this.#unreadable = errorReply(this.#grounds, 'unsupported_media_type', 415, message);
  }
}

/** `application/json`, alone or with the only charset JSON has (RFC 8259, section 8.1). */
const JSON_MEDIA_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset="?utf-8"?[ \t]*)?;?$/i;
const CHARSET = /;[ \t]*charset[ \t]*=/i;

function isJsonMediaType(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  if (contentType === undefined) return false;
  if (JSON_MEDIA_TYPE.test(contentType.trim())) return true;
  // Parameters other than the charset change nothing.
  return /^application\/json[ \t]*;/i.test(contentType) && !CHARSET.test(contentType);
}

import { isUtf8, toText } from '../bytes.ts';
import {
  type AssumptionId,
  type AssumptionOption,
  queryNames,
} from '../contract/assumption-table.ts';
import { BODY_LIMITS } from '../contract/assumptions/protocol-assumptions.ts';
import { type OperationId, operationShape } from '../contract/operations.ts';
import { INT64, unknownMembers } from '../contract/records.ts';
import { INTEGER_TEXT, isObject, parseInput, parseInt64, tryParseJson } from '../json.ts';
import { LIMITS } from '../limits.ts';
import { firstProblems, problemText } from '../problems.ts';
import type { RawHeaders } from '../raw-http.ts';
import type { ObjectMembers, ObjectShape } from '../shape/objects.ts';
import { readAs, type Shape, type ValueOf } from '../shape/shapes.ts';
import { describe } from '../words.ts';
import { type AssumptionTrace, errorReply, type Reply } from './reply.ts';

export type RequestBody =
  | { readonly kind: 'none' }
  | BodyBytes
  | { readonly kind: 'too-large'; readonly limit: number };

export const NO_BODY: RequestBody = { kind: 'none' };

type BodyJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** The body of a request. Everything that reads it shares one parsed value. */
export class BodyBytes {
  readonly kind = 'bytes';
  readonly bytes: Uint8Array;
  #json: BodyJson | undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get json(): BodyJson {
    this.#json ??= parseBytes(this.bytes);
    return this.#json;
  }
}

function parseBytes(bytes: Uint8Array): BodyJson {
  const text = toText(bytes);
  // Decoding replaces invalid bytes by U+FFFD. Searching for it is faster than checking each byte.
  if (text.includes('\uFFFD') && !isUtf8(bytes)) {
    return { ok: false, problem: 'body: expected JSON in UTF-8, found bytes that are not UTF-8' };
  }
  try {
    return { ok: true, value: parseInput(text) };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, problem: `body: expected JSON: ${why}` };
  }
}

/** Headers by their lower-case names, as in Node's `request.headers`. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Call {
  readonly operation: OperationId;
  /** The path as the client sent it. Links to the next page repeat it. */
  readonly path: string;
  /** The id in the path, percent-decoded; undefined if the path has none. */
  readonly pathId: string | undefined;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: RawHeaders;
  /** The `Authorization` header without the sandbox name in its token. */
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
  readonly body: RequestBody;
}

/** Reads a query's text as the value that `String` would write so; undefined if there is none. */
export function readTextAs<T>(shape: Shape<T>, text: string): T | undefined {
  for (const value of [text, tryParseJson(text, parseInput)]) {
    const reading = readAs(shape, value);
    if (reading.ok && String(reading.value) === text) return reading.value;
  }
  return undefined;
}

type Query = Readonly<Record<string, string | undefined>>;

const NO_VALUES: Query = {};

/** Reads the input of a call and collects every problem, so that one reply reports all of them. */
export class InputReader {
  readonly #call: Call;
  readonly decidedBy: AssumptionTrace;
  // Created on demand, since most requests have no problem.
  #problems: string[] | undefined;
  /** Assumptions with an option under which the whole input would be accepted. */
  #avoidableBy: readonly AssumptionId[] | undefined;
  /** Assumptions whose chosen option accepts something that another option refuses. */
  #acceptedBy: AssumptionId[] | undefined;
  /** The 413 or 415 of a body that was not read. */
  #unreadable: Reply | undefined;

  constructor(call: Call, decidedBy: AssumptionTrace) {
    this.#call = call;
    this.decidedBy = decidedBy;
  }

  /** Adds a problem. Each assumption in `avoidableBy` has an option that would accept the input. */
  problem(text: string, ...avoidableBy: readonly AssumptionId[]): void {
    this.#problems ??= [];
    this.#problems.push(text);
    // An option avoids the refusal only if it removes all problems, so keep the common assumptions.
    this.#avoidableBy = this.#avoidableBy?.filter((id) => avoidableBy.includes(id)) ?? avoidableBy;
  }

  /** Notes that the chosen option of `id` accepts what another option refuses. */
  addAcceptedBy(id: AssumptionId): void {
    this.#acceptedBy ??= [];
    this.#acceptedBy.push(id);
  }

  refuseUnless<Id extends AssumptionId>(
    id: Id,
    option: AssumptionOption<Id>,
    problem: string,
  ): void {
    if (this.decidedBy.choices[id] === option) this.addAcceptedBy(id);
    else this.problem(problem, id);
  }

  get hasAcceptedInput(): boolean {
    return this.#acceptedBy !== undefined;
  }

  get refusalStatus(): 400 | 422 {
    return this.decidedBy.choices['invalid-input'] === '422' ? 422 : 400;
  }

  /** Adds these assumptions to the basis, since they let the input through. */
  addAccepting(): void {
    for (const id of this.#acceptedBy ?? []) this.decidedBy.add(id);
  }

  get refusal(): Reply | undefined {
    if (this.#unreadable !== undefined) return this.#unreadable;
    if (this.#problems === undefined) return undefined;
    for (const id of [...(this.#avoidableBy ?? []), 'invalid-input'] as const) {
      this.decidedBy.add(id);
    }
    const message = firstProblems(this.#problems, (text) => text).join('; ');
    return errorReply(this.decidedBy, 'invalid_input', this.refusalStatus, message);
  }

  pathId(name: string): bigint | undefined {
    const text = this.#call.pathId ?? '';
    const id = parseInt64(text);
    if (id === undefined) this.#misfit(name, INT64.expected, text);
    return id;
  }

  #misfit(name: string, expected: string, text: string): undefined {
    this.problem(`${name}: expected ${expected}, found ${describe(text)}`);
  }

  /** Reads the query. `unknown-query` decides whether unknown parameters are refused. */
  query(): Query {
    const { query, operation } = this.#call;
    if (query.length === 0) return NO_VALUES;
    const { choices } = this.decidedBy;
    const names = queryNames(operation, choices);
    const { returnsAll } = operationShape(operation);
    const values: Record<string, string | undefined> = {};
    for (const [name, value] of query) {
      if (!names.includes(name)) {
        if (returnsAll && choices['unknown-query'] === 'ignore') continue;
        const known = names.length > 0 ? `use ${names.join(', ')}` : 'send none';
        const problem = `unknown query parameter ${describe(name)} (${known})`;
        this.refuseUnless('unknown-query', 'ignore', problem);
      } else if (values[name] !== undefined) {
        this.problem(`${name} is given more than once`);
      } else values[name] = value;
    }
    return values;
  }

  integer(name: string, text: string, expected: string): number | undefined {
    return INTEGER_TEXT.test(text) ? Number(text) : this.#misfit(name, expected, text);
  }

  value<T>(name: string, shape: Shape<T>, text: string): T | undefined {
    return readTextAs(shape, text) ?? this.#misfit(name, shape.expected, text);
  }

  /** Reads the body. `unknown-body-fields` decides about unknown fields not in `handled`. */
  body<M extends ObjectMembers>(
    shape: ObjectShape<M>,
    handled: readonly string[] = [],
  ): { readonly fields: ValueOf<ObjectShape<M>>; readonly names: readonly string[] } | undefined {
    const value = this.#json();
    if (value === undefined) return undefined;
    const read = readAs(shape, value, 'body');
    if (!read.ok) for (const problem of read.problems) this.problem(problemText(problem));
    const unknown = isObject(value) ? unknownMembers(shape.members, value) : [];
    const unhandled = unknown.filter((name) => !handled.includes(name));
    for (const name of unhandled.slice(0, LIMITS.problems + 1)) {
      const problem = `unknown body field ${describe(name)} (use ${Object.keys(shape.members).join(', ')})`;
      this.refuseUnless('unknown-body-fields', 'ignore', problem);
    }
    return read.ok ? { fields: read.value, names: unknown } : undefined;
  }

  #json(): unknown {
    const { decidedBy } = this;
    const { body, contentType, contentEncoding } = this.#call;
    if (body.kind === 'too-large') {
      decidedBy.add('body-limit');
      const message = `the body is larger than ${body.limit} bytes`;
      this.#unreadable = errorReply(decidedBy, 'body_too_large', 413, message);
      return undefined;
    }
    if (body.kind === 'none') {
      this.problem('body: expected a JSON object, found nothing');
      return undefined;
    }
    if (body.bytes.length > BODY_LIMITS['10kb']) decidedBy.add('body-limit');
    if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity') {
      return this.#unsupported(
        `the Content-Encoding ${describe(contentEncoding)} is not supported`,
      );
    }
    if (!isJsonMediaType(contentType)) {
      decidedBy.add('media-type');
      if (decidedBy.choices['media-type'] === 'reject') {
        const found = describe(contentType);
        return this.#unsupported(`Content-Type: expected application/json, found ${found}`);
      }
    }
    const { json } = body;
    if (!json.ok) this.problem(json.problem);
    else if (isObject(json.value)) return json.value;
    else this.problem(`body: expected a JSON object, found ${describe(json.value)}`);
    return undefined;
  }

  #unsupported(message: string): undefined {
    this.#unreadable = errorReply(this.decidedBy, 'unsupported_media_type', 415, message);
  }
}

/** Only UTF-8 is JSON (RFC 8259, section 8.1), so another charset is not accepted. */
function isJsonMediaType(contentType = ''): boolean {
  if (contentType === 'application/json') return true;
  const [type, ...parameters] = contentType.toLowerCase().split(';');
  const charsets = parameters.filter((parameter) => /^\s*charset\s*=/.test(parameter));
  return (
    type?.trim() === 'application/json' &&
    charsets.every((charset) => /=\s*"?(?:utf-?8|us-ascii)"?\s*$/.test(charset))
  );
}

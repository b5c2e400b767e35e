import { isUtf8, toText } from '../bytes.ts';
import {
  type AssumptionId,
  type AssumptionOption,
  queryNames,
} from '../contract/assumption-table.ts';
import { BODY_LIMITS } from '../contract/assumptions/protocol-assumptions.ts';
import { type OperationId, operationShape } from '../contract/operations.ts';
import { INT64, unknownMembers } from '../contract/records.ts';
import { INTEGER_TEXT, isObject, parseInput, parseInt64 } from '../json.ts';
import { LIMITS } from '../limits.ts';
import { firstProblems, problemText } from '../problems.ts';
import type { RawHeaders } from '../raw-http.ts';
import type { ObjectMembers, ObjectShape } from '../shape/objects.ts';
import { readAs, readText, type Shape, type ValueOf } from '../shape/shapes.ts';
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

/** Parsed once, for everything that reads it. */
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
  // Invalid bytes become U+FFFD. Looking for that is faster than validating every byte.
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

/** The headers of a request by their names in lower case, as Node has them. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Call {
  readonly operation: OperationId;
  /** As the client sent it, for links to other pages. */
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

type Query = Readonly<Record<string, string | undefined>>;

const NO_VALUES: Query = {};

/** Reads the input of a call and collects every problem, so that one reply reports all of them. */
export class InputReader {
  readonly #call: Call;
  readonly decidedBy: AssumptionTrace;
  // Created when needed: most requests have no problem.
  #problems: string[] | undefined;
  /** Assumptions that have an option which accepts the whole input. */
  #avoidableBy: readonly AssumptionId[] | undefined;
  /** Assumptions that have an option which refuses what was accepted. */
  #acceptedBy: AssumptionId[] | undefined;
  /** The 413 or 415 if the body was not read. */
  #unreadable: Reply | undefined;

  constructor(call: Call, decidedBy: AssumptionTrace) {
    this.#call = call;
    this.decidedBy = decidedBy;
  }

  /** Another option of the assumptions in `avoidableBy` would accept the input. */
  problem(text: string, ...avoidableBy: readonly AssumptionId[]): void {
    this.#problems ??= [];
    this.#problems.push(text);
    // Another option avoids the refusal only if it removes every problem.
    this.#avoidableBy = this.#avoidableBy?.filter((id) => avoidableBy.includes(id)) ?? avoidableBy;
  }

  /** The chosen option of an assumption accepts input that another refuses. */
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

  /** The reply does not refuse the input, so what accepted it decides, too. */
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

  /** `unknown-query` decides about parameters that the operation does not read. */
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
    return readText(shape, text) ?? this.#misfit(name, shape.expected, text);
  }

  /** `unknown-body-fields` decides about other fields, but for those in `handled`: the caller checks these. */
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

/** JSON has only one charset (RFC 8259, section 8.1). */
function isJsonMediaType(contentType = ''): boolean {
  if (contentType === 'application/json') return true;
  const [type, ...parameters] = contentType.toLowerCase().split(';');
  const charsets = parameters.filter((parameter) => /^\s*charset\s*=/.test(parameter));
  return (
    type?.trim() === 'application/json' &&
    charsets.every((charset) => /=\s*"?(?:utf-?8|us-ascii)"?\s*$/.test(charset))
  );
}

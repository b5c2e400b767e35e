import { byteLength } from '../bytes.ts';
import type { AssumptionId, Choices } from '../contract/assumption-table.ts';
import { formatDateTime } from '../contract/date-time.ts';
import { type ErrorCode, type StatusOf, spellCode } from '../contract/error-codes.ts';
import {
  type Animal,
  type AnyRecord,
  type ErrorBody,
  type InventoryEntry,
  type Order,
  RECORDS,
  STORED_RECORDS,
} from '../contract/records.ts';
import type { Message, RawHeaders } from '../raw-http.ts';
import type { ObjectMembers } from '../shape/objects.ts';

/**
 * Why a reply has its status.
 *
 * - `documented`: the document prescribes it for this case.
 * - `assumed`: the document leaves it open. Another option of the assumptions in `by` would have
 *   led to another status. `by` is empty for the statuses of HTTP itself.
 * - `forced`: a rule of a scenario or the request itself asked for it; `by` names which.
 * - `upstream`: a deployment gave it.
 */
export type Basis =
  | { readonly kind: 'documented' }
  | { readonly kind: 'assumed'; readonly by: readonly string[] }
  | { readonly kind: 'forced'; readonly by: string; readonly offContract?: OffContract }
  | { readonly kind: 'upstream' };

export interface OffContract {
  /** Each deviation of the reply from the document. */
  readonly problems: readonly string[];
  /** Whether the scenario says `offContract: true`. */
  readonly declared: boolean;
}

export const BASIS_KINDS = ['documented', 'assumed', 'forced', 'upstream'] as const;

export function groundsOf(basis: Basis): readonly string[] {
  return 'by' in basis ? [basis.by].flat() : [];
}

export function findOffContract(basis: Basis): OffContract | undefined {
  return basis.kind === 'forced' ? basis.offContract : undefined;
}

/** A body and its media type, if any. A deployment's media type is among its headers. */
export interface Content {
  readonly body: string | Uint8Array | undefined;
  readonly mediaType: string | undefined;
}

export const EMPTY: Content = { body: undefined, mediaType: undefined };

/** A reply before `finishReply` adds the headers that are common to all replies. */
export interface Reply extends Message {
  readonly status: number;
  /** The reason phrase, if a deployment sent one. */
  readonly phrase: string | undefined;
  readonly mediaType: string | undefined;
  readonly basis: Basis;
  /** Why the call failed, for the journal. The body need not say it. */
  readonly reason: string | undefined;
  /** Why the request's `Prefer` could not be followed. */
  readonly unknownPreference: string | undefined;
  /** How it differs from the mock's own reply; only for a reply of a deployment. */
  readonly comparison: Comparison | undefined;
  /** What a rule changed in the reply, each as `PLACE: BEFORE → AFTER`. */
  readonly patched: readonly string[] | undefined;
}

interface Expected {
  readonly status: number;
  /** The assumptions that decided the expected status. */
  readonly by: readonly string[];
  readonly why: string | undefined;
}

export interface Comparison {
  /** The reply that the mock would have given; undefined if it cannot know. */
  readonly expected: Expected | undefined;
  /** The differences, each as `PLACE: expected …, found …`. */
  readonly drift: readonly string[];
}

export const DOCUMENTED: Basis = { kind: 'documented' };
/** The reason that exchanges with a documented basis share. The log and the page leave it out. */
export const DOCUMENTED_REASON = 'as the document prescribes';
export const NO_HEADERS: readonly string[] = [];

/** Collects the assumptions that decide a reply's status, from which its basis follows. */
export class AssumptionTrace {
  readonly choices: Choices;
  #by: string[] | undefined;

  constructor(choices: Choices) {
    this.choices = choices;
  }

  add(id: AssumptionId): void {
    const ground = `${id}=${this.choices[id]}`;
    this.#by ??= [];
    if (!this.#by.includes(ground)) this.#by.push(ground);
  }

  get basis(): Basis {
    return this.#by === undefined ? DOCUMENTED : { kind: 'assumed', by: this.#by };
  }

  get assumed(): Basis {
    return { kind: 'assumed', by: this.#by ?? [] };
  }
}

export function createReply(
  basis: Basis,
  status: number,
  { body, mediaType }: Content = EMPTY,
  headers: RawHeaders = NO_HEADERS,
  reason?: string,
): Reply {
  const size = body === undefined ? 0 : typeof body === 'string' ? byteLength(body) : body.length;
  // All replies have the same members in the same order: V8 is fastest with objects of one shape.
  return {
    status,
    phrase: undefined,
    headers,
    body,
    decoded: undefined,
    size,
    mediaType,
    basis,
    reason,
    unknownPreference: undefined,
    comparison: undefined,
    patched: undefined,
  };
}

/** The headers of a reply including its media type. */
export function allHeaders({ headers, mediaType }: Reply): RawHeaders {
  return mediaType === undefined ? headers : [...headers, 'Content-Type', mediaType];
}

export function jsonBody(body: string | Uint8Array): Content {
  return { body, mediaType: 'application/json' };
}

export function jsonReply(
  decidedBy: AssumptionTrace,
  status: number,
  text: string | Uint8Array,
  headers?: RawHeaders,
): Reply {
  return createReply(decidedBy.basis, status, jsonBody(text), headers);
}

/** Errors that pass by themselves. Too many sandboxes (`too_many_sandboxes`) is not among them. */
const PASSING: readonly ErrorCode[] = ['too_many_requests', 'service_unavailable', 'not_saved'];
const RETRY_SOON: RawHeaders = ['Retry-After', '1'];

/** `Retry-After` for an error that passes, unless the caller knows the time. */
export function retryHeaders(code: ErrorCode): RawHeaders {
  return PASSING.includes(code) ? RETRY_SOON : NO_HEADERS;
}

/** Creates an error. Its basis is assumed by default, because the document shows few errors. */
export function errorReply<C extends ErrorCode>(
  decidedBy: AssumptionTrace,
  code: C,
  status: StatusOf<C>,
  message: string,
  {
    headers = retryHeaders(code),
    basis = decidedBy.assumed,
  }: { headers?: RawHeaders; basis?: Basis } = {},
): Reply {
  const content = errorContent(decidedBy.choices, code, status, message);
  return createReply(basis, status, content, headers, message);
}

export function errorContent(
  choices: Choices,
  code: ErrorCode,
  status: number,
  message: string,
): Content {
  return jsonBody(JSON.stringify(errorBody(choices, code, status, message)));
}

export function errorBody(
  choices: Choices,
  code: ErrorCode,
  status: number,
  message: string,
): ErrorBody {
  return { code: spellCode(code, status, choices['error-codes']), message, status };
}

export interface Representation {
  readonly animal: (animal: Animal) => string;
  readonly inventoryEntry: (entry: InventoryEntry) => string;
  readonly order: (order: Order) => string;
}

type FormChoice = 'absent-optionals' | 'date-format' | 'order-status-field';

/** Cached by the options that they depend on, and shared by all sandboxes. */
const representations = new Map<string, Representation>();

export function representationFor(choices: Pick<Choices, FormChoice>): Representation {
  const form = `${choices['absent-optionals']} ${choices['date-format']} ${choices['order-status-field']}`;
  const known = representations.get(form) ?? createRepresentation(choices);
  representations.set(form, known);
  return known;
}

function createRepresentation(choices: Pick<Choices, FormChoice>): Representation {
  const isStatusShown = choices['order-status-field'] === 'shown';
  const { members } = isStatusShown ? STORED_RECORDS.orders : RECORDS.Order;
  const write = writer(members, choices);
  return {
    animal: writer(RECORDS.Animal.members, choices),
    inventoryEntry: writer(RECORDS.InventoryEntry.members, choices),
    order: isStatusShown ? (order) => write({ status: 'pending', ...order }) : write,
  };
}

/** Unlike `recordText`, prepares the field names once, so that long lists are cheap. */
function writer(
  members: ObjectMembers,
  choices: Pick<Choices, FormChoice>,
): (record: AnyRecord) => string {
  const nullForAbsent = choices['absent-optionals'] === 'null';
  // The first field is the id, which every record has.
  const plan = Object.entries(members).map(([name, { shape }], index) => ({
    name,
    isDate: shape.schema.format === 'date-time',
    prefix: `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`,
  }));

  return (record) => {
    let json = '';
    for (const { name, prefix, isDate } of plan) {
      const value = record[name];
      if (value === undefined) {
        if (nullForAbsent) json += `${prefix}null`;
      } else if (typeof value !== 'string') json += prefix + String(value);
      else json += prefix + quote(isDate ? formatDateTime(value, choices['date-format']) : value);
    }
    return `${json}}`;
  };
}

/** Like `JSON.stringify`, but faster for short texts that need no escapes. */
function quote(text: string): string {
  return /^[ !#-[\]-~]*$/.test(text) ? `"${text}"` : JSON.stringify(text);
}

import type { AssumptionId, Choices } from '../contract/assumption-table.ts';
import { type ErrorCode, type StatusOf, spellCode } from '../contract/error-codes.ts';
import type { ErrorBody } from '../contract/records.ts';

/**
 * What a reply rests on.
 *
 * `documented`: the document prescribes this status for this case. `assumed`: it does not, or it
 * would have been another status under another option of the assumptions in `by`. HTTP's own
 * statuses are assumed by nothing. `forced`: a rule of a scenario, or the request itself, asked for
 * it; `by` names which.
 */
export type Basis =
  | { readonly kind: 'documented' }
  | { readonly kind: 'assumed'; readonly by: readonly string[] }
  | { readonly kind: 'forced'; readonly by: string };

export type Body =
  | { readonly kind: 'none' }
  /** JSON, ready to be sent; in bytes where it is sent again and again. */
  | { readonly kind: 'json'; readonly text: string | Buffer; readonly mediaType?: string }
  /** The JSON texts of an array's items, drawn one by one so that a long array needs no memory. */
  | { readonly kind: 'array'; readonly items: Iterable<string> };

/** A stored record in a reply. */
export type ShownRecord = Readonly<Record<string, unknown>>;

/** What the service answers, before anything of HTTP's own is added to it. */
export interface Reply {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly body: Body;
  readonly basis: Basis;
  /** The records in the body, in groups; undefined if it was made of none. */
  readonly records?: Iterable<readonly ShownRecord[]> | undefined;
  /** Why the status is no success, in words, where the body may not say it. */
  readonly reason?: string | undefined;
}

const DOCUMENTED: Basis = { kind: 'documented' };
const NO_HEADERS: readonly string[] = [];
const NO_BODY: Body = { kind: 'none' };

/**
 * Notes which assumptions decide the status of one reply. The rule is the same everywhere: an
 * assumption is noted when another of its options would have given another status.
 */
export class Grounds {
  readonly choices: Choices;
  #by: string[] | undefined;

  constructor(choices: Choices) {
    this.choices = choices;
  }

  /** Notes that the chosen option of an assumption decides. */
  decidedBy(id: AssumptionId): void {
    const ground = `${id}=${this.choices[id]}`;
    this.#by ??= [];
    if (!this.#by.includes(ground)) this.#by.push(ground);
  }

  /** Documented, unless an assumption was noted on the way. */
  get basis(): Basis {
    return this.#by === undefined ? DOCUMENTED : { kind: 'assumed', by: this.#by };
  }

  /** Assumed, also where no assumption was noted. */
  get assumed(): Basis {
    return { kind: 'assumed', by: this.#by ?? [] };
  }
}

/** A reply of a documented status: documented, unless an assumption decided it. */
export function reply(
  grounds: Grounds,
  status: number,
  body: Body = NO_BODY,
  headers: readonly string[] = NO_HEADERS,
  records?: Reply['records'],
): Reply {
  // Every reply has the same members in the same order: V8 reads objects of one shape fastest.
  return { status, headers, body, basis: grounds.basis, records, reason: undefined };
}

/** A reply with one record. */
export function recordReply(
  grounds: Grounds,
  status: number,
  text: string,
  record: ShownRecord,
  headers: readonly string[] = NO_HEADERS,
): Reply {
  return reply(grounds, status, { kind: 'json', text }, headers, [[record]]);
}

/**
 * An Error as a reply.
 *
 * @param basis of the reply; by default it is assumed, since the document shows few errors
 */
export function errorReply<C extends ErrorCode>(
  grounds: Grounds,
  code: C,
  status: StatusOf<C>,
  message: string,
  {
    headers = NO_HEADERS,
    basis = grounds.assumed,
  }: { headers?: readonly string[]; basis?: Basis } = {},
): Reply {
  const body = errorBody(grounds.choices, code, status, message);
  const text = JSON.stringify(body);
  return {
    status,
    headers,
    body: { kind: 'json', text },
    basis,
    records: undefined,
    reason: message,
  };
}

/** The Error record, its code spelt as `error-codes` says. */
export function errorBody<C extends ErrorCode>(
  choices: Choices,
  code: C,
  status: StatusOf<C>,
  message: string,
): ErrorBody {
  return { code: spellCode(code, status, choices['error-codes']), message, status };
}

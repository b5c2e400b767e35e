import { jsonOf } from '../../contract/json.ts';
import { OPERATIONS, type OperationId } from '../../contract/operations.ts';
import { isObject } from '../../contract/records.ts';
import { headerOf } from '../../raw-headers.ts';
import { describe, joinWords } from '../../words.ts';
import type { DeploymentRequest } from '../deployment-client.ts';
import {
  type DeploymentReply,
  describeBody,
  idIn,
  type JsonRecord,
  jsonOfBody,
  withId,
} from '../deployment-reply.ts';
import type { QuestionName } from './question-names.ts';

/** A request of a check. */
export interface CheckRequest {
  /** The operation that it calls; undefined if the document has none. */
  readonly operation: OperationId | undefined;
  readonly method: string;
  /** Below the base URL. Braces stand for what it needs, or for an order of `each`. */
  readonly path: string;
  readonly why: string;
  /** By default the deployment's key. */
  readonly key?: 'none' | 'unknown' | 'invalid' | 'read-only';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Sent once for each order that this flag names. */
  readonly each?: 'cancel' | 'shipped' | 'cancelled';
  /** Sent this many times at once. */
  readonly times?: number;
  /** The status that the document prescribes. */
  readonly status?: number;
}

/** A question as it was sent. */
interface Sending {
  readonly name: QuestionName;
  readonly question: CheckRequest;
  readonly request: DeploymentRequest;
  /** The order that the request names. */
  readonly order: bigint | undefined;
  /** Seconds after which it was sent once more, since no effect of earlier writes was seen. */
  readonly waited: number;
}

/** A question with its reply. */
export type ProbeReply = ReturnType<typeof probeReply>;

export function probeReply(sending: Sending, reply: DeploymentReply) {
  const { status, headers, body } = reply;
  const json = jsonOfBody(body);
  const accepted = status >= 200 && status < 300;
  const record: JsonRecord | undefined = accepted && isObject(json) ? json : undefined;
  const sent = jsonOf(sending.request.body ?? '{}');
  return {
    ...sending,
    ...reply,
    operation: sending.question.operation,
    /** In milliseconds; only differences count. */
    receivedAt: performance.now(),
    json,
    accepted,
    /** Whether the input was refused as invalid. */
    refused: status === 400 || status === 422,
    /** The records of a list with status 200. */
    records: status === 200 && Array.isArray(json) ? json.filter(isObject) : undefined,
    /** The record of a reply that has one. */
    record,
    /** The id of its record, or of the animal that it is about. */
    id: idIn(record) ?? idIn(record, 'petId'),
    /** The members of the body that was sent. */
    sent: isObject(sent) ? sent : {},
    /** A header by its name in lower case. */
    header: (name: string) => headerOf(headers, name),
    /** `GET /pets?limit=0: 400`. */
    toString: () => exchangeText(sending, status),
  };
}

const KEYS = {
  none: 'without a key',
  unknown: 'with an unknown key',
  invalid: 'with the invalid key',
  'read-only': 'with the read-only key',
} as const;

function exchangeText({ request, question, waited }: Sending, status: number): string {
  const { key, headers, body, why } = question;
  const words = [`${request.method} ${request.path}`];
  if (body !== undefined) words.push(`with ${why}`);
  else if (key !== undefined) words.push(KEYS[key]);
  if (headers?.Origin !== undefined) words.push('from another origin');
  const again = waited === 0 ? '' : `, again after ${waited} s`;
  return `${words.join(' ')}: ${status}${again}`;
}

/** What a check has sent and received so far. */
export class CheckTranscript {
  readonly #replies = new Map<QuestionName, readonly ProbeReply[]>();
  /** What would have to be given or known to ask a question, such as `--writes`. */
  readonly needs = new Map<QuestionName, readonly string[]>();
  /** Why there was no reply that answers a question. */
  readonly failures = new Map<QuestionName, string>();
  /** The reads that showed no effect of earlier writes, however often they were repeated. */
  readonly unaffected = new Set<QuestionName>();
  /** The reply that does not show what the document says a write did. */
  stale: ProbeReply | undefined;

  /** Puts replies to a question in place of earlier ones. */
  set(name: QuestionName, replies: readonly ProbeReply[]): void {
    this.#replies.set(name, replies);
  }

  all(...names: readonly QuestionName[]): readonly ProbeReply[] {
    return names.flatMap((name) => this.#replies.get(name) ?? []);
  }

  get everything(): readonly ProbeReply[] {
    return [...this.#replies.values()].flat();
  }

  /** The first reply to a question. */
  get(name: QuestionName): ProbeReply | undefined {
    return this.#replies.get(name)?.[0];
  }

  /** Why questions got no reply that answers them, each reason once. */
  failuresOf(names: readonly QuestionName[]): string[] {
    return [...new Set(names.flatMap((name) => this.failures.get(name) ?? []))];
  }

  /** Why the answer to a question is unknown: what is missing, or what was seen instead. */
  whyUnknown(name: QuestionName): string {
    const replies = this.all(name);
    const [first] = replies;
    if (first === undefined) {
      return this.failures.get(name) ?? `it needs ${joinWords(this.needs.get(name) ?? [], 'and')}`;
    }
    if (!first.accepted) return [...new Set(replies.map(String))].join('; ');
    const { json, body } = first;
    return `${first} with ${json === undefined ? describeBody(body) : describe(json)}`;
  }

  /** The orders that the check has cancelled. */
  get cancelled(): readonly bigint[] {
    return this.all('cancel').flatMap(({ accepted, order }) =>
      accepted && order !== undefined ? [order] : [],
    );
  }

  /** The time of a deployment by its `Date` headers, in milliseconds since 1970. */
  get clock(): number | undefined {
    return Date.parse(this.get('pets100')?.header('date') ?? '') || undefined;
  }

  /** Whether the deployment's clock is past the sunset of `GET /pets/{petId}`. */
  get hasPassedSunset(): boolean {
    return (this.clock ?? Date.now()) >= SUNSET_ENDS;
  }

  /** An order as it was listed before anything was cancelled. */
  order(id: bigint | undefined): JsonRecord | undefined {
    return withId(this.get('orders')?.records, id);
  }

  /** Whether the ship date of an order has passed by the deployment's clock. */
  isDue(order: bigint | undefined): boolean {
    const shipDate = this.order(order)?.shipDate;
    return typeof shipDate === 'string' && Date.parse(shipDate) <= (this.clock ?? Date.now());
  }
}

const SUNSET_ENDS = Date.parse(OPERATIONS.getPet.sunset) + 24 * 60 * 60 * 1000;

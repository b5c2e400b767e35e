import { tryParseJson } from '../../contract/json.ts';
import { OPERATIONS, type OperationId } from '../../contract/operations.ts';
import { isObject } from '../../contract/records.ts';
import { findHeader } from '../../raw-http.ts';
import { describe, joinWords } from '../../words.ts';
import type { DeploymentRequest } from '../deployment-client.ts';
import {
  type DeploymentReply,
  describeBody,
  findById,
  type JsonRecord,
  parseBody,
  readId,
} from '../deployment-reply.ts';
import { SAFE } from '../transport.ts';
import type { QuestionName } from './questions/names.ts';
import { OTHER_CLIENT } from './verdict-shapes.ts';

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
  readonly times?: number;
  readonly status?: number;
}

interface Sending {
  readonly name: QuestionName;
  readonly question: CheckRequest;
  readonly request: DeploymentRequest;
  readonly order: bigint | undefined;
  /** Seconds after which it was sent once more, since it did not show what was expected. */
  readonly waited: number;
  /** The list that the reply is compared with, as it was read last. */
  readonly beside: readonly JsonRecord[] | undefined;
  /** In milliseconds; only differences count. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

export type ProbeReply = ReturnType<typeof probeReply>;

export function probeReply(sending: Sending, reply: DeploymentReply) {
  const { status, headers, body } = reply;
  const json = parseBody(body);
  const accepted = status >= 200 && status < 300;
  const record: JsonRecord | undefined = accepted && isObject(json) ? json : undefined;
  const sent = tryParseJson(sending.request.body ?? '{}');
  return {
    ...sending,
    ...reply,
    operation: sending.question.operation,
    json,
    accepted,
    isWrite: accepted && !SAFE.test(sending.question.method),
    refused: status === 400 || status === 422,
    /** The records of a list with status 200. */
    records: status === 200 && Array.isArray(json) ? json.filter(isObject) : undefined,
    record,
    code: status >= 400 && isObject(json) && typeof json.code === 'string' ? json.code : undefined,
    /** The id of its record, or of the animal that it is about. */
    id: readId(record) ?? readId(record, 'petId'),
    sent: isObject(sent) ? sent : {},
    /** A header by its name in lower case. */
    header: (name: string) => findHeader(headers, name),
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
  // The requests of a burst differ only in what stands for the braces.
  const path = question.times === undefined ? request.path : question.path.replace('{}', '…');
  const words = [`${request.method} ${path}`];
  if (body !== undefined) words.push(`with ${why}`);
  else if (key !== undefined) words.push(KEYS[key]);
  if (headers?.Origin !== undefined) words.push('from another origin');
  const again = waited === 0 ? '' : `, again after ${waited} s`;
  return `${words.join(' ')}: ${status}${again}`;
}

/** Headers by which two replies to the same request tell that they are from unlike servers. */
const TELLING = ['content-type', 'allow', 'www-authenticate', 'deprecation', 'sunset'];

export class CheckTranscript {
  readonly #attempts = new Map<QuestionName, (readonly ProbeReply[])[]>();
  /** What would have to be given or known to ask a question, such as `--writes`. */
  readonly needs = new Map<QuestionName, readonly string[]>();
  readonly failures = new Map<QuestionName, string>();
  /** Why a read may not show what there is. */
  readonly doubts = new Map<QuestionName, string>();
  /** The reads whose reply may be older than what it has to show, by what it says of caches. */
  readonly cached = new Set<QuestionName>();
  /** The second replies, where a request was sent twice in a row. */
  readonly seconds = new Map<QuestionName, ProbeReply>();
  /** The maximum of seconds after a write at which a read did not show it. */
  lag = 0;
  /** The minimum of seconds between a write and a read that proves that it had no effect. */
  waited = Number.POSITIVE_INFINITY;

  set(name: QuestionName, replies: readonly ProbeReply[]): void {
    this.#attempts.set(name, [...(this.#attempts.get(name) ?? []), replies]);
  }

  attempts(name: QuestionName): readonly ProbeReply[] {
    return (this.#attempts.get(name) ?? []).flatMap(([first]) => first ?? []);
  }

  /** The same check with the second replies in place of the first. */
  withSeconds(): CheckTranscript {
    const other = new CheckTranscript();
    for (const [name, attempts] of this.#attempts) other.#attempts.set(name, attempts);
    for (const [name, reply] of this.seconds) other.set(name, [reply]);
    for (const [name, needs] of this.needs) other.needs.set(name, needs);
    for (const [name, doubt] of this.doubts) other.doubts.set(name, doubt);
    return other;
  }

  /** A request that got two replies which cannot be from one server. */
  get unlike(): string | undefined {
    for (const [name, second] of this.seconds) {
      const [first] = this.attempts(name);
      if (first === undefined) continue;
      if (first.status !== second.status) return `${first}, and then ${second.status}`;
      if (first.code !== second.code) return `${first} with ${first.code}, and then ${second.code}`;
      const header = TELLING.find((header) => first.header(header) !== second.header(header));
      if (header !== undefined) return `${first}, and then with another ${header}`;
    }
    return undefined;
  }

  all(...names: readonly QuestionName[]): readonly ProbeReply[] {
    return names.flatMap((name) => this.#attempts.get(name)?.at(-1) ?? []);
  }

  get everything(): readonly ProbeReply[] {
    return this.all(...this.#attempts.keys());
  }

  get(name: QuestionName): ProbeReply | undefined {
    return this.all(name)[0];
  }

  /** Why questions got no reply that answers them, each reason once. */
  listFailures(names: readonly QuestionName[]): string[] {
    return [...new Set(names.flatMap((name) => this.failures.get(name) ?? []))];
  }

  /** Why the answer to a question is unknown: what is missing, or what was seen instead. */
  whyUnknown(name: QuestionName): string {
    const replies = this.all(name);
    const [first] = replies;
    if (first === undefined) {
      return this.failures.get(name) ?? `it needs ${joinWords(this.needs.get(name) ?? [], 'and')}`;
    }
    if (!first.accepted && name === 'cancel' && this.rival) return this.rival;
    if (!first.accepted) return [...new Set(replies.map(String))].join('; ');
    const { json, body } = first;
    return `${first} with ${json === undefined ? describeBody(body) : describe(json)}`;
  }

  get cancelled(): readonly bigint[] {
    return this.all('cancel').flatMap(({ accepted, order }) =>
      accepted && order !== undefined ? [order] : [],
    );
  }

  /** That an order which the check should cancel was not there to be cancelled, if so. */
  get rival(): string | undefined {
    const late = this.all('cancel').find(({ accepted, order }) => !accepted || !this.order(order));
    return late && `${late}: ${OTHER_CLIENT} may have cancelled the order before`;
  }

  /** The time of a deployment by its `Date` headers, in milliseconds since 1970. */
  get clock(): number | undefined {
    return Date.parse(this.get('pets100')?.header('date') ?? '') || undefined;
  }

  get hasPassedSunset(): boolean {
    return (this.clock ?? Date.now()) >= SUNSET_ENDS;
  }

  /** An order as it was listed before anything was cancelled. */
  order(id: bigint | undefined): JsonRecord | undefined {
    return findById(this.get('orders')?.records, id);
  }

  isShipped(id: bigint): boolean {
    const { status, complete } = this.order(id) ?? {};
    return status == null ? complete === true || this.isDue(id) : status === 'shipped';
  }

  isDue(order: bigint | undefined): boolean {
    const shipDate = this.order(order)?.shipDate;
    return typeof shipDate === 'string' && Date.parse(shipDate) <= (this.clock ?? Date.now());
  }
}

const SUNSET_ENDS = Date.parse(OPERATIONS.getPet.sunset) + 24 * 60 * 60 * 1000;

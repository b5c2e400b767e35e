import { parseDateTime } from '../../../core/contract/date-time.ts';
import { OPERATIONS, type OperationId } from '../../../core/contract/operations.ts';
import { isObject, tryParseJson } from '../../../core/json.ts';
import { findHeader } from '../../../core/raw-http.ts';
import { describe, joinWords } from '../../../core/words.ts';
import type { DeploymentRequest } from '../deployment-client.ts';
import {
  type DeploymentReply,
  describeBody,
  findById,
  parseBody,
  type ReplyRecord,
  readId,
} from '../deployment-reply.ts';
import { SAFE_METHODS } from '../transport.ts';
import type { QuestionName } from './questions/names.ts';

export interface CheckRequest {
  /** Undefined if the document has no such operation. */
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
  /** Seconds after which it was sent again, since it did not show what was expected. */
  readonly waitedSeconds: number;
  /** The list that the reply is compared with, as it was read last. */
  readonly beside: readonly ReplyRecord[] | undefined;
  /** In milliseconds; only differences count. */
  readonly sentAt: number;
  readonly receivedAt: number;
}

export type ProbeReply = ReturnType<typeof createProbeReply>;

export function createProbeReply(sending: Sending, reply: DeploymentReply) {
  const { status, headers, body } = reply;
  const json = parseBody(body);
  const accepted = status >= 200 && status < 300;
  const record: ReplyRecord | undefined = accepted && isObject(json) ? json : undefined;
  const sent = tryParseJson(sending.request.body ?? '{}');
  const [age] = /^\d+$/.exec(findHeader(headers, 'age') ?? '') ?? [];
  return {
    ...sending,
    ...reply,
    operation: sending.question.operation,
    json,
    accepted,
    isWrite: accepted && !SAFE_METHODS.test(sending.question.method),
    refused: status === 400 || status === 422,
    records: status === 200 && Array.isArray(json) ? json.filter(isObject) : undefined,
    record,
    code: status >= 400 && isObject(json) && typeof json.code === 'string' ? json.code : undefined,
    /** The id of its record, or of the animal that it is about. */
    id: readId(record) ?? readId(record, 'petId'),
    sent: isObject(sent) ? sent : {},
    /** What it shows is not newer; a cache rounds its `Age` down. */
    shownSince: sending.sentAt - (age === undefined ? 0 : (Number(age) + 1) * 1000),
    /** A header by its name in lower case. */
    header: (name: string) => findHeader(headers, name),
    /** `GET /pets?limit=0: 400` */
    toString: () => describeExchange(sending, status),
  };
}

const KEYS = {
  none: 'without a key',
  unknown: 'with an unknown key',
  invalid: 'with the invalid key',
  'read-only': 'with the read-only key',
} as const;

function describeExchange({ request, question, waitedSeconds }: Sending, status: number): string {
  const { key, headers, body, why } = question;
  const words = [`${request.method} ${request.path}`];
  if (body !== undefined) words.push(`with ${why}`);
  else if (key !== undefined) words.push(KEYS[key]);
  if (headers?.Origin !== undefined) words.push('from another origin');
  const again = waitedSeconds === 0 ? '' : `, again after ${waitedSeconds} s`;
  return `${words.join(' ')}: ${status}${again}`;
}

const SUNSET_ENDS = Date.parse(OPERATIONS.getPet.sunset) + 24 * 60 * 60 * 1000;

export class CheckTranscript {
  readonly #attempts = new Map<QuestionName, (readonly ProbeReply[])[]>();
  /** What would have to be given or known to ask a question, such as `--writes`. */
  readonly needs = new Map<QuestionName, readonly string[]>();
  readonly failures = new Map<QuestionName, string>();
  readonly doubts = new Map<QuestionName, string>();
  /** The minimum of seconds between a write and a read that proves that it had no effect. */
  minWaitSeconds = Number.POSITIVE_INFINITY;

  set(name: QuestionName, replies: readonly ProbeReply[]): void {
    this.#attempts.set(name, [...(this.#attempts.get(name) ?? []), replies]);
  }

  attempts(name: QuestionName): readonly ProbeReply[] {
    return (this.#attempts.get(name) ?? []).flatMap(([first]) => first ?? []);
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

  /** The records of a list; none if it cannot be read. */
  records(name: QuestionName): readonly ReplyRecord[] {
    return this.get(name)?.records ?? [];
  }

  listFailures(names: readonly QuestionName[]): string[] {
    return [...new Set(names.flatMap((name) => this.failures.get(name) ?? []))];
  }

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

  get cancelled(): readonly bigint[] {
    return this.all('cancel').flatMap(({ accepted, order }) =>
      accepted && order !== undefined ? [order] : [],
    );
  }

  /** The deployment's time by its `Date` headers, in milliseconds since 1970. */
  get clock(): number | undefined {
    return Date.parse(this.get('pets100')?.header('date') ?? '') || undefined;
  }

  get hasPassedSunset(): boolean {
    return (this.clock ?? Date.now()) >= SUNSET_ENDS;
  }

  /** An order as it was listed before anything was cancelled. */
  order(id: bigint | undefined): ReplyRecord | undefined {
    return findById(this.records('orders'), id);
  }

  isShipped(id: bigint): boolean {
    const { status, complete } = this.order(id) ?? {};
    return status == null ? complete === true || this.isDue(id) : status === 'shipped';
  }

  isDue(order: bigint | undefined): boolean {
    const shipDate = this.order(order)?.shipDate;
    const due = typeof shipDate === 'string' ? parseDateTime(shipDate) : undefined;
    return due !== undefined && due <= (this.clock ?? Date.now());
  }
}

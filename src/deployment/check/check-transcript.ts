import type { ASSUMPTIONS, AssumptionId } from '../../contract/assumption-table.ts';
import { jsonOf } from '../../contract/json.ts';
import { OPERATIONS, type OperationId } from '../../contract/operations.ts';
import { isObject } from '../../contract/records.ts';
import { headerOf } from '../../raw-headers.ts';
import { describe, joinWords } from '../../words.ts';
import type { DeploymentRequest } from '../deployment-client.ts';
import {
  type DeploymentReply,
  type Deviation,
  describeBody,
  idIn,
  type JsonRecord,
  jsonOfBody,
  withId,
} from '../deployment-reply.ts';

/** The questions of a check, in the order in which they are asked. */
// biome-ignore format: a line for each phase
export const QUESTION_NAMES = [
  'pets100', 'pets', 'inventory', 'orders', 'pets1', 'pets2', 'nextPage', 'available', 'pending', 'sold',
  'pet', 'unknownPet',
  'limitText', 'petText', 'limit0', 'limit101', 'unseenFilter', 'unknownQuery', 'ordersPage', 'getOrder',
  'petsNoKey', 'petNoKey', 'inventoryNoKey', 'ordersNoKey', 'petsUnknownKey', 'petsInvalidKey', 'limitTextNoKey',
  'otherOrigin', 'preflight', 'petsReadOnly',
  'create', 'createPending', 'created', 'inventoryCreated',
  'stock5', 'cancel', 'petAt5', 'ordersCancelled', 'inventoryCancelled', 'cancelAgain',
  'stock0', 'petAt0', 'stock3', 'inventoryKept', 'stockNegative', 'stockText', 'stockNothing', 'stockNoKey',
  'createLongName', 'createNoKey', 'createWithId', 'createUnknownField', 'createUnseenStatus',
  'createNoCategory', 'createAsText', 'createOver10kb', 'createOver1mb', 'createReadOnly',
  'cancelUnknown', 'cancelNoKey', 'cancelShipped', 'cancelCancelled',
  'petsAgain', 'burst',
] as const;

export type QuestionName = (typeof QUESTION_NAMES)[number];

/** What a check may do, and what the user says about the deployment, by the names of the flags. */
export interface CheckOptions {
  readonly writes?: boolean | undefined;
  readonly cancel?: readonly bigint[] | undefined;
  readonly shipped?: readonly bigint[] | undefined;
  readonly cancelled?: readonly bigint[] | undefined;
  /** The first of each is used. */
  readonly readOnlyKey?: readonly string[] | undefined;
  readonly invalidKey?: readonly string[] | undefined;
  readonly rate?: number | undefined;
}

/** Derives something from what a check has received. */
type Look<T> = (check: CheckTranscript) => T;

/** A question to a deployment: what it sends, what it needs, what it judges and what it settles. */
export type Question = CheckRequest & (Settlement | { readonly settles?: undefined });

/** A request of a check, and what the document says of its reply. */
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
  /** Something that only the deployment can provide, such as an id. */
  readonly needs?: Need;
  /** The status that the document prescribes. */
  readonly status?: number;
  /** Whether an assumption explains another status. */
  readonly excuse?: (reply: ProbeReply, check: CheckTranscript) => boolean;
  readonly rules?: readonly DocumentRule[];
  /** Whether its reply shows all effects of earlier writes. A read that does not is repeated later. */
  readonly isShown?: Look<boolean>;
  /** Whether the document says that there is such an effect. */
  readonly isPromised?: true;
}

export interface Need {
  /** Stands in a path until it is known. */
  readonly description: string;
  /** The question whose reply it follows from. */
  readonly after?: QuestionName;
  readonly find: (check: CheckTranscript, options: CheckOptions) => bigint | string | undefined;
}

type OptionOf<Id extends AssumptionId> = (typeof ASSUMPTIONS)[Id]['options'][number]['name'];

/** How replies settle an assumption. */
export type Settlement = { readonly [Id in AssumptionId]: SettlementOf<Id> }[AssumptionId];

interface SettlementOf<Id extends AssumptionId> {
  readonly settles: Id;
  /** The questions whose status or headers settle it; by default the one that has this row. */
  readonly by?: readonly QuestionName[];
  /** Whether a reply to one of them is enough. */
  readonly any?: true;
  /** The questions whose records settle it. */
  readonly from?: readonly QuestionName[];
  /** Questions that make the verdict more certain, if they can be asked. */
  readonly also?: readonly QuestionName[];
  /** Why the replies cannot settle it, if so. */
  readonly obstacle?: Look<string | false | undefined>;
  /** What the replies show: options, or something else in words. By default their statuses. */
  readonly values?: Look<readonly string[]>;
  /** Why there is no value although the questions were answered. */
  readonly nothing?: string;
  /** What every value or every reply is like under an option; by default a value names its option. */
  readonly options?: Readonly<Record<OptionOf<Id>, Form>>;
}

/** What a value or a reply is like. */
export type Form = RegExp | ((reply: ProbeReply, check: CheckTranscript) => boolean);

/** How a reply breaks a rule of the document that is not about the shape of its records. */
export type DocumentRule = (reply: ProbeReply, check: CheckTranscript) => readonly Deviation[];

/** A question as it was sent. */
interface Sending {
  readonly name: QuestionName;
  readonly question: Question;
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

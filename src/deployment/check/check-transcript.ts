import { parseJson } from '../../contract/json.ts';
import { OPERATIONS, type OperationId } from '../../contract/operations.ts';
import { isObject } from '../../contract/records.ts';
import { headerOf } from '../../raw-headers.ts';
import { describe, joinWords } from '../../words.ts';
import type { DeploymentRequest } from '../deployment-client.ts';
import type { Deviation } from '../deployment-reply.ts';
import {
  type DeploymentReply,
  describeBody,
  idIn,
  type JsonRecord,
  jsonOf,
  withId,
} from '../deployment-reply.ts';

/** The requests of a check, in the order in which they are sent. */
// biome-ignore format: a line for each phase
export const REQUEST_NAMES = [
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

export type RequestName = (typeof REQUEST_NAMES)[number];

/** What the user said about the orders of the deployment. */
export interface NamedOrders {
  readonly cancel: readonly bigint[];
  readonly shipped: readonly bigint[];
  readonly cancelled: readonly bigint[];
}

/** Derives something from what a check has received. */
export type Look<T> = (check: CheckTranscript) => T;

/** A request of a check: what it sends, what it needs, and what its reply is judged by. */
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
  readonly each?: keyof NamedOrders;
  /** Sent this many times at once. */
  readonly times?: number;
  /** Something that only the deployment can provide, such as an id. */
  readonly needs?: Need;
  /** The status that the document prescribes. */
  readonly status?: number;
  /** Whether an assumption explains another status. */
  readonly excuse?: (reply: ProbeReply, check: CheckTranscript) => boolean;
  readonly rules?: readonly DocumentRule[];
  /** What its reply must show of earlier writes. A read that does not is repeated after a wait. */
  readonly effect?: Effect;
}

export interface Need {
  /** Stands in a path until it is known. */
  readonly description: string;
  /** The request whose reply it follows from. */
  readonly after?: RequestName;
  readonly find: (check: CheckTranscript, orders: NamedOrders) => bigint | string | undefined;
}

export interface Effect {
  /** Whether the document says that there is one. */
  readonly documented?: true;
  /** Whether the reply shows all of it, or there is none to see. */
  readonly isShown: Look<boolean>;
}

/** How a reply breaks a rule of the document that is not about the shape of its records. */
export type DocumentRule = (reply: ProbeReply, check: CheckTranscript) => readonly Deviation[];

/** A request as it was sent. */
export interface Sending {
  readonly name: RequestName;
  readonly definition: CheckRequest;
  readonly request: DeploymentRequest;
  /** The order that the request names. */
  readonly order: bigint | undefined;
  /** Seconds after which it was sent once more, since no effect of earlier writes was seen. */
  readonly waited: number;
}

const KEYS = {
  none: 'without a key',
  unknown: 'with an unknown key',
  invalid: 'with the invalid key',
  'read-only': 'with the read-only key',
} as const;

/** A reply to a request of a check. */
export class ProbeReply {
  readonly name: RequestName;
  readonly sending: Sending;
  readonly reply: DeploymentReply;
  readonly status: number;
  /** Its body; undefined if it has none or that is not JSON. */
  readonly json: unknown;
  /** In milliseconds; only differences count. */
  readonly receivedAt = performance.now();

  constructor(sending: Sending, reply: DeploymentReply) {
    this.name = sending.name;
    this.sending = sending;
    this.reply = reply;
    this.status = reply.status;
    this.json = jsonOf(reply.body);
  }

  /** A header by its name in lower case. */
  header(name: string): string | undefined {
    return headerOf(this.reply.headers, name);
  }

  get accepted(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** Whether the input was refused as invalid. */
  get refused(): boolean {
    return this.status === 400 || this.status === 422;
  }

  /** The records of a list with status 200. */
  get records(): readonly JsonRecord[] | undefined {
    const { json } = this;
    return this.status === 200 && Array.isArray(json) ? json.filter(isObject) : undefined;
  }

  /** The record of a reply that has one. */
  get record(): JsonRecord | undefined {
    return this.accepted && isObject(this.json) ? this.json : undefined;
  }

  /** The id of its record, or of the animal that it is about. */
  get id(): bigint | undefined {
    return idIn(this.record) ?? idIn(this.record, 'petId');
  }

  /** The members of the body that was sent. */
  get sent(): JsonRecord {
    const sent: unknown = parseJson(this.sending.request.body ?? '{}');
    return isObject(sent) ? sent : {};
  }

  /** `GET /pets?limit=0: 400`. */
  toString(): string {
    const { request, definition, waited } = this.sending;
    const { key, headers, body, why } = definition;
    const words = [`${request.method} ${request.path}`];
    if (body !== undefined) words.push(`with ${why}`);
    else if (key !== undefined) words.push(KEYS[key]);
    if (headers?.Origin !== undefined) words.push('from another origin');
    const again = waited === 0 ? '' : `, again after ${waited} s`;
    return `${words.join(' ')}: ${this.status}${again}`;
  }
}

/** What a check has sent and received so far. */
export class CheckTranscript {
  readonly #replies = new Map<RequestName, readonly ProbeReply[]>();
  readonly #needs = new Map<RequestName, readonly string[]>();
  readonly #failures = new Map<RequestName, string>();
  /** The reads that showed no effect of earlier writes, however often they were repeated. */
  readonly unaffected = new Set<RequestName>();
  /** The reply that does not show what the document says a write did. */
  stale: ProbeReply | undefined;

  /** Puts replies to a request in place of earlier ones. */
  set(name: RequestName, replies: readonly ProbeReply[]): void {
    this.#replies.set(name, replies);
  }

  /** @param needs what would have to be given or known, such as `--writes` */
  skip(name: RequestName, needs: readonly string[]): void {
    this.#needs.set(name, needs);
  }

  /** @param why there was no reply that answers anything */
  fail(name: RequestName, why: string): void {
    this.#failures.set(name, why);
  }

  all(...names: readonly RequestName[]): readonly ProbeReply[] {
    return names.flatMap((name) => this.#replies.get(name) ?? []);
  }

  get everything(): readonly ProbeReply[] {
    return [...this.#replies.values()].flat();
  }

  /** The first reply to a request. */
  get(name: RequestName): ProbeReply | undefined {
    return this.#replies.get(name)?.[0];
  }

  /** What kept a request from being sent. */
  needsOf(name: RequestName): readonly string[] {
    return this.#needs.get(name) ?? [];
  }

  /** Why requests got no reply that answers anything. */
  failuresOf(names: readonly RequestName[]): string[] {
    return [...new Set(names.flatMap((name) => this.#failures.get(name) ?? []))];
  }

  /** Why what a request asks for is unknown: what is missing, or what was seen instead. */
  whyUnknown(name: RequestName): string {
    const replies = this.all(name);
    const [first] = replies;
    if (first === undefined) {
      return this.#failures.get(name) ?? `it needs ${joinWords(this.needsOf(name), 'and')}`;
    }
    if (!first.accepted) return [...new Set(replies.map(String))].join('; ');
    const { json, reply } = first;
    return `${first} with ${json === undefined ? describeBody(reply.body) : describe(json)}`;
  }

  /** The ids of the animals that the check has created first. */
  get createdIds(): bigint[] {
    return this.all('create', 'createPending').flatMap(({ id }) => id ?? []);
  }

  /** The entry of a created animal, before its stock changed. */
  createdEntry(created: 'create' | 'createPending'): JsonRecord | undefined {
    return withId(this.get('inventoryCreated')?.records, this.get(created)?.id, 'petId');
  }

  /** The orders that the check has cancelled. */
  get cancelled(): readonly bigint[] {
    return this.all('cancel').flatMap(({ accepted, sending: { order } }) =>
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

  /** What cancelling orders did to the stock of their animals, where it can be seen. */
  get restocks(): readonly { petId: bigint; ordered: number; added: number }[] {
    const before = this.get('inventoryCreated') ?? this.get('inventory');
    const after = this.get('inventoryCancelled');
    const ordered = new Map<bigint, number>();
    for (const id of this.cancelled) {
      const order = this.order(id);
      const petId = idIn(order, 'petId');
      if (petId === undefined || typeof order?.quantity !== 'number') continue;
      ordered.set(petId, (ordered.get(petId) ?? 0) + order.quantity);
    }
    return [...ordered].flatMap(([petId, quantity]) => {
      const [old, now] = [before, after].map(
        (list) => withId(list?.records, petId, 'petId')?.quantity,
      );
      if (typeof old !== 'number' || typeof now !== 'number' || quantity === 0) return [];
      return [{ petId, ordered: quantity, added: now - old }];
    });
  }
}

const SUNSET_ENDS = Date.parse(OPERATIONS.getPet.sunset) + 24 * 60 * 60 * 1000;

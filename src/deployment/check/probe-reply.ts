import { parseJson } from '../../contract/json.ts';
import type { OperationId } from '../../contract/operations.ts';
import { isObject } from '../../contract/records.ts';
import type { DeploymentRequest } from '../deployment-client.ts';
import { type DeploymentReply, headerOf, type JsonRecord, jsonOf } from '../reply-parts.ts';

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
  'petsAgain', 'petsStill', 'burst',
] as const;

export type RequestName = (typeof REQUEST_NAMES)[number];

/** What the user said about the orders of the deployment. */
export interface NamedOrders {
  readonly cancel: readonly bigint[];
  readonly shipped: readonly bigint[];
  readonly cancelled: readonly bigint[];
}

/** What a request of a check sends, and what the document says of its status. */
export interface SentRequest {
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
  /** The status that the document prescribes. */
  readonly status?: number;
  /** The operation that an Error of another method is reported with. */
  readonly beside?: OperationId;
}

/** A request as it was sent. */
export interface Sending {
  readonly name: RequestName;
  readonly definition: SentRequest;
  readonly request: DeploymentRequest;
  /** The order that the request names. */
  readonly order: bigint | undefined;
  /** Seconds after which it was sent once more, since no effect of earlier writes was seen. */
  readonly waited: number;
}

/** A reply to a request of a check. */
export class ProbeReply implements Sending {
  readonly name: RequestName;
  readonly definition: SentRequest;
  readonly request: DeploymentRequest;
  readonly order: bigint | undefined;
  readonly waited: number;
  readonly reply: DeploymentReply;
  /** Its body; undefined if it has none or that is not JSON. */
  readonly json: unknown;
  /** In milliseconds; only differences count. */
  readonly receivedAt = performance.now();

  constructor({ name, definition, request, order, waited }: Sending, reply: DeploymentReply) {
    this.name = name;
    this.definition = definition;
    this.request = request;
    this.order = order;
    this.waited = waited;
    this.reply = reply;
    this.json = jsonOf(reply.body);
  }

  get status(): number {
    return this.reply.status;
  }

  /** A header by its name in lower case. */
  header(name: string): string | undefined {
    return headerOf(this.reply, name);
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

  get accepted(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  /** Whether the input was refused as invalid. */
  get refused(): boolean {
    return this.status === 400 || this.status === 422;
  }

  /** The members of the body that was sent. */
  get sent(): JsonRecord {
    const sent: unknown = parseJson(this.request.body ?? '{}');
    return isObject(sent) ? sent : {};
  }

  /** `GET /pets?limit=0: 400`. */
  toString(): string {
    const { method, path } = this.request;
    const { key, headers, body, why } = this.definition;
    const words = [
      `${method} ${path}`,
      ...(body === undefined ? [] : [`with ${why}`]),
      ...(key === undefined || body !== undefined ? [] : [KEYS[key]]),
      ...(headers?.Origin === undefined ? [] : ['from another origin']),
    ];
    const again = this.waited === 0 ? '' : `, again after ${this.waited} s`;
    return `${words.join(' ')}: ${this.status}${again}`;
  }
}

const KEYS = {
  none: 'without a key',
  unknown: 'with an unknown key',
  invalid: 'with the invalid key',
  'read-only': 'with the read-only key',
} as const;

import { isUtf8 } from 'node:buffer';
import { parseJson } from '../contract/json.ts';
import type { OperationId } from '../contract/operations.ts';
import { isObject } from '../contract/records.ts';
import { describe, listed } from '../words.ts';
import { type DeploymentReply, type DeploymentRequest, headerOf } from './deployment-client.ts';
import { describeBody } from './describe-body.ts';
import { idIn, idsOf, isDouble, type JsonRecord } from './record-ids.ts';
import type { Deviation } from './reply-differences.ts';
import type { RequestName } from './request-names.ts';

/** What the user said about the orders of the deployment. */
export interface NamedOrders {
  readonly cancel: readonly bigint[];
  readonly shipped: readonly bigint[];
  readonly cancelled: readonly bigint[];
}

/** Something that only the deployment can provide: an id, or what it has done so far. */
export interface Fact {
  /** Stands in a path until it is known. */
  readonly description: string;
  /** The request whose reply it follows from. */
  readonly after?: RequestName;
  readonly find: (check: CheckTranscript, orders: NamedOrders) => string | undefined;
}

/** The effect that a read shows of the writes before it. */
export interface Effect {
  /** Whether the document says that there is one. */
  readonly documented?: true;
  /** Whether the reply shows all of it, or there is none to see. */
  readonly isShown: (check: CheckTranscript) => boolean;
}

/** How a reply breaks a rule of the document that is not about the shape of its records. */
export type DocumentRule = (reply: ProbeReply, check: CheckTranscript) => readonly Deviation[];

/** A request of a check: what it sends, what it needs, and what the document says of its reply. */
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
  readonly needs?: Fact;
  /** The status that the document prescribes. */
  readonly status?: number;
  /** What its reply must show of earlier writes. A read that does not is repeated after a wait. */
  readonly effect?: Effect;
  readonly rules?: readonly DocumentRule[];
  /** The operation whose reply is wrong if a rule is broken; by default its own. */
  readonly judges?: OperationId;
  /** The operation that an Error of another method is reported with. */
  readonly beside?: OperationId;
}

/** A reply to a request of a check. */
export class ProbeReply {
  readonly name: RequestName;
  readonly definition: CheckRequest;
  readonly request: DeploymentRequest;
  readonly reply: DeploymentReply;
  /** The order that the request names. */
  readonly order: bigint | undefined;
  /** Its body; undefined if it has none or that is not JSON. */
  readonly json: unknown;
  /** Seconds after which it was sent once more, since no effect of earlier writes was seen. */
  readonly waited: number;
  /** In milliseconds; only differences count. */
  readonly receivedAt = performance.now();

  constructor({ name, definition, request, order, waited }: Sending, reply: DeploymentReply) {
    this.name = name;
    this.definition = definition;
    this.request = request;
    this.reply = reply;
    this.order = order;
    this.waited = waited;
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
    const { request, status, waited } = this;
    const { key, headers, body, why } = this.definition;
    const words = [
      `${request.method} ${request.path}`,
      ...(body === undefined ? [] : [`with ${why}`]),
      ...(key === undefined || body !== undefined ? [] : [KEYS[key]]),
      ...(headers?.Origin === undefined ? [] : ['from another origin']),
    ];
    const again = waited === 0 ? '' : `, again after ${waited} s`;
    return `${words.join(' ')}: ${status}${again}`;
  }
}

/** A request as it was sent. */
export type Sending = Pick<ProbeReply, 'name' | 'definition' | 'request' | 'order' | 'waited'>;

const KEYS = {
  none: 'without a key',
  unknown: 'with an unknown key',
  invalid: 'with the invalid key',
  'read-only': 'with the read-only key',
} as const;

/** The JSON value of a body; undefined if it has none or that is not JSON. */
export function jsonOf(body: Buffer): unknown {
  try {
    return isUtf8(body) ? parseJson(body.toString()) : undefined;
  } catch {
    return undefined;
  }
}

/** Fields of an object in a message. */
const MOST_FIELDS = 5;

/** Lists that a check asks for before and after it creates animals. */
const LISTS = {
  petsAgain: { before: 'pets100', field: 'id', most: 100 },
  inventoryCreated: { before: 'inventory', field: 'petId', most: Number.POSITIVE_INFINITY },
} as const;

/** What a check has sent and received so far. */
export class CheckTranscript {
  readonly #replies = new Map<RequestName, readonly ProbeReply[]>();
  readonly #needs = new Map<RequestName, readonly string[]>();
  readonly #failures = new Map<RequestName, string>();
  readonly #used = new Set<RequestName>();
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

  /** What kept a request from being sent. */
  needsOf(name: RequestName): readonly string[] {
    return this.#needs.get(name) ?? [];
  }

  /** Why requests got no reply that answers anything. */
  failuresOf(names: Iterable<RequestName>): string[] {
    return [...new Set([...names].flatMap((name) => this.#failures.get(name) ?? []))];
  }

  /** Why what a request asks for is unknown: what is missing, or what was seen instead. */
  whyUnknown(name: RequestName): string {
    const replies = this.all(name);
    const [first] = replies;
    if (first === undefined) {
      return this.#failures.get(name) ?? `it needs ${listed(this.needsOf(name), 'and')}`;
    }
    if (!first.accepted) return [...new Set(replies.map(String))].join('; ');
    const { json, reply } = first;
    const fields = isObject(json) ? Object.keys(json).slice(0, MOST_FIELDS) : [];
    if (fields.length > 0) return `${first} with an object that has ${listed(fields, 'and')}`;
    return `${first} with ${json === undefined ? describeBody(reply) : describe(json)}`;
  }

  /** Why a list is unknown; undefined if all are known. */
  whyNoList(...names: readonly RequestName[]): string | undefined {
    const name = names.find((it) => this.list(it) === undefined);
    return name === undefined ? undefined : this.whyUnknown(name);
  }

  /** The failures of the requests that a judgement is based on. */
  failuresBehind(judge: () => void): string[] {
    this.#used.clear();
    judge();
    return this.failuresOf(this.#used);
  }

  all(...names: readonly RequestName[]): readonly ProbeReply[] {
    for (const name of names) this.#used.add(name);
    return names.flatMap((name) => this.#replies.get(name) ?? []);
  }

  get everything(): readonly ProbeReply[] {
    return [...this.#replies.values()].flat();
  }

  /** The first reply to a request. */
  get(name: RequestName): ProbeReply | undefined {
    return this.all(name)[0];
  }

  status(name: RequestName): number | undefined {
    return this.get(name)?.status;
  }

  /** A header by its name in lower case. */
  header(name: RequestName, header: string): string | undefined {
    return this.get(name)?.header(header);
  }

  /** The records of a list. */
  list(name: RequestName): readonly JsonRecord[] | undefined {
    return this.get(name)?.records;
  }

  record(name: RequestName): JsonRecord | undefined {
    return this.get(name)?.record;
  }

  /** The id of the record in a reply. */
  id(name: RequestName): bigint | undefined {
    return idIn(this.record(name));
  }

  accepted(name: RequestName): boolean {
    return this.get(name)?.accepted === true;
  }

  /** Whether a request was sent and its input refused. */
  refused(name: RequestName): boolean {
    return this.get(name)?.refused === true;
  }

  /** The ids of the animals that the check has created first. */
  get createdIds(): bigint[] {
    return this.all('create', 'createPending').flatMap(({ record }) => idIn(record) ?? []);
  }

  /** The id of a created animal in a list that lacks its exact one: one of the two is rounded. */
  roundedTwin(name: keyof typeof LISTS, id: bigint | undefined): bigint | undefined {
    const { before, field, most } = LISTS[name];
    const known = idsOf(this.list(before), field);
    const ids = idsOf(this.list(name), field);
    // An animal on another page can have an id beside this one.
    if (id === undefined || ids.includes(id) || ids.length >= most) return undefined;
    if (!isDouble(id) && !ids.every(isDouble)) return undefined;
    return ids.find((other) => Number(other) === Number(id) && !known.includes(other));
  }
}

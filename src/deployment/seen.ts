import { isUtf8 } from 'node:buffer';
import { toInt64 } from '../contract/int64.ts';
import { parseJson } from '../contract/json.ts';
import { isObject } from '../contract/records.ts';
import { describe, listed } from '../words.ts';
import { ASKS, type AskName } from './asks.ts';
import { type DeploymentReply, type DeploymentRequest, headerOf } from './deployment-client.ts';
import { describeBody } from './describe-body.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

/** A request that was sent, and its reply. */
export class Exchange {
  readonly name: AskName;
  readonly request: DeploymentRequest;
  readonly reply: DeploymentReply;
  /** The order that it names. */
  readonly order: bigint | undefined;
  /** Its body; undefined if it has none or that is not JSON. */
  readonly json: unknown;
  /** Seconds after which it was sent once more, since no effect of earlier writes was seen. */
  readonly waited: number;
  /** In milliseconds; only differences count. */
  readonly receivedAt = performance.now();

  constructor(
    name: AskName,
    request: DeploymentRequest,
    reply: DeploymentReply,
    order: bigint | undefined,
    waited = 0,
  ) {
    this.name = name;
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

  /** `GET /pets?limit=0: 400`. */
  toString(): string {
    const waited = this.waited === 0 ? '' : `, again after ${this.waited} s`;
    return `${asked(this)}: ${this.status}${waited}`;
  }
}

/** A request as messages name it. */
function asked({ name, request }: Exchange): string {
  const { key, headers, body, why } = ASKS[name];
  return [
    `${request.method} ${request.path}`,
    ...(body === undefined ? [] : [`with ${why}`]),
    ...(key === undefined || body !== undefined ? [] : [KEYS[key]]),
    ...(headers?.Origin === undefined ? [] : ['from another origin']),
  ].join(' ');
}

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

/** Everything that a check has sent and received so far. */
export class Seen {
  readonly #exchanges = new Map<AskName, readonly Exchange[]>();
  readonly #needs = new Map<AskName, readonly string[]>();
  readonly #failures = new Map<AskName, string>();
  readonly #looked = new Set<AskName>();
  /** The reads that showed no effect of earlier writes, however often they were repeated. */
  readonly unaffected = new Set<AskName>();
  /** The reply that does not show what the document says a write did. */
  stale: Exchange | undefined;

  /** Puts what came of a request in place of what came of it before. */
  set(name: AskName, exchanges: readonly Exchange[]): void {
    this.#exchanges.set(name, exchanges);
  }

  /** @param needs what would have to be given or known, such as `--writes` */
  skip(name: AskName, needs: readonly string[]): void {
    this.#needs.set(name, needs);
  }

  /** @param why there was no reply that answers anything */
  fail(name: AskName, why: string): void {
    this.#failures.set(name, why);
  }

  /** What kept a request from being sent. */
  needsOf(name: AskName): readonly string[] {
    return this.#needs.get(name) ?? [];
  }

  /** Why a request got no reply that answers anything. */
  failureOf(name: AskName): string | undefined {
    return this.#failures.get(name);
  }

  /** Why what a request asks for is unknown: what is missing, or what was seen instead. */
  whyUnknown(name: AskName): string {
    const exchanges = this.all(name);
    const [first] = exchanges;
    if (first === undefined) {
      return this.failureOf(name) ?? `it needs ${listed(this.needsOf(name), 'and')}`;
    }
    if (!first.accepted) return [...new Set(exchanges.map(String))].join('; ');
    const { json, reply } = first;
    const fields = isObject(json) ? Object.keys(json).slice(0, MOST_FIELDS) : [];
    if (fields.length > 0) return `${first} with an object that has ${listed(fields, 'and')}`;
    return `${first} with ${json === undefined ? describeBody(reply) : describe(json)}`;
  }

  /** Why a list is unknown; undefined if all are known. */
  whyNoList(...names: readonly AskName[]): string | undefined {
    const name = names.find((it) => this.list(it) === undefined);
    return name === undefined ? undefined : this.whyUnknown(name);
  }

  /** Why requests got no answer that a judgement looked at. */
  failuresBehind(judge: () => void): string[] {
    this.#looked.clear();
    judge();
    return [...new Set([...this.#looked].flatMap((name) => this.failureOf(name) ?? []))];
  }

  /** The first exchange of a name. */
  get(name: AskName): Exchange | undefined {
    return this.all(name)[0];
  }

  all(...names: readonly AskName[]): readonly Exchange[] {
    for (const name of names) this.#looked.add(name);
    return names.flatMap((name) => this.#exchanges.get(name) ?? []);
  }

  get everything(): readonly Exchange[] {
    return [...this.#exchanges.values()].flat();
  }

  status(name: AskName): number | undefined {
    return this.get(name)?.status;
  }

  /** The records of a list. */
  list(name: AskName): readonly JsonRecord[] | undefined {
    return this.get(name)?.records;
  }

  /** Whether a request was sent and its input refused. */
  refused(name: AskName): boolean {
    return this.get(name)?.refused === true;
  }
}

/** The id in a field, also of a deployment that writes it as a string. */
export function idIn(record: JsonRecord | undefined, field = 'id'): bigint | undefined {
  const value = record?.[field];
  return toInt64(typeof value === 'string' && /^-?\d{1,19}$/.test(value) ? BigInt(value) : value);
}

/** The record of a list with this id. */
export function withId(
  records: readonly JsonRecord[] | undefined,
  id: bigint | undefined,
  field = 'id',
): JsonRecord | undefined {
  return id === undefined ? undefined : records?.find((it) => idIn(it, field) === id);
}

/** Lists that a check asks for before and after it creates animals. */
const LISTS = {
  petsAgain: { before: 'pets100', field: 'id', most: 100 },
  inventoryCreated: { before: 'inventory', field: 'petId', most: Number.POSITIVE_INFINITY },
} as const;

/** The id of a created animal in a list that lacks its exact one: one of the two is rounded. */
export function roundedTwin(
  seen: Seen,
  name: keyof typeof LISTS,
  id: bigint | undefined,
): bigint | undefined {
  const { before, field, most } = LISTS[name];
  const known = idsOf(seen.list(before), field);
  const ids = idsOf(seen.list(name), field);
  // An animal on another page can have an id beside this one.
  if (id === undefined || ids.includes(id) || ids.length >= most) return undefined;
  if (!isDouble(id) && !ids.every(isDouble)) return undefined;
  return ids.find((other) => Number(other) === Number(id) && !known.includes(other));
}

/** Whether a double can hold an id. */
export function isDouble(id: bigint): boolean {
  return id === BigInt(Number(id));
}

export function idsOf(records: readonly JsonRecord[] | undefined, field?: string): bigint[] {
  return (records ?? []).flatMap((record) => idIn(record, field) ?? []);
}

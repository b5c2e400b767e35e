import { OPERATIONS } from '../../contract/operations.ts';
import { isObject } from '../../contract/records.ts';
import { describe, joinWords } from '../../words.ts';
import type { Deviation } from '../reply-differences.ts';
import { describeBody, idIn, type JsonRecord, withId } from '../reply-parts.ts';
import type { NamedOrders, ProbeReply, RequestName, SentRequest } from './probe-reply.ts';

/** Derives something from what a check has received. */
export type Look<T> = (check: CheckTranscript) => T;

/** A request of a check: what it sends, what it needs, and what its reply is judged by. */
export interface CheckRequest extends SentRequest {
  readonly needs?: Need;
  /** What its reply must show of earlier writes. A read that does not is repeated after a wait. */
  readonly effect?: Effect;
  readonly rules?: readonly DocumentRule[];
  /** Whether an assumption explains that the status is not the prescribed one. */
  readonly excuse?: (reply: ProbeReply, check: CheckTranscript) => boolean;
}

/** Something that only the deployment can provide, such as an id. */
export interface Need {
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
  readonly isShown: Look<boolean>;
}

/** How a reply breaks a rule of the document that is not about the shape of its records. */
export type DocumentRule = (reply: ProbeReply, check: CheckTranscript) => readonly Deviation[];

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
      return this.#failures.get(name) ?? `it needs ${joinWords(this.needsOf(name), 'and')}`;
    }
    if (!first.accepted) return [...new Set(replies.map(String))].join('; ');
    const { json, reply } = first;
    const fields = isObject(json) ? Object.keys(json) : [];
    if (fields.length > 0) return `${first} with an object that has ${joinWords(fields, 'and')}`;
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

  /** The entry of a created animal, before its stock changed. */
  createdEntry(created: 'create' | 'createPending'): JsonRecord | undefined {
    return withId(this.list('inventoryCreated'), this.id(created), 'petId');
  }

  /** The orders that the check has cancelled. */
  get cancelled(): readonly ProbeReply[] {
    return this.all('cancel').filter((it) => it.accepted);
  }

  /** The time of a deployment by its `Date` headers, in milliseconds since 1970. */
  get clock(): number | undefined {
    return Date.parse(this.header('pets100', 'date') ?? '') || undefined;
  }

  /** Whether the deployment's clock is past the sunset of `GET /pets/{petId}`. */
  get hasPassedSunset(): boolean {
    return (this.clock ?? Date.now()) >= SUNSET_ENDS;
  }

  /** Whether the ship date of an order has passed by the deployment's clock. */
  isDue(order: bigint | undefined): boolean {
    const shipDate = withId(this.list('orders'), order)?.shipDate;
    return typeof shipDate === 'string' && Date.parse(shipDate) <= (this.clock ?? Date.now());
  }

  /** What cancelling orders did to the stock of their animals, where it can be seen. */
  get restocks(): readonly { petId: bigint; before: number; after: number; ordered: number }[] {
    const lists = [
      this.list('inventoryCreated') ?? this.list('inventory'),
      this.list('inventoryCancelled'),
    ];
    const ordered = new Map<bigint, number>();
    for (const { order } of this.cancelled) {
      const known = withId(this.list('orders'), order);
      const petId = idIn(known, 'petId');
      if (petId === undefined || typeof known?.quantity !== 'number') continue;
      ordered.set(petId, (ordered.get(petId) ?? 0) + known.quantity);
    }
    return [...ordered].flatMap(([petId, quantity]) => {
      const [before, after] = lists.map((list) => withId(list, petId, 'petId')?.quantity);
      if (typeof before !== 'number' || typeof after !== 'number' || quantity === 0) return [];
      return [{ petId, before, after, ordered: quantity }];
    });
  }
}

const SUNSET_ENDS = Date.parse(OPERATIONS.getPet.sunset) + 24 * 60 * 60 * 1000;

import type { OperationId } from '../contract/operations.ts';
import { isShown, type Outcome } from '../scenario/outcome.ts';
import type { Decision } from '../scenario/rules.ts';
import { bearerToken } from '../service/bearer.ts';
import type { Call } from '../service/input.ts';
import type { Basis } from '../service/reply.ts';
import { cut } from '../words.ts';

/** A request as the journal takes it. */
export interface Seen {
  readonly method: string;
  /** The request's target, as the client wrote it. */
  readonly target: string;
  readonly authorization: string | undefined;
  /** Undefined where no operation was called: the service has no such path or method, say. */
  readonly call: Call | undefined;
  /** Stands for the connection by which it came. */
  readonly connection: object;
  /** When that was opened, by `performance.now()`; undefined where nobody knows. */
  readonly connectedAt: number | undefined;
  /** When the request was received, by `performance.now()`. */
  readonly receivedAt: number;
}

/** Characters of a request's target that are kept. */
export const KEPT_TARGET = 2048;

/** Characters of a reply's body, and bytes of a request's body, that are kept. */
const KEPT_BODY = 4096;

/** Characters of a key that anybody is shown. */
const SHOWN_OF_KEY = 4;

/** One exchange: what was asked, what was answered and why. A full journal takes old ones again. */
export class Exchange {
  /** Counts the exchanges of a sandbox from 1, whatever was dropped since. */
  number = 0;
  /** When the reply was decided on, by the sandbox's clock; milliseconds since 1970. */
  at = 0;
  /** When the request was received, by `performance.now()`. */
  receivedAt = 0;
  method = '';
  target = '';
  operation: OperationId | undefined;
  /** Undefined where the client was sent none. */
  status: number | undefined;
  basis: Basis = NOTHING;
  fault: string | undefined;
  /** How long the reply was held back, in milliseconds. */
  delay = 0;
  /** Bytes as the characters of Latin-1, which is the smallest that keeps them. */
  #requestBody: string | undefined;
  /** Whether there was more of the request's body than is kept. */
  requestCut = false;
  /** Names and values in turn. */
  replyHeaders: readonly string[] = [];
  /** Undefined where there was none, or more than is kept. */
  replyBody: string | Buffer | undefined;
  /** Whether there was a reply's body that is not kept. */
  replyCut = false;
  #authorization: string | undefined;
  #reason: string | undefined;
  #decision: Decision | undefined;

  /** Takes an exchange in, in the place of what was here. */
  take(number: number, at: number, seen: Seen, outcome: Outcome, decision?: Decision): void {
    const { reply } = outcome;
    this.number = number;
    this.at = at;
    this.receivedAt = seen.receivedAt;
    this.method = seen.method;
    // A text that is the same as before is not taken again, so that it does not outlive its request.
    if (this.target !== seen.target) this.target = cut(seen.target, KEPT_TARGET);
    this.operation = seen.call?.operation;
    this.status = isShown(outcome) ? reply?.status : undefined;
    this.basis = reply?.basis ?? forcedBy(decision);
    this.fault = outcome.kind === 'fault' ? outcome.fault.kind : undefined;
    this.delay = outcome.delay;
    const body = seen.call?.body.kind === 'bytes' ? seen.call.body.bytes : undefined;
    this.#requestBody = body?.toString('latin1', 0, KEPT_BODY);
    this.requestCut = body !== undefined && body.length > KEPT_BODY;
    this.replyHeaders = reply?.headers ?? [];
    const text = reply?.body.kind === 'json' ? reply.body.text : undefined;
    this.replyBody = text !== undefined && text.length <= KEPT_BODY ? text : undefined;
    this.replyCut =
      reply !== undefined && reply.body.kind !== 'none' && this.replyBody === undefined;
    if (this.#authorization !== seen.authorization) this.#authorization = seen.authorization;
    this.#reason = reply?.reason;
    this.#decision = decision;
  }

  /** The API key's first characters; undefined where the request carried none. */
  get key(): string | undefined {
    const key = bearerToken(this.#authorization);
    if (key === undefined || key === '') return undefined;
    // A key that is no longer than what is shown would be shown in full.
    return `${key.slice(0, key.length > SHOWN_OF_KEY ? SHOWN_OF_KEY : 1)}…`;
  }

  /** The first 4 KiB of it; undefined where the request had none. */
  get requestBody(): Buffer | undefined {
    return this.#requestBody === undefined ? undefined : Buffer.from(this.#requestBody, 'latin1');
  }

  hasKey(key: string): boolean {
    return bearerToken(this.#authorization) === key;
  }

  /** Why it was answered so, in words, the nearest cause first. */
  get why(): string[] {
    const why: string[] = [];
    if (this.#decision !== undefined) why.push(tell(this.#decision));
    if (this.basis.kind === 'assumed') why.push(...this.basis.by.map((by) => `assumption ${by}`));
    if (this.#reason !== undefined) why.push(this.#reason);
    if (why.length === 0) {
      why.push(
        this.basis.kind === 'documented' ? 'as the document prescribes' : 'as HTTP asks for',
      );
    }
    return why;
  }
}

const NOTHING: Basis = { kind: 'documented' };
function forcedBy(decision: Decision | undefined): Basis {
  return decision === undefined ? NOTHING : { kind: 'forced', by: decision.by };
}

function tell({ rule, call }: Decision): string {
  if (rule === undefined) return 'the request asked for it with Prefer';
  const { scenario, number, calls } = rule;
  const name = `scenario ${scenario}, rule ${number}`;
  if (calls === undefined) return name;
  const last = Math.max(...calls.map(({ to }) => to));
  return Number.isFinite(last) ? `${name}, call ${call} of ${last}` : `${name}, call ${call}`;
}

/** Which exchanges are meant; every member given must hold. */
export interface ExchangeFilter {
  readonly operation?: OperationId | undefined;
  readonly status?: number | undefined;
  readonly basis?: Basis['kind'] | undefined;
  readonly method?: string | undefined;
  readonly key?: string | undefined;
  /** Both ends included, in milliseconds since 1970. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** A frozen copy of an exchange, for observers. It can be kept. */
export type ObservedExchange = Readonly<Omit<Exchange, 'take'>>;

/** Called after each exchange, with the name of its sandbox. */
export type Observer = (sandbox: string, exchange: ObservedExchange) => void;

/** The exchanges that a sandbox has seen: the latest ones, and how many came before them. */
export class Journal {
  readonly #sandbox: string;
  readonly #capacity: number;
  readonly #observers: ReadonlySet<Observer>;
  /** A ring: the oldest is at `#taken % #capacity` once it is full. */
  #ring: Exchange[] = [];
  /** Exchanges since the journal was made, and since it was emptied. */
  #number = 0;
  #taken = 0;
  /** The latest instant of an exchange that is no longer kept. The clock can have been moved back. */
  #droppedUntil = Number.NEGATIVE_INFINITY;

  /** @param capacity how many exchanges are kept; 0 keeps none */
  constructor(sandbox: string, capacity: number, observers: ReadonlySet<Observer>) {
    this.#sandbox = sandbox;
    this.#capacity = capacity;
    this.#observers = observers;
  }

  /** Exchanges that are no longer kept. */
  get dropped(): number {
    return this.#taken - this.#ring.length;
  }

  /** The number of the latest exchange. */
  get number(): number {
    return this.#number;
  }

  /** Exchanges that are kept. */
  get size(): number {
    return this.#ring.length;
  }

  record(at: number, seen: Seen, outcome: Outcome, decision?: Decision): void {
    this.#number += 1;
    if (this.#capacity === 0) this.#droppedUntil = Math.max(this.#droppedUntil, at);
    if (this.#capacity === 0 && this.#observers.size === 0) {
      this.#taken += 1;
      return;
    }
    const exchange = this.#next();
    this.#taken += 1;
    exchange.take(this.#number, at, seen, outcome, decision);
    if (this.#observers.size === 0) return;
    // The ring uses its exchanges again.
    const copy = new Exchange();
    copy.take(this.#number, at, seen, outcome, decision);
    Object.freeze(copy);
    for (const observe of this.#observers) observe(this.#sandbox, copy);
  }

  #next(): Exchange {
    const oldest = this.#ring[this.#capacity === 0 ? 0 : this.#taken % this.#capacity];
    if (oldest !== undefined) {
      this.#droppedUntil = Math.max(this.#droppedUntil, oldest.at);
      return oldest;
    }
    const exchange = new Exchange();
    if (this.#capacity > 0) this.#ring.push(exchange);
    return exchange;
  }

  /** The exchanges kept that a filter lets through, oldest first. */
  *select(filter: ExchangeFilter = {}): Generator<Exchange> {
    const { length } = this.#ring;
    const first = length < this.#capacity ? 0 : this.#taken % this.#capacity;
    for (let count = 0; count < length; count += 1) {
      const exchange = this.#ring[(first + count) % length];
      if (exchange !== undefined && passes(exchange, filter)) yield exchange;
    }
  }

  /** How many exchanges a filter lets through; not `complete` where a dropped one could have been. */
  count(filter: ExchangeFilter): { count: number; complete: boolean } {
    let count = 0;
    for (const _exchange of this.select(filter)) count += 1;
    const { from = Number.NEGATIVE_INFINITY } = filter;
    return { count, complete: this.dropped === 0 || from > this.#droppedUntil };
  }

  /** Forgets every exchange, those that were dropped too. */
  clear(): void {
    this.#ring = [];
    this.#taken = 0;
    this.#droppedUntil = Number.NEGATIVE_INFINITY;
  }
}

/** Whether a filter lets an exchange through. */
export function passes(exchange: ObservedExchange, filter: ExchangeFilter): boolean {
  const { operation, status, basis, method, key, from, to } = filter;
  return (
    (operation === undefined || exchange.operation === operation) &&
    (status === undefined || exchange.status === status) &&
    (basis === undefined || exchange.basis.kind === basis) &&
    (method === undefined || exchange.method === method) &&
    (key === undefined || exchange.hasKey(key)) &&
    (from === undefined || exchange.at >= from) &&
    (to === undefined || exchange.at <= to)
  );
}

import type { Message } from '../../core/raw-http.ts';
import { type Exchange, isWaiting } from '../../core/sandbox/exchange.ts';
import type { MemoryBudget } from '../../core/sandbox/memory-budget.ts';
import { spoiltError } from './store-parts.ts';

/** Bytes that a body may have to be kept: every server reads it, and Redis has it for each exchange. */
const MAX_REDIS_BODY_BYTES = 16 * 1024;

function shorten<M extends Message>(message: M): M {
  return message.size > MAX_REDIS_BODY_BYTES ? { ...message, body: undefined } : message;
}

const withBytes = ({ body }: Message) =>
  typeof body === 'object' ? { latin1: Buffer.from(body).toString('latin1') } : body;

export function shortenBodies(exchange: Exchange): Exchange {
  const { request, reply } = exchange;
  if (request.size <= MAX_REDIS_BODY_BYTES && (reply?.size ?? 0) <= MAX_REDIS_BODY_BYTES) {
    return exchange;
  }
  return { ...exchange, request: shorten(request), reply: reply && shorten(reply) };
}

/** @param exchange without long bodies */
export function writeExchange(exchange: Exchange): string {
  const { request, reply } = exchange;
  if (typeof request.body !== 'object' && typeof reply?.body !== 'object') {
    return JSON.stringify(exchange);
  }
  return JSON.stringify({
    ...exchange,
    request: { ...request, body: withBytes(request) },
    reply: reply && { ...reply, body: withBytes(reply) },
  });
}

function readMessage<M extends Message>(message: M): M {
  const { latin1 } = Object(message.body);
  return latin1 === undefined ? message : { ...message, body: Buffer.from(latin1, 'latin1') };
}

export function readExchange(text: string, number: number): Exchange {
  try {
    const { request, reply, ...rest }: Exchange = JSON.parse(text);
    return {
      ...rest,
      number,
      request: readMessage(request),
      reply: reply && readMessage(reply),
    };
  } catch (error) {
    throw spoiltError(`exchange ${number}`, error);
  }
}

/** The exchanges of a sandbox that do not change any more, so that each is read once. */
export class ExchangeCache {
  readonly #memory: MemoryBudget;
  readonly #capacity: number;
  readonly #kept = new Map<number, readonly [exchange: Exchange, bytes: number]>();

  constructor(memory: MemoryBudget, capacity: number) {
    this.#memory = memory;
    this.#capacity = capacity;
  }

  get(number: number): Exchange | undefined {
    return this.#kept.get(number)?.[0];
  }

  add(exchange: Exchange, bytes: number): void {
    if (isWaiting(exchange) || this.#kept.has(exchange.number) || this.#capacity === 0) return;
    this.#kept.set(exchange.number, [exchange, bytes]);
    if (this.#kept.size > this.#capacity) this.#memory.remove(this, this.forgetOldest());
    this.#memory.add(this, bytes);
  }

  forgetOldest(): number {
    const [oldest] = this.#kept;
    if (oldest === undefined) return 0;
    this.#kept.delete(oldest[0]);
    return oldest[1][1];
  }

  clear(): void {
    while (this.#kept.size > 0) this.#memory.remove(this, this.forgetOldest());
  }
}

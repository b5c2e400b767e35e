import { type Exchange, MAX_BODY } from './exchange.ts';

/** Bytes of bodies that a journal keeps, and all journals of a server. */
export const MAX_JOURNAL_BODIES = 16 * 1024 * 1024;
const MAX_SERVER_BODIES = 256 * 1024 * 1024;

/** Bytes that a body may have to count for nothing: the exchange around it takes as much. */
const SMALL_BODY = 1024;

/** What a body counts. One that is too long is not kept. */
export function countBytes(size: number): number {
  return size > SMALL_BODY && size <= MAX_BODY ? size : 0;
}

/** The exchange itself unless a body is too long to be kept. */
export function withoutLongBodies(exchange: Exchange): Exchange {
  const { request, reply } = exchange;
  if (request.size <= MAX_BODY && (reply === undefined || reply.size <= MAX_BODY)) return exchange;
  return {
    ...exchange,
    request: request.size > MAX_BODY ? { ...request, body: undefined } : request,
    reply: reply && (reply.size > MAX_BODY ? { ...reply, body: undefined } : reply),
  };
}

export function withoutBodies(exchange: Exchange): Exchange {
  const { request, reply } = exchange;
  return {
    ...exchange,
    request: { ...request, body: undefined },
    reply: reply && { ...reply, body: undefined },
  };
}

/** A journal, as far as its bodies matter. */
interface BodyKeeper {
  /** @returns their bytes; 0 if there are none left */
  dropOldestBodies(): number;
}

/** The bodies that all journals of a server keep. */
export class BodyBudget {
  #bytes = 0;
  /** Those with bodies that count; the one that was used last comes last. */
  readonly #journals = new Set<BodyKeeper>();

  add(journal: BodyKeeper, bytes: number): void {
    this.#bytes += bytes;
    this.#journals.delete(journal);
    this.#journals.add(journal);
    while (this.#bytes > MAX_SERVER_BODIES) {
      const [oldest] = this.#journals;
      if (oldest === undefined || oldest.dropOldestBodies() === 0) return;
    }
  }

  remove(journal: BodyKeeper, bytes: number, isLast: boolean): void {
    this.#bytes -= bytes;
    if (isLast) this.#journals.delete(journal);
  }
}

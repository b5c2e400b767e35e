import {
  ASSUMED_REPLIES,
  DOCUMENTED_CASES,
  DOCUMENTED_REPLIES,
  type DocumentedCase,
  type KnownReply,
} from '../contract/cases.ts';
import type { OperationId } from '../contract/operations.ts';
import type { Call } from '../service/input.ts';
import type { Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import { CASE_PREDICATES, type Predicate } from './coverage-cases.ts';

/** How often something was shown to the client, and by which exchange first. */
export interface Shown {
  readonly count: number;
  readonly first?: { readonly sandbox: string; readonly exchange: number };
}

export type ReplyCoverage = KnownReply & Shown;
/** A case is looked for until it is first shown: its count is 0 or 1 for each sandbox. */
type CaseCoverage = DocumentedCase & Shown;

interface Share {
  readonly shown: number;
  readonly total: number;
  /** Rounded down, so that 100 means all. */
  readonly percent: number;
}

/** What a client was shown of the service. */
export interface CoverageReport {
  readonly totals: { readonly documented: Share; readonly cases: Share; readonly assumed: Share };
  readonly documented: readonly ReplyCoverage[];
  readonly cases: readonly CaseCoverage[];
  readonly assumed: readonly ReplyCoverage[];
}

const REPLIES = [...DOCUMENTED_REPLIES, ...ASSUMED_REPLIES];
const CASES_FROM = REPLIES.length;
/** How many things are counted: replies, then cases. */
export const SLOTS = CASES_FROM + DOCUMENTED_CASES.length;

interface Case {
  readonly slot: number;
  readonly holds: Predicate;
}

/** A reply that is counted, and the cases that are told apart within it. */
interface Place {
  readonly operation: OperationId;
  readonly status: number;
  readonly slot: number;
  readonly cases: readonly Case[];
}

/** Where each reply is counted, by operation and then status. */
const PLACES = new Map<OperationId, Map<number, Place>>();
for (const [slot, { operation, status }] of REPLIES.entries()) {
  const cases = DOCUMENTED_CASES.flatMap((it, index) =>
    it.operation === operation && it.status === status
      ? [{ slot: CASES_FROM + index, holds: predicateOf(it.id) }]
      : [],
  );
  const places = PLACES.get(operation) ?? new Map<number, Place>();
  PLACES.set(operation, places.set(status, { operation, status, slot, cases }));
}

function predicateOf(id: string): Predicate {
  const found = Object.entries(CASE_PREDICATES).find(([name]) => name === id);
  if (found === undefined) throw new Error(`The case ${id} has no predicate.`);
  return found[1];
}

/** How often a reply was shown, by which exchange first, and its cases. */
interface ReplyCount {
  readonly place: Place;
  readonly exchange: number;
  count: number;
  /** For each case the exchange that showed it first, or 0. */
  readonly firsts: number[];
  /** How many of them are 0. */
  unseen: number;
  /** What was looked at last, and how many headers it had: who repeats that is shown nothing new. */
  query: Call['query'] | undefined;
  text: string | Buffer | undefined;
  headers: number;
}

/** Counts which replies the client of one sandbox was shown. */
export class Coverage {
  readonly sandbox: string;
  // A list, since most sandboxes see few replies, and there can be many sandboxes.
  #replies: ReplyCount[] = [];
  /** What was counted last: clients often ask for one thing again and again. */
  #latest: ReplyCount | undefined;

  constructor(sandbox: string) {
    this.sandbox = sandbox;
  }

  record(exchange: number, call: Call, reply: Reply, world: World): void {
    let shown = this.#latest;
    if (shown?.place.operation !== call.operation || shown.place.status !== reply.status) {
      const place = PLACES.get(call.operation)?.get(reply.status);
      if (place === undefined) return;
      shown = this.#replies.find((it) => it.place === place) ?? this.#first(place, exchange);
      this.#latest = shown;
    }
    shown.count += 1;
    if (shown.unseen === 0 || isRepeated(shown, call, reply)) return;
    const { place, firsts } = shown;
    for (const [index, { holds }] of place.cases.entries()) {
      if (firsts[index] !== 0 || !holds(call, reply, world)) continue;
      firsts[index] = exchange;
      shown.unseen -= 1;
    }
  }

  #first(place: Place, exchange: number): ReplyCount {
    const firsts = place.cases.map(() => 0);
    const nothing = { query: undefined, text: undefined, headers: 0 };
    const shown = { place, exchange, count: 0, firsts, unseen: firsts.length, ...nothing };
    this.#replies.push(shown);
    return shown;
  }

  /** How often what a slot stands for was shown. */
  at(slot: number): Shown {
    for (const { place, count, exchange, firsts } of this.#replies) {
      if (place.slot === slot) return this.#shown(count, exchange);
      const first = firsts[place.cases.findIndex((it) => it.slot === slot)];
      if (first !== undefined) return this.#shown(first === 0 ? 0 : 1, first);
    }
    return { count: 0 };
  }

  #shown(count: number, exchange: number): Shown {
    return count === 0 ? { count } : { count, first: { sandbox: this.sandbox, exchange } };
  }

  clear(): void {
    this.#latest = undefined;
    this.#replies = [];
  }
}

/** Whether the same was asked and answered last. What has no text of its own may have changed. */
function isRepeated(shown: ReplyCount, { query, body }: Call, reply: Reply): boolean {
  if (body.kind !== 'none' || reply.body.kind !== 'json') return false;
  const { text } = reply.body;
  const headers = reply.headers.length;
  if (text === shown.text && query === shown.query && headers === shown.headers) return true;
  shown.query = query;
  shown.text = text;
  shown.headers = headers;
  return false;
}

/** What one or more sandboxes' clients were shown, together. */
export function coverageOf(all: Iterable<Pick<Coverage, 'at'>>): CoverageReport {
  const sources = [...all];
  const shown = (slot: number): Shown => {
    const each = sources.map((it) => it.at(slot));
    const count = each.reduce((sum, it) => sum + it.count, 0);
    const first = each.find((it) => it.first !== undefined)?.first;
    return first === undefined ? { count } : { count, first };
  };
  const documented = DOCUMENTED_REPLIES.map((it, slot) => ({ ...it, ...shown(slot) }));
  const assumed = ASSUMED_REPLIES.map((it, index) => ({
    ...it,
    ...shown(DOCUMENTED_REPLIES.length + index),
  }));
  const cases = DOCUMENTED_CASES.map((it, index) => ({ ...it, ...shown(CASES_FROM + index) }));
  const totals = {
    documented: shareOf(documented),
    cases: shareOf(cases),
    assumed: shareOf(assumed),
  };
  return { totals, documented, cases, assumed };
}

function shareOf(all: readonly Shown[]): Share {
  const shown = all.filter(({ count }) => count > 0).length;
  return { shown, total: all.length, percent: Math.floor((100 * shown) / all.length) };
}

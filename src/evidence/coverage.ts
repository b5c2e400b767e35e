import {
  ASSUMED_REPLIES,
  DOCUMENTED_CASES,
  DOCUMENTED_REPLIES,
  type DocumentedCase,
  type KnownReply,
} from '../contract/cases.ts';
import { type OperationId, operationShape } from '../contract/operations.ts';
import type { RecordName } from '../contract/records.ts';
import type { Call } from '../service/input.ts';
import type { Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import { CASE_TESTS, type Predicate } from './coverage-cases.ts';
import { FACTS, factsOf } from './coverage-facts.ts';

/** How often something was shown to the client, and by which exchange first. */
export interface Shown {
  readonly count: number;
  readonly first?: { readonly sandbox: string; readonly exchange: number };
  /** The assumptions that led to it, as `id=option`. */
  readonly by?: readonly string[];
}

export type ReplyCoverage = KnownReply & Shown;
/** A case is looked for until it is first shown: its count is 0 or 1 for each sandbox. */
type CaseCoverage = DocumentedCase & Shown;

/** How many there are, and how many of them were shown. */
interface CoverageShare {
  readonly shown: number;
  readonly total: number;
  /** Rounded down, so that 100 means all. */
  readonly percent: number;
}

/** What a client was shown of the service. */
export interface CoverageReport {
  readonly totals: {
    readonly documented: CoverageShare;
    readonly cases: CoverageShare;
    readonly assumed: CoverageShare;
  };
  readonly documented: readonly ReplyCoverage[];
  readonly cases: readonly CaseCoverage[];
  readonly assumed: readonly ReplyCoverage[];
}

/**
 * What is counted, by slot: documented replies; those that assumptions add; documented statuses that
 * an assumption led to; and cases.
 */
const ASSUMED_FROM = DOCUMENTED_REPLIES.length;
const TWINS_FROM = ASSUMED_FROM + ASSUMED_REPLIES.length;
const CASES_FROM = TWINS_FROM + DOCUMENTED_REPLIES.length;
export const SLOTS = CASES_FROM + DOCUMENTED_CASES.length;

interface Case {
  readonly slot: number;
  /** The bit of a fact, or a predicate. */
  readonly test: number | Predicate;
}

/** A reply that is counted, and the cases that are told apart within it. */
interface Place {
  readonly slot: number;
  readonly cases: readonly Case[];
  /** The records in its body; undefined if no case is about them. */
  readonly record: RecordName | undefined;
}

/** The places of one status of an operation, by what a reply rests on. */
interface Places {
  readonly operation: OperationId;
  readonly status: number;
  readonly assumed: Place;
  readonly other: Place;
}

const PLACES = new Map<OperationId, Map<number, Places>>();
for (const [index, { operation, status }] of DOCUMENTED_REPLIES.entries()) {
  const assumed = { slot: TWINS_FROM + index, cases: [], record: undefined };
  const cases = casesOf(operation, status);
  const isAboutRecords = cases.some(({ test }) => typeof test === 'number');
  const record = isAboutRecords
    ? operationShape(operation).replies[status]?.body?.record
    : undefined;
  addPlaces({ operation, status, assumed, other: { slot: index, cases, record } });
}
for (const [index, { operation, status }] of ASSUMED_REPLIES.entries()) {
  const place = { slot: ASSUMED_FROM + index, cases: [], record: undefined };
  addPlaces({ operation, status, assumed: place, other: place });
}

function addPlaces(places: Places): void {
  const { operation, status } = places;
  const known = PLACES.get(operation) ?? new Map<number, Places>();
  PLACES.set(operation, known.set(status, places));
}

function casesOf(operation: OperationId, status: number): Case[] {
  return DOCUMENTED_CASES.flatMap((it, index) =>
    it.operation === operation && it.status === status
      ? [{ slot: CASES_FROM + index, test: testOf(it.id) }]
      : [],
  );
}

function testOf(id: string): number | Predicate {
  const found = Object.entries(CASE_TESTS).find(([name]) => name === id)?.[1];
  if (found === undefined) throw new Error(`The case ${id} has no test.`);
  return typeof found === 'string' ? FACTS[found] : found;
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
  /** The facts that were shown. */
  facts: number;
  /** The assumptions that led to it. */
  by: Set<string> | undefined;
}

/** Counts which replies the client of one sandbox was shown. */
export class Coverage {
  readonly sandbox: string;
  // A list, since most sandboxes see few replies, and there can be many sandboxes.
  #replies: ReplyCount[] = [];
  /** The latest, since clients often repeat a call. */
  #latest: { readonly places: Places; readonly shown: ReplyCount } | undefined;

  constructor(sandbox: string) {
    this.sandbox = sandbox;
  }

  record(exchange: number, call: Call, reply: Reply, world: World): void {
    const shown = this.#find(exchange, call, reply);
    if (shown === undefined) return;
    shown.count += 1;
    if (reply.basis.kind === 'assumed') noteGrounds(shown, reply.basis.by);
    if (shown.unseen === 0) return;
    const { record, cases } = shown.place;
    const fresh = record === undefined ? 0 : factsOf(reply, record) & ~shown.facts;
    shown.facts |= fresh;
    for (let index = 0; index < cases.length; index += 1) {
      const test = cases[index]?.test;
      if (test === undefined || shown.firsts[index] !== 0) continue;
      if (typeof test === 'number' ? (fresh & test) === 0 : !test(call, reply, world)) continue;
      shown.firsts[index] = exchange;
      shown.unseen -= 1;
    }
  }

  /** A documented reply is one that the document led to, or a rule: not an assumption. */
  #find(exchange: number, { operation }: Call, { status, basis }: Reply): ReplyCount | undefined {
    const latest = this.#latest;
    const known =
      latest?.places.operation === operation && latest.places.status === status
        ? latest.places
        : PLACES.get(operation)?.get(status);
    if (known === undefined) return undefined;
    const place = basis.kind === 'assumed' ? known.assumed : known.other;
    if (latest?.shown.place === place) return latest.shown;
    const shown = this.#replies.find((it) => it.place === place) ?? this.#first(place, exchange);
    this.#latest = { places: known, shown };
    return shown;
  }

  #first(place: Place, exchange: number): ReplyCount {
    const firsts = place.cases.map(() => 0);
    const unseen = firsts.length;
    const shown = { place, exchange, count: 0, firsts, unseen, facts: 0, by: undefined };
    this.#replies.push(shown);
    return shown;
  }

  /** How often what a slot stands for was shown. */
  at(slot: number): Shown {
    for (const { place, count, exchange, firsts, by } of this.#replies) {
      if (place.slot === slot) return this.#shown(count, exchange, by);
      const first = firsts[place.cases.findIndex((it) => it.slot === slot)];
      if (first !== undefined) return this.#shown(first === 0 ? 0 : 1, first);
    }
    return { count: 0 };
  }

  #shown(count: number, exchange: number, by?: ReadonlySet<string>): Shown {
    if (count === 0) return { count };
    const first = { sandbox: this.sandbox, exchange };
    return by === undefined ? { count, first } : { count, first, by: [...by] };
  }

  clear(): void {
    this.#latest = undefined;
    this.#replies = [];
  }
}

function noteGrounds(shown: ReplyCount, by: readonly string[]): void {
  shown.by ??= new Set();
  for (const ground of by) shown.by.add(ground);
}

/** What one or more sandboxes' clients were shown, together. */
export function coverageOf(all: Iterable<Pick<Coverage, 'at'>>): CoverageReport {
  const sources = [...all];
  const shown = (slot: number): Shown => together(sources.map((it) => it.at(slot)));
  const documented = DOCUMENTED_REPLIES.map((it, index) => ({ ...it, ...told(shown(index)) }));
  const added = ASSUMED_REPLIES.map((it, index) => ({
    ...it,
    ...told(shown(ASSUMED_FROM + index)),
  }));
  // Few assumptions lead to a documented status, so these are listed only if they were shown.
  const twins = DOCUMENTED_REPLIES.map((it, index) => {
    const twin = shown(TWINS_FROM + index);
    return { ...it, ...told(twin), grounds: twin.by ?? [] };
  });
  const assumed = [...added, ...twins.filter(({ count }) => count > 0)];
  const cases = DOCUMENTED_CASES.map((it, index) => ({
    ...it,
    ...told(shown(CASES_FROM + index)),
  }));
  const totals = {
    documented: shareOf(documented),
    cases: shareOf(cases),
    assumed: shareOf(assumed),
  };
  return { totals, documented, cases, assumed };
}

/** What several sandboxes were shown of one thing. */
export function together(all: readonly Shown[]): Shown {
  const count = all.reduce((sum, it) => sum + it.count, 0);
  const first = all.find((it) => it.first !== undefined)?.first;
  const by = [...new Set(all.flatMap((it) => it.by ?? []))];
  return { count, ...(first && { first }), ...(by.length > 0 && { by }) };
}

/** Without the assumptions, which `grounds` names where they matter. */
function told({ count, first }: Shown): Shown {
  return first === undefined ? { count } : { count, first };
}

function shareOf(all: readonly Shown[]): CoverageShare {
  const shown = all.filter(({ count }) => count > 0).length;
  return { shown, total: all.length, percent: Math.floor((100 * shown) / all.length) };
}

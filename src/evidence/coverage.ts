import { ASSUMED_REPLIES, DOCUMENTED_CASES, DOCUMENTED_REPLIES } from '../contract/cases.ts';
import { OPERATION_IDS, type OperationId, operationShape } from '../contract/operations.ts';
import type { RecordName } from '../contract/records.ts';
import type { Call } from '../service/input.ts';
import type { Basis, Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import { callFacts, factOf } from './coverage-cases.ts';
import { recordFacts } from './coverage-facts.ts';
import type { CoverageState } from './evidence-shapes.ts';
import type { CoverageReport, Shown } from './report-shapes.ts';

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
  readonly fact: number;
}

/** A status of an operation. */
interface Place {
  /** Where it is counted if an assumption led to it, and if the document or a rule did. */
  readonly assumedSlot: number;
  readonly documentedSlot: number | undefined;
  readonly cases: readonly Case[];
  /** The facts of all its cases. */
  readonly facts: number;
  /** The records in its body; undefined for none, or an Error. */
  readonly record: RecordName | undefined;
}

const PLACES = new Map<OperationId, Map<number, Place>>(OPERATION_IDS.map((id) => [id, new Map()]));
for (const [index, { operation, status }] of DOCUMENTED_REPLIES.entries()) {
  const cases = casesOf(operation, status);
  PLACES.get(operation)?.set(status, {
    assumedSlot: TWINS_FROM + index,
    documentedSlot: index,
    cases,
    facts: cases.reduce((all, { fact }) => all | fact, 0),
    record: status < 400 ? operationShape(operation).replies[status]?.body?.record : undefined,
  });
}
for (const [index, { operation, status }] of ASSUMED_REPLIES.entries()) {
  const assumedSlot = ASSUMED_FROM + index;
  const nothing = { documentedSlot: undefined, cases: [], facts: 0, record: undefined };
  PLACES.get(operation)?.set(status, { assumedSlot, ...nothing });
}

function casesOf(operation: OperationId, status: number): Case[] {
  return DOCUMENTED_CASES.flatMap((it, index) =>
    it.operation === operation && it.status === status
      ? [{ slot: CASES_FROM + index, fact: factOf(it.id) }]
      : [],
  );
}

/** How often something was shown, and by which exchange first. */
interface Count {
  count: number;
  readonly exchange: number;
  /** The facts that replies have shown so far, as far as cases are about them. */
  facts: number;
  /** The assumptions that led to it. */
  by: Set<string> | undefined;
  /** How often a deployment gave it. */
  upstream: number;
}

/** A reply that a client was shown, as another server counts it. */
export interface CountedReply {
  readonly operation: OperationId;
  readonly status: number;
  readonly basis: Basis;
  /** The facts that were new. */
  readonly facts: number;
}

/** Counts which replies the client of one sandbox was shown. */
export class Coverage {
  readonly sandbox: string;
  readonly #counts = new Map<number, Count>();

  constructor(sandbox: string) {
    this.sandbox = sandbox;
  }

  /**
   * Counts a reply as assumed if its basis is, whatever its status. A forced reply counts if its
   * status is documented.
   */
  record(exchange: number, call: Call, reply: Reply, world: World): void {
    const place = PLACES.get(call.operation)?.get(reply.status);
    if (place === undefined) return;
    const count = this.#countReply(place, reply.basis, exchange);
    if (count === undefined) return;
    const unseen = place.facts & ~count.facts;
    if (unseen !== 0) {
      this.#countCases(place, count, factsShown(place, call, reply, world, unseen), exchange);
    }
  }

  /** The facts of a reply that are not counted yet. Counts nothing. */
  newFacts(call: Call, reply: Reply, world: World): number {
    const place = PLACES.get(call.operation)?.get(reply.status);
    if (place?.documentedSlot === undefined || reply.basis.kind === 'assumed') return 0;
    const unseen = place.facts & ~(this.#counts.get(place.documentedSlot)?.facts ?? 0);
    return unseen === 0 ? 0 : unseen & factsShown(place, call, reply, world, unseen);
  }

  /** Counts a reply by the facts that were new when it was given. */
  count(exchange: number, reply: CountedReply): void {
    const place = PLACES.get(reply.operation)?.get(reply.status);
    if (place === undefined) return;
    const count = this.#countReply(place, reply.basis, exchange);
    if (count !== undefined) this.#countCases(place, count, reply.facts, exchange);
  }

  /** Returns the count of the reply if cases of it are counted too. */
  #countReply(place: Place, basis: Basis, exchange: number): Count | undefined {
    if (basis.kind === 'assumed') {
      const count = this.#add(place.assumedSlot, exchange);
      count.by ??= new Set();
      for (const ground of basis.by) count.by.add(ground);
      return undefined;
    }
    const { documentedSlot, assumedSlot } = place;
    const ofUpstream = basis.kind === 'upstream';
    if (documentedSlot === undefined && !ofUpstream) return undefined;
    const count = this.#add(documentedSlot ?? assumedSlot, exchange);
    if (ofUpstream) count.upstream += 1;
    return documentedSlot === undefined ? undefined : count;
  }

  #add(slot: number, exchange: number): Count {
    let count = this.#counts.get(slot);
    if (count === undefined) {
      count = { count: 0, exchange, facts: 0, by: undefined, upstream: 0 };
      this.#counts.set(slot, count);
    }
    count.count += 1;
    return count;
  }

  #countCases({ cases, facts }: Place, count: Count, shown: number, exchange: number): void {
    const fresh = facts & ~count.facts & shown;
    if (fresh === 0) return;
    count.facts |= fresh;
    for (const { slot, fact } of cases) if ((fresh & fact) !== 0) this.#add(slot, exchange);
  }

  /** How often what a slot stands for was shown. */
  at(slot: number): Shown {
    const found = this.#counts.get(slot);
    if (found === undefined) return { count: 0 };
    const { count, exchange, by, upstream } = found;
    const first = { sandbox: this.sandbox, exchange };
    return { count, first, ...(by && { by: [...by] }), ...(upstream > 0 && { upstream }) };
  }

  get state(): CoverageState {
    return [...this.#counts].map(([slot, { by, ...count }]) => ({
      slot,
      ...count,
      ...(by && { by: [...by] }),
    }));
  }

  restore(state: CoverageState): void {
    this.#counts.clear();
    for (const { slot, by, ...count } of state) {
      this.#counts.set(slot, { ...count, by: by && new Set(by) });
    }
  }

  clear(): void {
    this.#counts.clear();
  }
}

/** The facts that a reply shows; of those not in `wanted`, perhaps none. */
function factsShown(
  { record }: Place,
  call: Call,
  reply: Reply,
  world: World,
  wanted: number,
): number {
  const ofRecords = record === undefined ? 0 : recordFacts(reply, record, wanted);
  return ofRecords | callFacts(call, reply, world, wanted);
}

/** What one or more sandboxes' clients were shown, together. */
export function coverageOf(all: Iterable<Pick<Coverage, 'at'>>): CoverageReport {
  const sources = [...all];
  const withShown = <T>(listed: readonly T[], from: number): (T & Shown)[] =>
    listed.map((it, index) => ({
      ...it,
      ...together(sources.map((source) => source.at(from + index))),
    }));
  const documented = withShown(DOCUMENTED_REPLIES, 0);
  const added = withShown(ASSUMED_REPLIES, ASSUMED_FROM);
  // Few assumptions lead to a documented status, so these are listed only if they were shown.
  const twins = withShown(DOCUMENTED_REPLIES, TWINS_FROM)
    .filter(({ count }) => count > 0)
    .map((twin) => ({ ...twin, grounds: twin.by ?? [] }));
  const assumed = [...added, ...twins];
  const cases = withShown(DOCUMENTED_CASES, CASES_FROM);
  const totals = {
    documented: shareOf(documented),
    cases: shareOf(cases),
    assumed: shareOf(assumed),
  };
  return { totals, documented, cases, assumed };
}

/** Sums up what several sandboxes were shown of one thing. */
export function together(all: readonly Shown[]): Shown {
  const count = all.reduce((sum, it) => sum + it.count, 0);
  const first = all.find((it) => it.first !== undefined)?.first;
  const by = [...new Set(all.flatMap((it) => it.by ?? []))];
  const upstream = all.reduce((sum, it) => sum + (it.upstream ?? 0), 0);
  return {
    count,
    ...(first && { first }),
    ...(by.length > 0 && { by }),
    ...(upstream > 0 && { upstream }),
  };
}

function shareOf(all: readonly Shown[]) {
  const shown = all.filter(({ count }) => count > 0).length;
  return { shown, total: all.length, percent: Math.floor((100 * shown) / all.length) };
}

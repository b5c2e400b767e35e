import {
  ASSUMED_REPLIES,
  type CaseId,
  DOCUMENTED_CASES,
  DOCUMENTED_REPLIES,
  type DocumentedCase,
  type KnownReply,
} from '../contract/coverage.ts';
import type { OperationId } from '../contract/operations.ts';
import type { Call } from '../service/input.ts';
import type { Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import { CASE_PREDICATES } from './coverage-cases.ts';

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

interface Place {
  readonly slot: number;
  readonly cases: readonly {
    readonly slot: number;
    readonly holds: (typeof CASE_PREDICATES)[CaseId];
  }[];
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
  PLACES.set(operation, places.set(status, { slot, cases }));
}

function predicateOf(id: string): (typeof CASE_PREDICATES)[CaseId] {
  const found = Object.entries(CASE_PREDICATES).find(([name]) => name === id);
  if (found === undefined) throw new Error(`The case ${id} has no predicate.`);
  return found[1];
}

/** How often something was shown, and by which exchange first. */
interface Count {
  count: number;
  readonly exchange: number;
}

/** Counts which replies the client of one sandbox was shown. */
export class Coverage {
  readonly sandbox: string;
  /** By slot. Most sandboxes see few replies, and there can be many sandboxes. */
  readonly #shown = new Map<number, Count>();
  /** The call, body and records last looked at: a client that repeats itself shows no new case. */
  #query: Call['query'] | undefined;
  #text: string | Buffer | undefined;
  #pathId: string | undefined;
  #version = -1;

  constructor(sandbox: string) {
    this.sandbox = sandbox;
  }

  record(exchange: number, call: Call, reply: Reply, world: World): void {
    const place = PLACES.get(call.operation)?.get(reply.status);
    if (place === undefined) return;
    const { slot, cases } = place;
    const shown = this.#shown.get(slot);
    if (shown === undefined) this.#shown.set(slot, { count: 1, exchange });
    else shown.count += 1;
    if (cases.length === 0 || this.#isRepeated(call, reply, world)) return;
    for (const { slot: at, holds } of cases) {
      if (this.#shown.has(at) || !holds(call, reply, world)) continue;
      this.#shown.set(at, { count: 1, exchange });
    }
  }

  #isRepeated({ query, pathId, body }: Call, reply: Reply, { store }: World): boolean {
    const text = reply.body.kind === 'json' ? reply.body.text : undefined;
    const { version } = store.orders;
    const repeated =
      body.kind === 'none' &&
      query === this.#query &&
      text === this.#text &&
      pathId === this.#pathId &&
      version === this.#version;
    this.#query = query;
    this.#text = text;
    this.#pathId = pathId;
    this.#version = version;
    return repeated;
  }

  /** How often what a slot stands for was shown. */
  at(slot: number): Shown {
    const shown = this.#shown.get(slot);
    if (shown === undefined) return { count: 0 };
    const { count, exchange } = shown;
    return { count, first: { sandbox: this.sandbox, exchange } };
  }

  clear(): void {
    this.#shown.clear();
    this.#query = undefined;
    this.#text = undefined;
    this.#pathId = undefined;
    this.#version = -1;
  }
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

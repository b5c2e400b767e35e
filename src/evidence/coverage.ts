import {
  ASSUMED_REPLIES,
  type CaseCall,
  type CaseTest,
  DOCUMENTED_CASES,
  DOCUMENTED_REPLIES,
} from '../contract/cases.ts';
import { parseInt64 } from '../contract/int64.ts';
import { parseJson } from '../contract/json.ts';
import { OPERATION_IDS, type OperationId, operationShape } from '../contract/operations.ts';
import { isObject } from '../contract/records.ts';
import { FAULTS } from '../scenario/fault-table.ts';
import type { Outcome } from '../scenario/rules.ts';
import type { Call } from '../service/input.ts';
import { checkKey } from '../service/keyring.ts';
import type { World } from '../service/operation.ts';
import type { Reply } from '../service/reply.ts';
import { readRecord } from '../shape/record-shapes.ts';
import type { Exchange } from './exchange.ts';
import type { CoverageReport, ShownCount } from './report-shapes.ts';

/**
 * What is counted, by slot: documented replies; those that assumptions add; documented statuses that
 * an assumption led to; and cases.
 */
const ASSUMED_FROM = DOCUMENTED_REPLIES.length;
const TWINS_FROM = ASSUMED_FROM + ASSUMED_REPLIES.length;
const CASES_FROM = TWINS_FROM + DOCUMENTED_REPLIES.length;
export const SLOTS = CASES_FROM + DOCUMENTED_CASES.length;

type Case = (typeof DOCUMENTED_CASES)[number] & { readonly slot: number };

/** A status of an operation. */
interface ReplySlots {
  /** Where it is counted if an assumption led to it, and if the document or a rule did. */
  readonly assumedSlot: number;
  readonly documentedSlot: number | undefined;
  readonly cases: readonly Case[];
}

const PLACES = new Map<OperationId, Map<number, ReplySlots>>(
  OPERATION_IDS.map((id) => [id, new Map()]),
);
for (const [index, { operation, status }] of DOCUMENTED_REPLIES.entries()) {
  const cases = DOCUMENTED_CASES.map((it, at) => ({ ...it, slot: CASES_FROM + at })).filter(
    (it) => it.operation === operation && it.status === status,
  );
  PLACES.get(operation)?.set(status, {
    assumedSlot: TWINS_FROM + index,
    documentedSlot: index,
    cases,
  });
}
for (const [index, { operation, status }] of ASSUMED_REPLIES.entries()) {
  const assumedSlot = ASSUMED_FROM + index;
  PLACES.get(operation)?.set(status, { assumedSlot, documentedSlot: undefined, cases: [] });
}

/**
 * The slots of the cases that a reply shows to a client.
 *
 * @param world before the call
 * @param coverage before the call: cases that were shown are left out
 * @returns undefined if coverage does not count the reply: the document defines no HEAD, and a spoilt
 *   reply is not the documented one
 */
export function shownCases(
  { method }: { readonly method: string },
  call: Call,
  outcome: Outcome,
  world: World,
  coverage: CoverageCounter | undefined,
): readonly number[] | undefined {
  const { reply } = outcome;
  if (reply === undefined || !isDelivered(outcome) || method === 'HEAD') return undefined;
  const cases = PLACES.get(call.operation)?.get(reply.status)?.cases;
  if (cases === undefined || reply.basis.kind === 'assumed') return NO_SLOTS;
  let slots = NO_SLOTS;
  let shown: CaseCall | undefined;
  let records: ReplyRecords | undefined;
  for (const { slot, shows } of cases) {
    // Most replies show nothing new, which costs them no more than this.
    if (coverage?.hasShown(slot)) continue;
    let isShown: boolean;
    if (shows.by === 'call') {
      shown ??= shownCall(call, reply, world);
      isShown = shows.test(shown);
    } else {
      records ??= recordsIn(reply);
      isShown = records !== undefined && recordsShow(records, shows);
    }
    if (isShown) slots = slots.concat(slot);
  }
  return slots;
}

const NO_SLOTS: readonly number[] = [];

/** Whether the client gets the reply complete and unchanged. */
function isDelivered(outcome: Outcome): boolean {
  return outcome.kind === 'reply' || FAULTS[outcome.fault.kind].effect === 'delivers';
}

function shownCall(call: Call, reply: Reply, world: World): CaseCall {
  return {
    query: call.query,
    pathId: call.pathId,
    input: inputOf(call, reply),
    isTokenSent: reply.status === 401 && isTokenSent(call, world),
    hasSunset: reply.headers.some((it, at) => at % 2 === 0 && it.toLowerCase() === 'sunset'),
    wasCancelled: reply.status === 409 && wasCancelled(call, world),
  };
}

type ReplyRecords = NonNullable<Reply['records']>;

/** The body of a call if it is a record that the operation takes. Others get only a forced reply. */
function inputOf({ operation, body }: Call, { basis }: Reply): unknown {
  if (body.kind !== 'bytes' || !body.json.ok) return undefined;
  const { value } = body.json;
  const fields = operationShape(operation).body?.fields;
  if (basis.kind === 'documented' || fields === undefined) return value;
  return readRecord(fields, value, 'body').ok ? value : undefined;
}

/** Whether a token was sent. It can be valid if a rule forced the 401. */
function isTokenSent({ authorization }: Call, world: World): boolean {
  const check = checkKey(world.keys, authorization, world);
  return check.ok || check.tokenGiven;
}

/** Only the store can tell: the document shows no body and defines no other conflict. */
function wasCancelled({ pathId = '' }: Call, { store }: World): boolean {
  const id = parseInt64(pathId);
  return id !== undefined && store.orders.get(id)?.status === 'cancelled';
}

/** The records in a reply. Those of a forced body, which come as text, are parsed. */
function recordsIn({ records, body, basis, status }: Reply): ReplyRecords | undefined {
  if (records !== undefined || status >= 400 || body.kind !== 'json') return records;
  if (basis.kind === 'documented') return undefined;
  try {
    const value = parseJson(body.text.toString());
    if (Array.isArray(value)) return value.filter(isObject);
    return isObject(value) ? [value] : undefined;
  } catch {
    return undefined;
  }
}

/** Records read of a long list; later ones rarely show anything new. */
const MOST_READ = 2000;

/** Which cases lists show. A list is the same object until a record changes. */
const ofLists = new WeakMap<ReplyRecords, Map<CaseTest, boolean>>();

function recordsShow(records: ReplyRecords, shows: Exclude<CaseTest, { by: 'call' }>): boolean {
  if (shows.by === 'no record') return records.length === 0;
  const [first] = records;
  if (first === undefined || records.length === 1) return first !== undefined && shows.test(first);
  let known = ofLists.get(records);
  if (known === undefined) {
    known = new Map();
    ofLists.set(records, known);
  }
  let isShown = known.get(shows);
  if (isShown === undefined) {
    isShown = records.slice(0, MOST_READ).some(shows.test);
    known.set(shows, isShown);
  }
  return isShown;
}

/** How often something was shown, and by which exchange first. */
interface SlotCount {
  count: number;
  readonly exchange: number;
  /** The assumptions that led to it. */
  by: readonly string[] | undefined;
  /** How often a deployment gave it. */
  upstream: number;
}

/** What one sandbox's clients were shown, as JSON. */
export type CoverageState = readonly (Readonly<SlotCount> & { readonly slot: number })[];

/** Counts which replies the client of one sandbox was shown. */
export class CoverageCounter {
  readonly sandbox: string;
  readonly #counts = new Map<number, SlotCount>();

  constructor(sandbox: string, state: CoverageState = []) {
    this.sandbox = sandbox;
    for (const { slot, ...count } of state) this.#counts.set(slot, { ...count });
  }

  /**
   * Counts a reply as assumed if its basis is, whatever its status. A forced reply counts if its
   * status is documented.
   */
  add({ number, operation, status, basis, cases }: Exchange): void {
    if (cases === undefined || operation === undefined || status === undefined) return;
    const place = PLACES.get(operation)?.get(status);
    if (place === undefined) return;
    const { documentedSlot, assumedSlot } = place;
    if (basis.kind === 'assumed') {
      const count = this.#add(assumedSlot, number);
      const fresh = basis.by.filter((ground) => !count.by?.includes(ground));
      if (fresh.length > 0) count.by = [...(count.by ?? []), ...fresh];
      return;
    }
    const isUpstream = basis.kind === 'upstream';
    if (documentedSlot === undefined && !isUpstream) return;
    const count = this.#add(documentedSlot ?? assumedSlot, number);
    if (isUpstream) count.upstream += 1;
    for (const slot of cases) if (!this.hasShown(slot)) this.#add(slot, number);
  }

  /** Whether what a slot stands for was shown. */
  hasShown(slot: number): boolean {
    return this.#counts.has(slot);
  }

  #add(slot: number, exchange: number): SlotCount {
    let count = this.#counts.get(slot);
    if (count === undefined) {
      count = { count: 0, exchange, by: undefined, upstream: 0 };
      this.#counts.set(slot, count);
    }
    count.count += 1;
    return count;
  }

  /** How often what a slot stands for was shown. */
  at(slot: number): ShownCount {
    const found = this.#counts.get(slot);
    if (found === undefined) return { count: 0 };
    const { count, exchange, by, upstream } = found;
    const first = { sandbox: this.sandbox, exchange };
    return { count, first, ...(by && { by: [...by] }), ...(upstream > 0 && { upstream }) };
  }

  get state(): CoverageState {
    return [...this.#counts].map(([slot, count]) => ({ slot, ...count }));
  }

  clear(): void {
    this.#counts.clear();
  }
}

/** What one or more sandboxes' clients were shown, together. */
export function coverageOf(all: Iterable<Pick<CoverageCounter, 'at'>>): CoverageReport {
  const sources = [...all];
  const withShown = <T>(listed: readonly T[], from: number): (T & ShownCount)[] =>
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
  const cases = withShown(DOCUMENTED_CASES, CASES_FROM).map(({ shows: _, ...it }) => it);
  const totals = {
    documented: shareOf(documented),
    cases: shareOf(cases),
    assumed: shareOf(assumed),
  };
  return { totals, documented, cases, assumed };
}

/** Sums up what several sandboxes were shown of one thing. */
export function together(all: readonly ShownCount[]): ShownCount {
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

function shareOf(all: readonly ShownCount[]) {
  const shown = all.filter(({ count }) => count > 0).length;
  return { shown, total: all.length, percent: Math.floor((100 * shown) / all.length) };
}

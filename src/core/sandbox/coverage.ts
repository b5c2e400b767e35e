import { DEFAULT_URL } from '../contract/base-url.ts';
import {
  ASSUMED_REPLIES,
  type CaseReply,
  DOCUMENTED_CASES,
  DOCUMENTED_REPLIES,
  type PossibleReply,
} from '../contract/cases.ts';
import { parseInt64, tryParseJson } from '../contract/json.ts';
import { OPERATION_IDS, operationShape } from '../contract/operations.ts';
import { isObject } from '../contract/records.ts';
import { curlCommand } from '../raw-http.ts';
import { FAULTS, type Fault } from '../scenario/fault-table.ts';
import type { Call } from '../service/input.ts';
import { checkKey } from '../service/keyring.ts';
import type { ServiceState } from '../service/operation.ts';
import type { Reply } from '../service/reply.ts';
import type { Exchange } from './exchange.ts';
import {
  type CoverageReport,
  FINDING_CODE_NAMES,
  FINDING_CODES,
  type Finding,
  type FindingCode,
  type FindingText,
  type ShownCount,
} from './report-shapes.ts';

const NONE: readonly never[] = [];

type ReplyId = Pick<PossibleReply, 'operation' | 'status'>;

const replyKey = ({ operation, status }: ReplyId): string => `${operation} ${status}`;
const assumedKey = (reply: ReplyId): string => `${replyKey(reply)} assumed`;
const caseKey = (shown: ReplyId & { readonly id: string }): string =>
  `${replyKey(shown)} ${shown.id}`;

interface CountedReply {
  /** Undefined if only assumptions lead to the reply. */
  readonly documented: readonly string[] | undefined;
  readonly assumed: readonly string[];
  readonly cases: readonly {
    readonly key: string;
    readonly shows: (reply: CaseReply) => boolean;
  }[];
  /** Lists of keys that exchanges share, by a bit for each case shown. */
  readonly combinations: (readonly string[])[];
}

const COUNTED = new Map(OPERATION_IDS.map((id) => [id, new Map<number, CountedReply>()]));
for (const reply of [...DOCUMENTED_REPLIES, ...ASSUMED_REPLIES]) {
  const isDocumented = DOCUMENTED_REPLIES.includes(reply);
  const cases = DOCUMENTED_CASES.filter(
    (known) => isDocumented && replyKey(known) === replyKey(reply),
  );
  COUNTED.get(reply.operation)?.set(reply.status, {
    documented: isDocumented ? [replyKey(reply)] : undefined,
    assumed: [assumedKey(reply)],
    cases: cases.map((known) => ({ key: caseKey(known), shows: known.shows })),
    combinations: [],
  });
}

/** Keys of the reply and of its cases. The document does not define HEAD, so that shows none. */
export function listShown(
  method: string,
  call: Call,
  reply: Reply | undefined,
  fault: Fault | undefined,
  serviceState: ServiceState,
): readonly string[] {
  const isDelivered = fault === undefined || FAULTS[fault.kind] === 'delivers';
  if (reply === undefined || !isDelivered || method === 'HEAD') return NONE;
  const counted = COUNTED.get(call.operation)?.get(reply.status);
  if (counted === undefined) return NONE;
  const { documented, assumed, cases, combinations } = counted;
  if (reply.basis.kind === 'assumed') return assumed;
  const own = documented ?? assumed;
  if (cases.length === 0) return own;
  const caseReply = createCaseReply(call, reply, serviceState);
  let mask = 0;
  for (let at = 0; at < cases.length; at += 1) if (cases[at]?.shows(caseReply)) mask |= 1 << at;
  if (mask === 0) return own;
  const known = combinations[mask];
  if (known !== undefined) return known;
  const keys = [...own, ...cases.filter((_, at) => (mask >> at) & 1).map(({ key }) => key)];
  combinations[mask] = keys;
  return keys;
}

function createCaseReply(call: Call, reply: Reply, serviceState: ServiceState): CaseReply {
  const { query, pathId, body, authorization } = call;
  const { status } = reply;
  const key = status === 401 ? checkKey(serviceState.keys, authorization, serviceState) : undefined;
  // Only the store can tell.
  const id = status === 409 ? parseInt64(pathId ?? '') : undefined;
  return {
    query,
    pathId,
    input: status < 400 && body.kind === 'bytes' && body.json.ok ? body.json.value : undefined,
    // The key can be valid if a rule forced the 401.
    isTokenSent: key !== undefined && (key.ok || key.tokenGiven),
    headers: reply.headers,
    wasCancelled: id !== undefined && serviceState.store.orders.get(id)?.status === 'cancelled',
    records: findRecords(reply),
  };
}

/** A forced body comes as text. */
function findRecords({ records, body, basis, status }: Reply): Reply['records'] {
  if (records !== undefined || status >= 400 || body.kind !== 'json') return records;
  if (basis.kind === 'documented') return undefined;
  const value = tryParseJson(body.text.toString());
  return Array.isArray(value) || isObject(value) ? [value].flat().filter(isObject) : undefined;
}

const MAX_FINDINGS = 100;
const MAX_FINDINGS_TOGETHER = 1000;

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

export interface TotalsState {
  readonly shown: readonly (readonly [key: string, shown: ShownCount])[];
  readonly counts: { readonly [Code in FindingCode]?: number };
  /** The first ones. */
  readonly findings: readonly Finding[];
}

export class Totals implements TotalsState {
  readonly #shown = new Map<string, Mutable<ShownCount>>();
  readonly counts: Mutable<TotalsState['counts']> = {};
  // `push` would reserve room for 16 more; there can be many sandboxes.
  findings: readonly Finding[] = NONE;

  constructor(state?: TotalsState) {
    if (state !== undefined) this.merge(state);
  }

  get shown(): TotalsState['shown'] {
    return [...this.#shown];
  }

  get(key: string): ShownCount {
    return this.#shown.get(key) ?? { count: 0 };
  }

  /** @returns the findings that are new to a report */
  add(exchange: Exchange, sandbox: string): readonly Finding[] {
    const { number, shows, basis, findings } = exchange;
    for (let at = 0; at < shows.length; at += 1) {
      const key = shows[at] ?? '';
      let known = this.#shown.get(key);
      if (known === undefined) {
        known = { count: 0, first: { sandbox, exchange: number } };
        this.#shown.set(key, known);
      }
      known.count += 1;
      if (basis.kind === 'assumed') known.by = union(known.by, basis.by);
      if (basis.kind === 'upstream' && at === 0) known.upstream = (known.upstream ?? 0) + 1;
    }
    if (findings.length === 0) return NONE;
    const added: Finding[] = [];
    for (const finding of findings) {
      const count = this.counts[finding.code] ?? 0;
      this.counts[finding.code] = count + 1;
      if (count === 0 || !isOfOperation(finding)) {
        added.push(describeFinding(finding, exchange, sandbox));
      }
    }
    const room = Math.max(0, MAX_FINDINGS - this.findings.length);
    if (added.length > 0) this.findings = this.findings.concat(added.slice(0, room));
    return added;
  }

  merge({ shown, counts, findings }: TotalsState): void {
    for (const [key, more] of shown) {
      const known = this.#shown.get(key);
      if (known === undefined) this.#shown.set(key, { ...more });
      else {
        known.count += more.count;
        if (more.by !== undefined) known.by = union(known.by, more.by);
        if (more.upstream !== undefined) known.upstream = (known.upstream ?? 0) + more.upstream;
      }
    }
    for (const code of FINDING_CODE_NAMES) {
      const count = counts[code];
      if (count !== undefined) this.counts[code] = (this.counts[code] ?? 0) + count;
    }
    this.findings = this.findings.concat(findings).slice(0, MAX_FINDINGS_TOGETHER);
  }

  toJSON(): TotalsState {
    return { shown: this.shown, counts: this.counts, findings: this.findings };
  }
}

/** Returns the earlier list if it has all, so that equal lists share memory. */
function union(earlier: readonly string[] = NONE, later: readonly string[]): readonly string[] {
  return later.every((option) => earlier.includes(option))
    ? earlier
    : [...new Set([...earlier, ...later])];
}

export function isOfOperation({ code }: FindingText): boolean {
  return code === 'deprecated' || code === 'experimental';
}

export function describeFinding(
  { code, message }: FindingText,
  { number, operation, method, target, at }: Exchange,
  sandbox: string,
): Finding {
  const call = { exchange: number, operation, method, target, at: new Date(at).toISOString() };
  return { code, sandbox, ...call, message, advice: FINDING_CODES[code] };
}

/** What clients did that they should not do against the real service. */
export interface FindingsReport extends Omit<TotalsState, 'shown'> {
  readonly total: number;
}

export function createFindingsReport({ counts, findings }: TotalsState): FindingsReport {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return { total, counts, findings };
}

export function createCoverageReport(totals: Totals): CoverageReport {
  const count = <T extends ReplyId>(replies: readonly T[], key: (reply: T) => string) =>
    replies.map((reply) => ({ ...reply, ...totals.get(key(reply)) }));
  const documented = count(DOCUMENTED_REPLIES, replyKey);
  const cases = count(DOCUMENTED_CASES, caseKey).map(({ shows: _, ...shown }) => shown);
  // Few assumptions lead to a documented status: listed only if shown.
  const twins = count(DOCUMENTED_REPLIES, assumedKey).filter((twin) => twin.count > 0);
  const assumed = [
    ...count(ASSUMED_REPLIES, assumedKey),
    ...twins.map((twin) => ({ ...twin, grounds: twin.by ?? [] })),
  ];
  const shares = {
    documented: countShown(documented),
    cases: countShown(cases),
    assumed: countShown(assumed),
  };
  return { totals: shares, documented, cases, assumed };
}

function countShown(all: readonly ShownCount[]) {
  const shown = all.filter(({ count }) => count > 0).length;
  return { shown, total: all.length, percent: Math.floor((100 * shown) / all.length) };
}

export function howToGet({ operation, status }: ReplyId, url = DEFAULT_URL, key = 'demo-key') {
  const { method, path } = operationShape(operation);
  const authorization = ['Authorization', `Bearer ${key}`] as const;
  const prefer = ['Prefer', `code=${status}`] as const;
  return curlCommand({
    method,
    url: `${url}${path.replaceAll(/\{\w+\}/g, '1')}`,
    headers: status === 401 ? [] : [authorization, prefer],
  });
}

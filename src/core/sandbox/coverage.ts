import {
  ASSUMED_REPLIES,
  DOCUMENTED_REPLIES,
  type PossibleReply,
} from '../contract/assumption-table.ts';
import { DEFAULT_URL } from '../contract/base-url.ts';
import { OPERATION_IDS, operationShape } from '../contract/operations.ts';
import { curlCommand } from '../curl.ts';
import type { Call } from '../service/input.ts';
import { findOffContract, groundsOf, type Reply } from '../service/reply.ts';
import { type Exchange, maskTarget, NONE } from './exchange.ts';
import {
  type CoverageReport,
  FINDING_CODE_NAMES,
  FINDING_CODES,
  type Finding,
  type FindingCode,
  type FindingText,
  type ShownCount,
} from './report-shapes.ts';

type ReplyId = Pick<PossibleReply, 'operation' | 'status'>;

const replyKey = ({ operation, status }: ReplyId): string => `${operation} ${status}`;
const assumedKey = (reply: ReplyId): string => `${replyKey(reply)} assumed`;
interface CountedReply {
  /** The documented replies with this status; undefined if only assumptions lead to it. */
  readonly documented: readonly string[] | undefined;
  readonly assumed: readonly string[];
}

const COUNTED = new Map(OPERATION_IDS.map((id) => [id, new Map<number, CountedReply>()]));
for (const reply of [...DOCUMENTED_REPLIES, ...ASSUMED_REPLIES]) {
  COUNTED.get(reply.operation)?.set(reply.status, {
    documented: DOCUMENTED_REPLIES.includes(reply) ? [replyKey(reply)] : undefined,
    assumed: [assumedKey(reply)],
  });
}

/** The coverage key of a reply. The document does not define HEAD, so a reply to it has none. */
export function listCovered(
  method: string,
  { operation }: Call,
  reply: Reply | undefined,
): readonly string[] {
  if (reply === undefined || method === 'HEAD') return NONE;
  const { basis, status } = reply;
  const counted = COUNTED.get(operation)?.get(status);
  const documented = basis.kind === 'assumed' ? undefined : counted?.documented;
  const shown = documented ?? counted?.assumed ?? NONE;
  const isOff = findOffContract(basis)?.declared === false;
  return isOff ? [...shown, OFF_CONTRACT] : shown;
}

/** Counts replies that rules made off-contract without a scenario that says `offContract: true`. */
const OFF_CONTRACT = 'off-contract';

const MAX_FINDINGS = 100;
/** How many causes are kept for a reply: clients can create any number of rules. */
const MAX_CAUSES = 100;
const MAX_FINDINGS_TOGETHER = 1000;

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

export interface TotalsState {
  readonly shown: readonly (readonly [key: string, shown: ShownCount])[];
  readonly counts: { readonly [Code in FindingCode]?: number };
  /** The first findings only. `counts` counts all of them. */
  readonly findings: readonly Finding[];
}

export class Totals implements TotalsState {
  readonly #shown = new Map<string, Mutable<ShownCount>>();
  readonly counts: Mutable<TotalsState['counts']> = {};
  // An empty array that grows by `push` reserves 16 places, and there can be many sandboxes.
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

  /** Adds an exchange to the totals. Returns the findings that no report has shown yet. */
  add(exchange: Exchange, sandbox: string): readonly Finding[] {
    const { number, covers, basis, findings } = exchange;
    for (let at = 0; at < covers.length; at += 1) {
      const key = covers[at] ?? '';
      let known = this.#shown.get(key);
      if (known === undefined) {
        known = { count: 0, first: { sandbox, exchange: number } };
        this.#shown.set(key, known);
      }
      known.count += 1;
      const isCaused = basis.kind === 'assumed' || key === OFF_CONTRACT;
      if (isCaused) known.by = union(known.by, groundsOf(basis));
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
    const added = findings.filter((finding) => !isOfOperation(finding) || !this.#has(finding));
    this.findings = this.findings.concat(added).slice(0, MAX_FINDINGS_TOGETHER);
  }

  #has({ code, sandbox }: Finding): boolean {
    return this.findings.some((known) => known.code === code && known.sandbox === sandbox);
  }

  toJSON(): TotalsState {
    return { shown: this.shown, counts: this.counts, findings: this.findings };
  }
}

/** Returns the earlier list if it has all of the later, so that equal lists share memory. */
function union(earlier: readonly string[] = NONE, later: readonly string[]): readonly string[] {
  return later.every((option) => earlier.includes(option))
    ? earlier
    : [...new Set([...earlier, ...later])].slice(0, MAX_CAUSES);
}

export function isOfOperation({ code }: FindingText): boolean {
  return code === 'deprecated' || code === 'experimental';
}

export function describeFinding(
  { code, message }: FindingText,
  { number, operation, method, target, at }: Exchange,
  sandbox: string,
): Finding {
  const call = { exchange: number, operation, method, target: maskTarget(target) };
  const told = { ...call, at: new Date(at).toISOString() };
  return { code, sandbox, ...told, message, advice: FINDING_CODES[code] };
}

/** The findings: what clients did that they should not do against the real service. */
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
  // Assumptions that lead to a documented status, too. They are few, so listed only if shown.
  const twins = count(DOCUMENTED_REPLIES, assumedKey).filter((twin) => twin.count > 0);
  const assumed = [
    ...count(ASSUMED_REPLIES, assumedKey),
    ...twins.map((twin) => ({ ...twin, grounds: twin.by ?? [] })),
  ];
  const shares = {
    documented: countShown(documented),
    assumed: countShown(assumed),
  };
  return { totals: shares, documented, assumed, offContract: totals.get(OFF_CONTRACT) };
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

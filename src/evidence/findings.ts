import {
  OPERATION_IDS,
  OPERATIONS,
  type OperationId,
  operationShape,
} from '../contract/operations.ts';
import type { Call } from '../service/input.ts';
import type { Exchange } from './exchange.ts';
import type { FindingText } from './finding-codes.ts';
import { FINDING_CODES, type FindingCode } from './finding-codes.ts';
import { type CallWithReply, driftMessage, idMessage, inputMessages } from './findings-checks.ts';
import type { Finding } from './report-shapes.ts';
import { isFinal } from './retries.ts';

/** What clients did that they should not do against the real service. */
export interface FindingsReport {
  readonly total: number;
  readonly counts: Readonly<Partial<Record<FindingCode, number>>>;
  /** The first ones; `total` also counts those that are not kept. */
  readonly findings: readonly Finding[];
}

/** Findings kept in each sandbox. */
const MOST = 100;
/** Findings reported for many sandboxes together: there can be thousands. */
export const MOST_TOGETHER = 1000;

const NO_FINDINGS: readonly Finding[] = [];
const NO_COUNTS: readonly FindingCount[] = [];

/** Called for each new finding. One that every call of an operation causes is reported once. */
export type OnFinding = (finding: Finding) => void;

/** How many findings have a code. */
export interface FindingCount {
  readonly code: FindingCode;
  count: number;
}

/** A finding as JSON keeps it: its code tells the advice. */
export type FindingRecord = Omit<Finding, 'advice'>;

/** The findings of one sandbox, or of several. */
export interface FindingsState {
  readonly counts: readonly Readonly<FindingCount>[];
  readonly findings: readonly FindingRecord[];
}

/** Collects the findings of one sandbox. */
export class FindingCollector {
  readonly sandbox: string;
  // Lists grow by `concat`: there can be many sandboxes, and `push` makes room for sixteen more.
  #kept: readonly Finding[] = NO_FINDINGS;
  #counts: readonly FindingCount[] = NO_COUNTS;

  constructor(sandbox: string, { counts, findings }: FindingsState = NOTHING) {
    this.sandbox = sandbox;
    this.#counts = counts.map((it) => ({ ...it }));
    this.#kept = findings.map(findingOf);
  }

  /**
   * Counts the findings of an exchange. What every call of an operation causes is kept once.
   *
   * @returns those that are new to a report
   */
  add(exchange: Exchange): readonly Finding[] {
    const { operation } = exchange;
    if (exchange.findings.length === 0 || operation === undefined) return NO_FINDINGS;
    const added: Finding[] = [];
    for (const { code, message } of exchange.findings) {
      const known = this.#counts.find((it) => it.code === code);
      if (known === undefined) this.#counts = this.#counts.concat({ code, count: 1 });
      else {
        known.count += 1;
        if (NATURE_CODES.has(code)) continue;
      }
      const { number, method, target } = exchange;
      const at = new Date(exchange.at).toISOString();
      const place = { sandbox: this.sandbox, exchange: number, operation, method, target, at };
      added.push(findingOf({ code, message, ...place }));
    }
    if (added.length > 0) this.#kept = this.#kept.concat(added.slice(0, MOST - this.#kept.length));
    return added;
  }

  get kept(): readonly Finding[] {
    return this.#kept;
  }

  get counts(): readonly Readonly<FindingCount>[] {
    return this.#counts;
  }

  get state(): FindingsState {
    return {
      counts: this.#counts,
      findings: this.#kept.map(({ advice: _, ...finding }) => finding),
    };
  }

  clear(): void {
    this.#kept = NO_FINDINGS;
    this.#counts = NO_COUNTS;
  }
}

const NOTHING: FindingsState = { counts: [], findings: [] };

/** A finding, with its members in the order in which reports show them. */
export function findingOf(kept: FindingRecord): Finding {
  const { code, sandbox, exchange, operation, method, target, at, message } = kept;
  const advice = FINDING_CODES[code];
  return { code, sandbox, exchange, operation, method, target, at, message, advice };
}

/** The findings of one or more sandboxes together. */
export function findingsOf(
  all: Iterable<Pick<FindingCollector, 'kept' | 'counts'>>,
): FindingsReport {
  const counts: Partial<Record<FindingCode, number>> = {};
  const findings: Finding[] = [];
  let total = 0;
  for (const each of all) {
    for (const { code, count } of each.counts) {
      counts[code] = (counts[code] ?? 0) + count;
      total += count;
    }
    findings.push(...each.kept.slice(0, MOST_TOGETHER - findings.length));
  }
  return { total, counts, findings };
}

/** Findings that every call of an operation causes. */
const NATURES: ReadonlyMap<OperationId, readonly FindingText[]> = new Map(
  OPERATION_IDS.map((id) => [id, naturesOf(id)] as const),
);

function naturesOf(id: OperationId): FindingText[] {
  const { sunset, stability } = operationShape(id);
  const natures: FindingText[] = [];
  if (sunset !== undefined) {
    const message = `${id} is deprecated and will be sunset on ${sunset}.`;
    natures.push({ code: 'deprecated', message });
  }
  if (stability !== undefined) {
    natures.push({ code: 'experimental', message: `${id} is ${stability}.` });
  }
  return natures;
}

/** The codes of findings that every call of an operation causes. */
const NATURE_CODES: ReadonlySet<FindingCode> = new Set(
  [...NATURES.values()].flat().map(({ code }) => code),
);

const NONE: readonly FindingText[] = [];

/** What a client did with a call that it should not do against the real service. */
export function findingsOfCall(checked: CallWithReply): readonly FindingText[] {
  const { call, reply } = checked;
  const natures = NATURES.get(call.operation) ?? NONE;
  const isSuccess = reply !== undefined && reply.status < 400;
  const isPlain = isSuccess && reply.basis.kind === 'documented';
  const key = placeholderKey(call.authorization);
  const hasBody = OPERATIONS[call.operation].method === 'DELETE' && hasContent(call);
  const preference = reply?.unknownPreference;
  if (isPlain && key === undefined && !hasBody && preference === undefined) return natures;
  const found = [...natures];
  const add = (code: FindingCode, message: string | undefined): void => {
    if (message !== undefined) found.push({ code, message });
  };
  add('placeholder-key', key && `The key is literally \`${key}\`.`);
  if (hasBody) add('unexpected-body', 'A DELETE was sent with a body.');
  add('unknown-preference', preference && `${preference}.`);
  // A documented success does not depend on unknown inputs.
  if (!(isSuccess && reply.basis.kind === 'documented')) {
    for (const message of inputMessages(checked)) add('unknown-input', message);
    add('drift', driftMessage(reply));
  }
  if (reply !== undefined && !isSuccess && isFinal(reply)) add('rounded-id', idMessage(checked));
  return found;
}

/** Whether a request announces content, of a known length or not. */
function hasContent({ headers }: Call): boolean {
  const length = headers['content-length'] ?? '0';
  return length !== '0' || headers['transfer-encoding'] !== undefined;
}

const PLACEHOLDER = /^Bearer +(undefined|null|\[object Object\])\s*$/i;

/** The key if it is what a program writes for a variable without a value. */
function placeholderKey(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : PLACEHOLDER.exec(authorization)?.[1];
}

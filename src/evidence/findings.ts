import {
  OPERATION_IDS,
  OPERATIONS,
  type OperationId,
  operationShape,
} from '../contract/operations.ts';
import type { Call } from '../service/input.ts';
import { cut } from '../words.ts';
import { KEPT_TARGET, type Witnessed } from './exchange.ts';
import { FINDING_CODES, type FindingCode, type Noted } from './finding-codes.ts';
import { nearRoundedId, placeholderKey, unknownInputs } from './findings-checks.ts';
import type { Journal } from './journal.ts';
import { isFinal, Retries } from './retries.ts';

/** Something a client did that it should not do against the real service. */
export interface Finding extends Noted {
  readonly sandbox: string;
  /** The number of the exchange that caused it. */
  readonly exchange: number;
  readonly operation: OperationId;
  readonly method: string;
  readonly target: string;
  /** When, by the sandbox's clock. */
  readonly at: string;
}

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

/** Findings that every call of an operation causes; each is kept once. */
const NATURES: ReadonlyMap<OperationId, readonly Noted[]> = new Map(
  OPERATION_IDS.map((id) => [id, naturesOf(id)] as const).filter(([, it]) => it.length > 0),
);

function naturesOf(id: OperationId): Noted[] {
  const { sunset, stability } = operationShape(id);
  const natures: Noted[] = [];
  if (sunset !== undefined) {
    const message = `${id} is deprecated and will be sunset on ${sunset}.`;
    natures.push({ code: 'deprecated', message, advice: FINDING_CODES.deprecated });
  }
  if (stability !== undefined) {
    const message = `${id} is ${stability}.`;
    natures.push({ code: 'experimental', message, advice: FINDING_CODES.experimental });
  }
  return natures;
}

/** Called for each new finding. One that every call of an operation causes is reported once. */
export type OnFinding = (finding: Finding) => void;

/** Collects the findings of one sandbox. */
export class Findings {
  readonly sandbox: string;
  // Created when needed: most clients cause no finding, and there can be many sandboxes.
  #kept: Finding[] | undefined;
  #counts: Map<FindingCode, { count: number }> | undefined;
  #retries: Retries | undefined;
  /** The latest key that is no placeholder: clients repeat theirs. */
  #checkedKey: string | undefined;

  readonly #journal: Pick<Journal, 'note'>;
  readonly #onFinding: OnFinding | undefined;

  /** @param journal takes the findings of its latest exchange */
  constructor(sandbox: string, journal: Pick<Journal, 'note'>, onFinding?: OnFinding) {
    this.sandbox = sandbox;
    this.#journal = journal;
    this.#onFinding = onFinding;
  }

  /** A plain call that succeeds costs a handful of comparisons. */
  record(witnessed: Witnessed): void {
    const { call, reply } = witnessed;
    const natures = NATURES.get(call.operation);
    if (natures !== undefined) this.#takeNatures(natures, witnessed);
    if (call.authorization !== this.#checkedKey) this.#checkKey(witnessed);
    if (OPERATIONS[call.operation].method === 'DELETE' && hasContent(call)) {
      this.#add('unexpected-body', 'A DELETE was sent with a body.', witnessed);
    }
    // A documented success does not depend on unknown inputs.
    const isSuccess = reply !== undefined && reply.status < 400;
    if (!(isSuccess && reply.basis.kind === 'documented')) this.#checkInputs(witnessed);
    const isRefusal = reply !== undefined && !isSuccess;
    if (isRefusal || this.#retries !== undefined) this.#checkRetry(witnessed);
    if (isRefusal && isFinal(reply)) this.#checkId(witnessed);
  }

  #takeNatures(natures: readonly Noted[], witnessed: Witnessed): void {
    this.#journal.note(natures);
    for (const { code, message } of natures) {
      const told = this.#counts?.get(code);
      if (told === undefined) this.#keep(code, message, witnessed);
      else told.count += 1;
    }
  }

  #checkKey(witnessed: Witnessed): void {
    const { authorization } = witnessed.call;
    const key = placeholderKey(authorization);
    if (key === undefined) this.#checkedKey = authorization;
    else this.#add('placeholder-key', `The key is literally \`${key}\`.`, witnessed);
  }

  #checkInputs(witnessed: Witnessed): void {
    const { call, world } = witnessed;
    if (call.query.length === 0 && call.body.kind !== 'bytes') return;
    for (const name of unknownInputs(call, world)) {
      this.#add('unknown-input', `${name} is unknown to ${call.operation}.`, witnessed);
    }
  }

  #checkRetry(witnessed: Witnessed): void {
    this.#retries ??= new Retries();
    const { pointless, early } = this.#retries.take(witnessed);
    if (pointless) {
      const status = witnessed.reply?.status;
      const message = `The same call was repeated after a ${status} that cannot change.`;
      this.#add('pointless-retry', message, witnessed);
    }
    if (early !== undefined) {
      const message = `The call was repeated before Retry-After (${early} s) had passed.`;
      this.#add('early-retry', message, witnessed);
    }
    if (this.#retries.isEmpty) this.#retries = undefined;
  }

  #checkId(witnessed: Witnessed): void {
    const { call, reply, world } = witnessed;
    if (reply?.status === 401 || reply?.status === 403) return;
    const near = nearRoundedId(call, world);
    if (near === undefined) return;
    const message = `${call.pathId} is unknown; ${near} exists and rounds to the same double.`;
    this.#add('rounded-id', message, witnessed);
  }

  #add(code: FindingCode, message: string, witnessed: Witnessed): void {
    this.#journal.note([{ code, message, advice: FINDING_CODES[code] }]);
    this.#keep(code, message, witnessed);
  }

  #keep(code: FindingCode, message: string, witnessed: Witnessed): void {
    const { exchange, seen, call, world } = witnessed;
    this.#counts ??= new Map();
    const told = this.#counts.get(code);
    if (told === undefined) this.#counts.set(code, { count: 1 });
    else told.count += 1;
    const finding: Finding = {
      code,
      sandbox: this.sandbox,
      exchange,
      operation: call.operation,
      method: seen.method,
      target: cut(seen.target, KEPT_TARGET),
      at: new Date(world.clock.now()).toISOString(),
      message,
      advice: FINDING_CODES[code],
    };
    this.#kept ??= [];
    if (this.#kept.length < MOST) this.#kept.push(finding);
    this.#onFinding?.(finding);
  }

  get kept(): readonly Finding[] {
    return this.#kept ?? [];
  }

  get counts(): ReadonlyMap<FindingCode, { readonly count: number }> {
    return this.#counts ?? NO_COUNTS;
  }

  clear(): void {
    this.#kept = undefined;
    this.#counts = undefined;
    this.#retries = undefined;
    this.#checkedKey = undefined;
  }
}

const NO_COUNTS: Findings['counts'] = new Map();

/** Whether a request announces content, of a known length or not. */
function hasContent({ headers }: Call): boolean {
  const length = headers['content-length'] ?? '0';
  return length !== '0' || headers['transfer-encoding'] !== undefined;
}

/** The findings of one or more sandboxes together. */
export function findingsOf(all: Iterable<Pick<Findings, 'kept' | 'counts'>>): FindingsReport {
  const counts: Partial<Record<FindingCode, number>> = {};
  const findings: Finding[] = [];
  let total = 0;
  for (const each of all) {
    for (const [code, { count }] of each.counts) {
      counts[code] = (counts[code] ?? 0) + count;
      total += count;
    }
    findings.push(...each.kept.slice(0, MOST_TOGETHER - findings.length));
  }
  return { total, counts, findings };
}

import {
  OPERATION_IDS,
  OPERATIONS,
  type OperationId,
  operationShape,
} from '../contract/operations.ts';
import type { Call } from '../service/input.ts';
import { cut } from '../words.ts';
import { nearRoundedId, placeholderKey, unknownInputs } from './findings-checks.ts';
import { KEPT_TARGET } from './journal.ts';
import { isFinal, Retries } from './retries.ts';
import type { Witnessed } from './witnessed.ts';

/** What each code of a finding means to a client, and what to do about it. */
const FINDING_CODES = {
  deprecated: 'The operation is to be sunset; move away from it before then.',
  experimental: 'The operation can change without notice; be ready to adapt, or do without it.',
  'rounded-id': 'A double cannot hold this id exactly; read and write ids as 64-bit integers.',
  'placeholder-key': 'A variable without a value was sent as the key; check where it is set.',
  'unknown-input': 'The document does not name it, so the service may refuse it; leave it out.',
  'pointless-retry': 'The reply cannot change by asking again; retry only what may be temporary.',
  'early-retry': 'The service asked for a longer pause; wait as long as Retry-After says.',
  'unexpected-body': 'A DELETE takes no body and the service may refuse one; send none.',
} as const satisfies Record<string, string>;

export type FindingCode = keyof typeof FINDING_CODES;

export const FINDING_CODE_NAMES = Object.keys(FINDING_CODES).filter(isFindingCode);

function isFindingCode(name: string): name is FindingCode {
  return Object.hasOwn(FINDING_CODES, name);
}

/** Something a client did that it should not do against the real service. */
export interface Finding {
  readonly code: FindingCode;
  readonly sandbox: string;
  /** The number of the exchange that caused it. */
  readonly exchange: number;
  readonly operation: OperationId;
  readonly method: string;
  readonly target: string;
  /** When, by the sandbox's clock. */
  readonly at: string;
  readonly message: string;
  readonly advice: string;
}

export interface FindingsReport {
  readonly total: number;
  readonly counts: Readonly<Partial<Record<FindingCode, number>>>;
  /** The first ones; `total` counts those that are not kept too. */
  readonly findings: readonly Finding[];
}

/** Findings kept in each sandbox. */
const MOST = 100;
/** Findings told of many sandboxes together: there can be thousands of them. */
export const MOST_TOGETHER = 1000;

/** What a call of an operation is, whatever it says: a kind of finding that is kept once. */
interface Nature {
  readonly code: FindingCode;
  readonly message: string;
}

const NATURES: ReadonlyMap<OperationId, readonly Nature[]> = new Map(
  OPERATION_IDS.map((id) => [id, naturesOf(id)]),
);

function naturesOf(id: OperationId): Nature[] {
  const { sunset, stability } = operationShape(id);
  const natures: Nature[] = [];
  if (sunset !== undefined) {
    const message = `${id} is deprecated, to be sunset on ${sunset}.`;
    natures.push({ code: 'deprecated', message });
  }
  if (stability !== undefined) {
    natures.push({ code: 'experimental', message: `${id} is ${stability}.` });
  }
  return natures;
}

/** Called for each finding when it is made. What a call is by nature is a finding once. */
export type OnFinding = (finding: Finding) => void;

/** Notes what the client of one sandbox should not do. */
export class Findings {
  readonly sandbox: string;
  // Made when they are wanted: most clients do nothing of the kind, and there can be many sandboxes.
  #kept: Finding[] | undefined;
  #counts: Map<FindingCode, { count: number }> | undefined;
  #retries: Retries | undefined;
  /** The latest key that was no placeholder: clients send the same again and again. */
  #checkedKey: string | undefined;

  readonly #onFinding: OnFinding | undefined;

  constructor(sandbox: string, onFinding?: OnFinding) {
    this.sandbox = sandbox;
    this.#onFinding = onFinding;
  }

  /** A plain call that succeeds costs a handful of comparisons. */
  record(witnessed: Witnessed): void {
    const { call, reply } = witnessed;
    for (const { code, message } of NATURES.get(call.operation) ?? []) {
      const told = this.#counts?.get(code);
      if (told === undefined) this.#add(code, message, witnessed);
      else told.count += 1;
    }
    if (call.authorization !== this.#checkedKey) this.#checkKey(witnessed);
    if (OPERATIONS[call.operation].method === 'DELETE' && hasContent(call)) {
      this.#add('unexpected-body', 'A DELETE was sent with a body.', witnessed);
    }
    // A success that is documented rests on nothing that was unknown.
    const isSuccess = reply !== undefined && reply.status < 400;
    if (!(isSuccess && reply.basis.kind === 'documented')) this.#checkInputs(witnessed);
    const isRefusal = reply !== undefined && !isSuccess;
    if (isRefusal || this.#retries !== undefined) this.#checkRetry(witnessed);
    if (isRefusal && isFinal(reply)) this.#checkId(witnessed);
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
      const message = `The same call was repeated after a ${status}, which it gets again.`;
      this.#add('pointless-retry', message, witnessed);
    }
    if (early !== undefined) {
      const message = `The call was repeated before the ${early} s of Retry-After were over.`;
      this.#add('early-retry', message, witnessed);
    }
    if (this.#retries.isEmpty) this.#retries = undefined;
  }

  #checkId(witnessed: Witnessed): void {
    const { call, reply, world } = witnessed;
    if (reply?.status === 401 || reply?.status === 403) return;
    const near = nearRoundedId(call, world);
    if (near === undefined) return;
    const message = `${call.pathId} is unknown; ${near}, which exists, is the same double.`;
    this.#add('rounded-id', message, witnessed);
  }

  #add(code: FindingCode, message: string, witnessed: Witnessed): void {
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

/** Whether a request says that content follows, if only of no known length. */
function hasContent({ headers }: Call): boolean {
  const length = headers['content-length'] ?? '0';
  return length !== '0' || headers['transfer-encoding'] !== undefined;
}

/** The findings of one or more sandboxes, together. */
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

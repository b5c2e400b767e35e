import {
  OPERATION_IDS,
  OPERATIONS,
  type OperationId,
  operationShape,
} from '../contract/operations.ts';
import type { Call } from '../service/input.ts';
import type { Reply } from '../service/reply.ts';
import { turnTime } from '../service/turn-time.ts';
import type { World } from '../service/world.ts';
import { cut } from '../words.ts';
import type { FindingsState } from './evidence-shapes.ts';
import { KEPT_TEXT, type Witnessed } from './exchange.ts';
import { FINDING_CODES, type FindingCode, type Noted } from './finding-codes.ts';
import { inputName, nearRoundedId, placeholderKey, unknownInputs } from './findings-checks.ts';
import type { Journal } from './journal.ts';
import type { Finding } from './report-shapes.ts';
import { type CheckedAttempt, isFinal, Retries } from './retries.ts';

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

const NATURE_CODES: ReadonlySet<FindingCode> = new Set(
  [...NATURES.values()].flat().map(({ code }) => code),
);

const NONE: readonly Noted[] = [];
const NO_FINDINGS: readonly Finding[] = [];
const NO_COUNTS: readonly FindingCount[] = [];

/** The exchange that caused findings. */
interface FindingSource extends Pick<Witnessed, 'exchange' | 'at'> {
  readonly seen: Pick<Witnessed['seen'], 'method' | 'target'>;
  readonly call: Pick<Call, 'operation'>;
}

/** Called for each new finding. One that every call of an operation causes is reported once. */
export type OnFinding = (finding: Finding) => void;

/** How many findings have a code. */
export interface FindingCount {
  readonly code: FindingCode;
  count: number;
}

/** Collects the findings of one sandbox. */
export class Findings {
  readonly sandbox: string;
  // Lists grow by `concat`: there can be many sandboxes, and `push` makes room for sixteen more.
  #kept: readonly Finding[] = NO_FINDINGS;
  #counts: readonly FindingCount[] = NO_COUNTS;
  /** Created when needed: most calls cannot be retries. */
  #retries: Retries | undefined;

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
    const attempt = this.attempt(witnessed);
    const found = this.find(witnessed, attempt);
    if (found.length > 0) this.count(found, witnessed);
    if (attempt === undefined) return;
    const { world, seen, delay } = witnessed;
    const leftAt = turnTime().steady + delay;
    this.noteAttempt(attempt, world, { leftAt, connection: seen.connection });
  }

  /** The call as an attempt, if it can be a retry or be retried. Changes nothing. */
  attempt(witnessed: Witnessed): CheckedAttempt | undefined {
    const { reply } = witnessed;
    const isRefusal = reply !== undefined && reply.status >= 400;
    return isRefusal || this.#retries !== undefined
      ? (this.#retries ?? NO_RETRIES).check(witnessed)
      : undefined;
  }

  /** Remembers an attempt, for the calls after it. */
  noteAttempt(...attempt: Parameters<Retries['note']>): void {
    this.#retries ??= new Retries();
    this.#retries.note(...attempt);
    if (this.#retries.isEmpty) this.#retries = undefined;
  }

  /** The findings of a call. Counts nothing. */
  find(witnessed: Witnessed, attempt: CheckedAttempt | undefined): readonly Noted[] {
    const { call, reply } = witnessed;
    let found = NATURES.get(call.operation) ?? NONE;
    if (call.authorization !== checkedKey) {
      found = plus(found, 'placeholder-key', keyMessage(call));
    }
    if (OPERATIONS[call.operation].method === 'DELETE' && hasContent(call)) {
      found = plus(found, 'unexpected-body', 'A DELETE was sent with a body.');
    }
    if (reply?.unknownPreference !== undefined) {
      found = plus(found, 'unknown-preference', `${reply.unknownPreference}.`);
    }
    // A documented success does not depend on unknown inputs.
    const isSuccess = reply !== undefined && reply.status < 400;
    if (!(isSuccess && reply.basis.kind === 'documented')) {
      found = plusInputs(found, witnessed);
      found = plus(found, 'drift', driftMessage(reply));
    }
    if (attempt !== undefined) {
      found = plus(found, 'pointless-retry', pointlessMessage(attempt));
      found = plus(found, 'early-retry', earlyMessage(attempt));
    }
    const isFinalRefusal = reply !== undefined && !isSuccess && isFinal(reply);
    return isFinalRefusal ? plus(found, 'rounded-id', idMessage(witnessed)) : found;
  }

  /** Counts the findings of a call. What a call is by nature is kept once. */
  count(findings: readonly Noted[], source: FindingSource): void {
    this.#journal.note(findings);
    for (const noted of findings) {
      const told = this.#counts.find(({ code }) => code === noted.code);
      if (told === undefined) this.#counts = this.#counts.concat({ code: noted.code, count: 1 });
      else {
        told.count += 1;
        if (NATURE_CODES.has(noted.code)) continue;
      }
      this.#keep(noted, source);
    }
  }

  #keep(noted: Noted, { exchange, at, seen, call }: FindingSource): void {
    const finding = findingOf({
      ...noted,
      sandbox: this.sandbox,
      exchange,
      operation: call.operation,
      method: seen.method,
      target: cut(seen.target, KEPT_TEXT),
      at: new Date(at).toISOString(),
    });
    if (this.#kept.length < MOST) this.#kept = this.#kept.concat(finding);
    this.#onFinding?.(finding);
  }

  get kept(): readonly Finding[] {
    return this.#kept;
  }

  get counts(): readonly Readonly<FindingCount>[] {
    return this.#counts;
  }

  /** The state, for a copy of the sandbox in the same world. */
  state(world: World): FindingsState {
    const counts = this.#counts.map((it) => ({ ...it }));
    const findings = this.kept.map(({ advice: _, sandbox: _own, ...finding }) => finding);
    return { counts, findings, attempts: this.#retries?.attempts(world) ?? [] };
  }

  restore({ counts, findings, attempts }: FindingsState, world: World): void {
    this.clear();
    this.#counts = counts.map((it) => ({ ...it }));
    const { sandbox } = this;
    this.#kept = findings.map((it) => findingOf({ ...it, sandbox }));
    for (const attempt of attempts) this.noteAttempt(attempt, world);
  }

  clear(): void {
    this.#kept = NO_FINDINGS;
    this.#counts = NO_COUNTS;
    this.#retries = undefined;
  }
}

/** A finding, with its members in the order in which reports show them. */
export function findingOf(made: Omit<Finding, 'advice'>): Finding {
  const { code, sandbox, exchange, operation, method, target, at, message } = made;
  const advice = FINDING_CODES[code];
  return { code, sandbox, exchange, operation, method, target, at, message, advice };
}

/** Remembers nothing, so that nothing is a retry. */
const NO_RETRIES = new Retries();

/** Adds a finding, if there is a message for it. */
function plus(
  found: readonly Noted[],
  code: FindingCode,
  message: string | undefined,
): readonly Noted[] {
  if (message === undefined) return found;
  return [...found, { code, message, advice: FINDING_CODES[code] }];
}

/** The latest key that is no placeholder: clients repeat theirs. */
let checkedKey: string | undefined;

function keyMessage({ authorization }: Call): string | undefined {
  const key = placeholderKey(authorization);
  if (key !== undefined) return `The key is literally \`${key}\`.`;
  checkedKey = authorization;
  return undefined;
}

/** Unknown inputs named for one exchange; the rest are counted. */
const MOST_INPUTS = 20;

function plusInputs(found: readonly Noted[], { call, world }: Witnessed): readonly Noted[] {
  if (call.query.length === 0 && call.body.kind !== 'bytes') return found;
  const unknown = unknownInputs(call, world);
  const more = unknown.length - MOST_INPUTS;
  const messages = unknown
    .slice(0, MOST_INPUTS)
    .map((input) => `${inputName(input)} is unknown to ${call.operation}.`);
  if (more > 0) messages.push(`${more} more are unknown to ${call.operation}.`);
  const advice = FINDING_CODES['unknown-input'];
  return found.concat(messages.map((message) => ({ code: 'unknown-input', message, advice })));
}

/** Differences told in one message. */
const MOST_TOLD = 3;

function driftMessage(reply: Reply | undefined): string | undefined {
  const drift = reply?.comparison?.drift ?? [];
  if (drift.length === 0) return undefined;
  const more = drift.length > MOST_TOLD ? `; and ${drift.length - MOST_TOLD} more` : '';
  return `${drift.slice(0, MOST_TOLD).join('; ')}${more}.`;
}

function pointlessMessage({ pointless, status }: CheckedAttempt): string | undefined {
  if (!pointless) return undefined;
  return `The same call was repeated after a ${status} that cannot change.`;
}

function earlyMessage({ early }: CheckedAttempt): string | undefined {
  if (early === undefined) return undefined;
  return `The call was repeated before Retry-After (${early} s) had passed.`;
}

function idMessage({ call, reply, world }: Witnessed): string | undefined {
  if (reply?.status === 401 || reply?.status === 403) return undefined;
  const near = nearRoundedId(call, world);
  if (near === undefined) return undefined;
  return `${call.pathId} is unknown; ${near} exists and rounds to the same double.`;
}

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
    for (const { code, count } of each.counts) {
      counts[code] = (counts[code] ?? 0) + count;
      total += count;
    }
    findings.push(...each.kept.slice(0, MOST_TOGETHER - findings.length));
  }
  return { total, counts, findings };
}

import { type OperationId, operationShape } from '../contract/operations.ts';
import type { Call } from '../service/input.ts';
import type { Reply } from '../service/reply.ts';
import type { World } from '../service/world.ts';
import { versionOf } from '../store/store.ts';
import { nearRoundedId, placeholderKey, retryAfter, unknownInputs } from './findings-checks.ts';

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

export const FINDING_CODE_NAMES: readonly string[] = Object.keys(FINDING_CODES);

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
const KEPT_TARGET = 2048;
const MOST_PAUSES = 16;
/** How long a refusal is remembered, in milliseconds of real time. */
const RETRY_WITHIN = 60_000;
/** Client errors that can pass by themselves. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** A refusal that the same call would get again. */
interface Refusal {
  readonly request: string;
  readonly status: number;
  readonly since: number;
  readonly version: number;
  readonly world: World;
}

/** Until when a call was asked to wait, by the sandbox's clock and by real time. */
interface Pause {
  readonly until: number;
  readonly realUntil: number;
  readonly seconds: number;
}

/** One call as findings see it. */
interface Witnessed {
  readonly exchange: number;
  readonly method: string;
  readonly target: string;
  readonly call: Call;
  /** Undefined where the client was sent none. */
  readonly reply: Reply | undefined;
  readonly world: World;
}

/** Notes what the client of one sandbox should not do. */
export class Findings {
  readonly sandbox: string;
  #kept: Finding[] | undefined;
  #counts: Map<FindingCode, number> | undefined;
  #refused: Refusal | undefined;
  #pauses: Map<string, Pause> | undefined;
  #checkedKey: string | undefined;

  constructor(sandbox: string) {
    this.sandbox = sandbox;
  }

  /** A plain request that succeeds costs a handful of comparisons. */
  record(
    exchange: number,
    method: string,
    target: string,
    call: Call,
    reply: Reply | undefined,
    world: World,
  ): void {
    const { operation, authorization } = call;
    if (operation === 'getPet' || operation === 'updateInventory' || operation === 'cancelOrder') {
      this.#byNature({ exchange, method, target, call, reply, world });
    }
    if (authorization !== this.#checkedKey) {
      const key = placeholderKey(authorization);
      if (key === undefined) this.#checkedKey = authorization;
      else
        this.#add(
          'placeholder-key',
          `The key is literally \`${key}\`.`,
          exchange,
          method,
          target,
          call,
          world,
        );
    }
    // A success that is documented rests on nothing that was unknown.
    const isPlain = reply?.basis.kind === 'documented' && reply.status < 400;
    if (!isPlain && (call.query.length > 0 || call.body.kind === 'bytes')) {
      for (const name of unknownInputs(call, world)) {
        this.#add(
          'unknown-input',
          `${name} is unknown to ${operation}.`,
          exchange,
          method,
          target,
          call,
          world,
        );
      }
    }
    if (this.#refused === undefined && this.#pauses === undefined) {
      if (reply === undefined || reply.status < 400) return;
    }
    this.#afterRefusals({ exchange, method, target, call, reply, world });
  }

  #byNature({ exchange, method, target, call, world }: Witnessed): void {
    const { operation, headers } = call;
    const { sunset, stability } = operationShape(operation);
    if (sunset !== undefined) {
      if (!this.#again('deprecated')) {
        this.#add(
          'deprecated',
          `${operation} is deprecated, to be sunset on ${sunset}.`,
          exchange,
          method,
          target,
          call,
          world,
        );
      }
    }
    if (stability !== undefined && !this.#again('experimental')) {
      this.#add(
        'experimental',
        `${operation} is experimental.`,
        exchange,
        method,
        target,
        call,
        world,
      );
    }
    if (operation !== 'cancelOrder') return;
    const length = headers['content-length'];
    if ((length ?? '0') !== '0' || headers['transfer-encoding'] !== undefined) {
      this.#add(
        'unexpected-body',
        'A DELETE was sent with a body.',
        exchange,
        method,
        target,
        call,
        world,
      );
    }
  }

  #afterRefusals({ exchange, method, target, call, reply, world }: Witnessed): void {
    const { authorization = '', body } = call;
    const status = reply?.status ?? 0;
    const bytes = body.kind === 'bytes' ? body.bytes.toString('latin1') : body.kind;
    const request = `${method} ${target}\n${authorization}\n${bytes}`;
    const real = performance.now();
    const version = versionOf(world.store);
    const refused = this.#refused;
    this.#refused = undefined;
    if (
      refused?.request === request &&
      refused.status === status &&
      refused.version === version &&
      refused.world === world &&
      real - refused.since < RETRY_WITHIN
    ) {
      this.#add(
        'pointless-retry',
        `The same call was repeated after a ${status}.`,
        exchange,
        method,
        target,
        call,
        world,
      );
    }
    this.#checkPause({ exchange, method, target, call, reply, world }, request, real);
    if (reply === undefined || status < 400) return;
    if (status < 500 && !TEMPORARY.has(status) && reply.basis.kind !== 'forced') {
      this.#refused = { request, status, since: real, version, world };
      if (status !== 401 && status !== 403) {
        const near = nearRoundedId(call, world);
        if (near !== undefined) {
          this.#add(
            'rounded-id',
            `${call.pathId} is unknown; ${near}, which exists, is the same double.`,
            exchange,
            method,
            target,
            call,
            world,
          );
        }
      }
    }
  }

  #checkPause(
    { exchange, method, target, call, reply, world }: Witnessed,
    request: string,
    real: number,
  ): void {
    const now = world.clock.now();
    const pause = this.#pauses?.get(request);
    // Whoever waited by either clock has waited.
    if (pause !== undefined && now < pause.until && real < pause.realUntil) {
      this.#add(
        'early-retry',
        `The call was repeated before the ${pause.seconds} s of Retry-After were over.`,
        exchange,
        method,
        target,
        call,
        world,
      );
    }
    const seconds = retryAfter(reply, now);
    if (seconds === undefined) {
      if (pause !== undefined) this.#pauses?.delete(request);
      if (this.#pauses?.size === 0) this.#pauses = undefined;
      return;
    }
    this.#pauses ??= new Map();
    if (this.#pauses.size >= MOST_PAUSES) {
      const [oldest] = this.#pauses.keys();
      if (oldest !== undefined) this.#pauses.delete(oldest);
    }
    const length = seconds * 1000;
    this.#pauses.set(request, { until: now + length, realUntil: real + length, seconds });
  }

  /** Counts a finding that was told already: what an operation is by nature is told once. */
  #again(code: FindingCode): boolean {
    const count = this.#counts?.get(code);
    if (count === undefined) return false;
    this.#counts?.set(code, count + 1);
    return true;
  }

  #add(
    code: FindingCode,
    message: string,
    exchange: number,
    method: string,
    target: string,
    { operation }: Call,
    { clock }: World,
  ): void {
    this.#counts ??= new Map();
    this.#counts.set(code, (this.#counts.get(code) ?? 0) + 1);
    this.#kept ??= [];
    if (this.#kept.length >= MOST) return;
    this.#kept.push({
      code,
      sandbox: this.sandbox,
      exchange,
      operation,
      method,
      target: target.slice(0, KEPT_TARGET),
      at: new Date(clock.now()).toISOString(),
      message,
      advice: FINDING_CODES[code],
    });
  }

  get kept(): readonly Finding[] {
    return this.#kept ?? [];
  }

  get counts(): ReadonlyMap<FindingCode, number> {
    return this.#counts ?? new Map();
  }

  clear(): void {
    this.#kept = undefined;
    this.#counts = undefined;
    this.#refused = undefined;
    this.#pauses = undefined;
    this.#checkedKey = undefined;
  }
}

/** The findings of one or more sandboxes, together. */
export function findingsOf(all: Iterable<Pick<Findings, 'kept' | 'counts'>>): FindingsReport {
  const counts: Partial<Record<FindingCode, number>> = {};
  const findings: Finding[] = [];
  let total = 0;
  for (const each of all) {
    for (const [code, count] of each.counts) {
      counts[code] = (counts[code] ?? 0) + count;
      total += count;
    }
    findings.push(...each.kept);
  }
  return { total, counts, findings };
}

import { DEFAULTS } from '../defaults.ts';
import { type CoverageReport, coverageOf, type Shown, SLOTS } from '../evidence/coverage.ts';
import {
  type Finding,
  type FindingCode,
  type FindingsReport,
  findingsOf,
  MOST_TOGETHER,
} from '../evidence/findings.ts';
import type { Observer } from '../evidence/journal.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import { keyring } from '../service/keyring.ts';
import { PageCaches } from '../service/pets-page.ts';
import { forkStore } from '../store/store.ts';
import { Sandbox, type SandboxFile, type SandboxShare } from './sandbox.ts';

/** The name under which the sandbox at `/v1` is listed; `/~default/v1` is the same one. */
export const DEFAULT_SANDBOX = 'default';

/** The second deployment of the document, and the only key it takes. */
export const STAGING_SANDBOX = 'staging';
const STAGING_KEYS = ['staging-key'];

/** What a name of a sandbox can be. */
export const SANDBOX_NAME = /^[A-Za-z0-9._-]{1,64}$/;

export interface SandboxLimits {
  /** How many exchanges each sandbox keeps; 1,000 by default, 0 keeps none. */
  readonly journal?: number | undefined;
  /** How many sandboxes there may be beside the default one and staging; 10,000 by default. */
  readonly maxSandboxes?: number | undefined;
  /** Whether a request must name a sandbox. */
  readonly sandboxRequired?: boolean | undefined;
}

/** All sandboxes of a server, each made at its first use. */
export class Sandboxes {
  readonly required: boolean;
  readonly most: number;
  /** Told of every exchange in every sandbox. */
  readonly observers = new Set<Observer>();
  readonly #past = new Past();
  readonly #share: SandboxShare;
  readonly #named = new Map<string, Sandbox>();
  #start: Start;
  readonly #default: Sandbox;

  /** @param file where the default sandbox's store is kept, with what it holds to start with */
  constructor(
    start: Start,
    {
      journal = DEFAULTS.journal,
      maxSandboxes = DEFAULTS.maxSandboxes,
      sandboxRequired = false,
    }: SandboxLimits = {},
    file?: SandboxFile,
  ) {
    this.required = sandboxRequired;
    this.most = maxSandboxes;
    this.#share = {
      pages: new PageCaches(),
      journal,
      observers: this.observers,
      forgotten: (sandbox) => this.#past.add(sandbox),
    };
    this.#start = file === undefined ? start : { ...start, store: forkStore(file.store) };
    this.#default = new Sandbox(DEFAULT_SANDBOX, this.#start, this.#share, file);
  }

  get default(): Sandbox {
    return this.#default;
  }

  /**
   * The sandbox of a name, made where it is new.
   *
   * @returns undefined where there are as many as there may be
   */
  find(name: string): Sandbox | undefined {
    if (name === DEFAULT_SANDBOX) return this.#default;
    const known = this.#named.get(name);
    if (known !== undefined) return known;
    // Staging is always there, whether or not it has been used.
    const others = this.#named.size - (this.#named.has(STAGING_SANDBOX) ? 1 : 0);
    if (name !== STAGING_SANDBOX && others >= this.most) return undefined;
    const sandbox = new Sandbox(name, this.startOf(name), this.#share);
    this.#named.set(name, sandbox);
    return sandbox;
  }

  /** Every sandbox that is there: the default one and staging, then those that were used. */
  *[Symbol.iterator](): Generator<Sandbox> {
    yield this.#default;
    const staging = this.find(STAGING_SANDBOX);
    if (staging !== undefined) yield staging;
    for (const sandbox of this.#named.values()) if (sandbox !== staging) yield sandbox;
  }

  has(name: string): boolean {
    return name === DEFAULT_SANDBOX || name === STAGING_SANDBOX || this.#named.has(name);
  }

  /** Forgets a sandbox: under its name a new one will start. The default one and staging stay. */
  delete(name: string): boolean {
    const sandbox = name === STAGING_SANDBOX ? undefined : this.#named.get(name);
    if (sandbox === undefined) return false;
    this.#named.delete(name);
    this.#past.add(sandbox);
    sandbox.end();
    return true;
  }

  /** What clients were shown in all sandboxes, those reset or deleted since included. */
  coverage(): CoverageReport {
    return coverageOf([this.#past, ...[...this].map((it) => it.coverage)]);
  }

  /** What clients did in all sandboxes, those reset or deleted since included. */
  findings(): FindingsReport {
    return findingsOf([this.#past, ...[...this].map((it) => it.findings)]);
  }

  /** Ends what would go on as long as a sandbox does, so that a server can close. */
  end(): void {
    this.#default.end();
    for (const sandbox of this.#named.values()) sandbox.end();
  }

  /** Starts every sandbox anew from another start, as after a change of the files it is made of. */
  restart(start: Start): void {
    this.#start = start;
    for (const sandbox of this) {
      // What is kept in a file is what clients were told is kept.
      sandbox.restart(this.startOf(sandbox.name), sandbox.file !== undefined);
    }
  }

  /** What a start is for the sandbox of a name: staging has keys of its own. */
  startOf(name: string, start: Start = this.#start): Start {
    if (name !== STAGING_SANDBOX) return start;
    const keyLists = { ...start.keyLists, valid: STAGING_KEYS, readOnly: [] };
    return { ...start, keyLists, keys: keyring(keyLists) };
  }
}

/** What sandboxes had seen before they were reset or deleted, in the form of one more. */
class Past {
  readonly #shown: Shown[] = [];
  readonly kept: Finding[] = [];
  readonly counts = new Map<FindingCode, { count: number }>();

  add({ coverage, findings }: Sandbox): void {
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const { count, first } = coverage.at(slot);
      if (count === 0 || first === undefined) continue;
      const before = this.at(slot);
      this.#shown[slot] = { count: before.count + count, first: before.first ?? first };
    }
    for (const [code, { count }] of findings.counts) {
      this.counts.set(code, { count: (this.counts.get(code)?.count ?? 0) + count });
    }
    this.kept.push(...findings.kept.slice(0, MOST_TOGETHER - this.kept.length));
  }

  at(slot: number): Shown {
    return this.#shown[slot] ?? { count: 0 };
  }
}

import type { Evidence, EvidenceEntry, EvidenceState } from '../evidence/sandbox-evidence.ts';
import { asError } from '../node-errors.ts';
import type { Start } from '../scenario/sandbox-start.ts';
import type { Change } from './change.ts';
import type { State } from './state.ts';

/** What one request did to a sandbox: the unit that a log keeps. */
export interface LogEntry extends EvidenceEntry {
  readonly change?: Change | undefined;
}

/** A sandbox at some position of its log. */
export interface SandboxSnapshot {
  readonly state: State;
  readonly evidence: EvidenceState;
}

/** What a log has taken that a server does not know yet. */
export interface MissedEntries {
  /** Replaces what the server has, before the entries, if the log no longer has all of them. */
  readonly snapshot?: SandboxSnapshot | undefined;
  readonly entries: readonly LogEntry[];
}

/** Keeps what happens in a sandbox before it is acknowledged. It follows one sandbox, from its start. */
export interface Keeper {
  /**
   * Whether other servers append to it too. Then it takes exchanges as well as changes, and even what
   * only reads must ask it. Otherwise it takes changes of the store alone.
   */
  readonly isShared: boolean;
  /**
   * Appends entries, all or none, unless others have appended since.
   *
   * @param state after the entries
   * @throws KeeperError if they cannot be kept
   */
  append(entries: readonly LogEntry[], state: State): Promise<'kept' | MissedEntries>;
  /**
   * What others have appended since; nothing if there are no others.
   *
   * @throws KeeperError if the log cannot be read
   */
  read(): Promise<MissedEntries>;
  /** Called after entries were kept or followed: may replace those of the log by a snapshot. */
  compact?(state: State, evidence: Evidence): void;
}

interface KeeperErrorOptions extends ErrorOptions {
  /** The code of the reply to the request that made the change; `not_saved` by default. */
  readonly code?: 'not_saved' | 'too_many_sandboxes';
  /** Whether the log may have taken the entries all the same. */
  readonly isOutcomeUnknown?: boolean;
}

/** A log cannot take entries or be read. The message says why. */
export class KeeperError extends Error {
  override readonly name = 'KeeperError';
  readonly code: NonNullable<KeeperErrorOptions['code']>;
  readonly isOutcomeUnknown: boolean;

  constructor(message: string, options: KeeperErrorOptions = {}) {
    super(message, options);
    this.code = options.code ?? 'not_saved';
    this.isOutcomeUnknown = options.isOutcomeUnknown ?? false;
  }

  /** What the reply says to the request that made the change. */
  get refusal(): string {
    const isPlain = this.code === 'not_saved' && !this.isOutcomeUnknown;
    return isPlain ? `the change was not made: ${this.message}` : this.message;
  }
}

export function sandboxLimitReached(most: number, sandbox: string): KeeperError {
  return new KeeperError(
    `sandbox limit (${most}) reached; ${sandbox} was not created. Delete sandboxes, or raise --max-sandboxes`,
    { code: 'too_many_sandboxes' },
  );
}

/** Whatever a keeper has thrown, as one of its errors. */
export function keeperErrorOf(error: unknown): KeeperError {
  if (error instanceof KeeperError) return error;
  return new KeeperError(asError(error).message, { cause: error });
}

/** A sandbox of a fleet, as a server starts it. */
export interface Opening {
  readonly name: string;
  /** What a reset of it returns to. */
  readonly origin: Start;
  /** Makes the start of scenarios that of this sandbox. */
  readonly ownStart: (start: Start) => Start;
  /** A new one. */
  readonly initial: () => SandboxSnapshot;
}

/** The servers that share their sandboxes. */
export interface Fleet {
  /** Why no sandbox can be used; undefined while they can. */
  readonly problem: string | undefined;
  /**
   * What keeps a sandbox.
   *
   * @param mayCreate whether its first use creates it
   * @param onGone called when it turns out to be deleted
   */
  keep(opening: Opening, mayCreate: boolean, onGone: () => void): Keeper;
  /**
   * Creates a sandbox. False if there is one of this name.
   *
   * @throws KeeperError
   */
  create(opening: Opening): Promise<boolean>;
  /**
   * Deletes a sandbox on every server. False if there is none, or if it was used too recently.
   *
   * @param drain reads what is left of it, to which no server can append any more
   * @param unusedFor how long it must not have been used, in milliseconds
   * @throws KeeperError
   */
  delete(
    name: string,
    drain: () => Promise<void> | undefined,
    unusedFor?: number,
  ): Promise<boolean>;
  /**
   * Milliseconds since any server answered a request in each sandbox or changed it, by name.
   *
   * @throws KeeperError
   */
  unused(): Promise<ReadonlyMap<string, number>>;
  close(): void;
}

/** The number of entries ever appended to a log. */
export type Position = number;

/** A log cannot take entries or be read. The message says why. */
export class LogError extends Error {
  override readonly name: string = 'LogError';
  /** The error code of the reply to the request that made the change. */
  readonly code: 'not_saved' | 'too_many_sandboxes' = 'not_saved';
  /** Whether the log may have taken the entries all the same. */
  readonly maybeDone: boolean;

  constructor(message: string, options: ErrorOptions & { readonly maybeDone?: boolean } = {}) {
    super(message, options);
    this.maybeDone = options.maybeDone ?? false;
  }
}

/** The entries of a log after a position. */
export interface Missed<Entry, Snapshot> {
  /** Replaces the state before the entries, if the log no longer has all of them. */
  readonly snapshot?: Snapshot | undefined;
  /** The latest entries before the snapshot, as far as the log still has them. */
  readonly earlier?: readonly Entry[] | undefined;
  readonly entries: readonly Entry[];
  /** The position after the last of them. */
  readonly position: Position;
}

/** The result of an append. */
export type Appended<Entry, Snapshot> =
  | { readonly kept: true; readonly position: Position }
  /** The log has taken other entries since the position, and took none of these. */
  | { readonly kept: false; readonly missed: Missed<Entry, Snapshot> };

/** The changes of one state, in order. */
export interface ChangeLog<Entry, Snapshot> {
  /**
   * Whether other servers append to it too. Then it takes whole changes, and even what only reads must
   * ask it.
   */
  readonly isShared?: boolean;
  /**
   * Appends entries, unless the log has taken others after the position. Resolves when they are kept.
   * Keeps all of them or none.
   *
   * @throws LogError if the log cannot take them
   */
  append(after: Position, entries: readonly Entry[]): Promise<Appended<Entry, Snapshot>>;
  /** Reads what the log has taken after a position. Costs nothing if the log has no other writers. */
  read(after: Position): Promise<Missed<Entry, Snapshot>>;
  /** Whether the log has grown enough since its last snapshot to be folded. */
  readonly isFoldDue: boolean;
  /**
   * Replaces the entries up to a position with the state at that position, while appends continue. After
   * a failure, the log still has the entries.
   */
  fold(at: Position, snapshot: Snapshot): Promise<void>;
  close(): Promise<void>;
}

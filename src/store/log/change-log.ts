/** The number of entries that a log has ever taken. */
export type Position = number;

/** A log cannot take entries or be read. The message says why. */
export class LogError extends Error {
  override readonly name: string = 'LogError';
  /** The code of the reply to a request whose change it is. */
  readonly code: 'not_saved' | 'too_many_sandboxes' = 'not_saved';
  /** Whether the log may have taken the entries all the same. */
  readonly maybeDone: boolean;

  constructor(message: string, options: ErrorOptions & { readonly maybeDone?: boolean } = {}) {
    super(message, options);
    this.maybeDone = options.maybeDone ?? false;
  }
}

/** What a log has taken after a position. */
export interface Missed<Entry, Snapshot> {
  /** Replaces the state before the entries: some entries after the position are only in here. */
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

/** The changes of one state in order. Whoever holds the state appends to it, and follows it. */
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
  /** Whether the log has taken so many entries since its last snapshot that a fold pays. */
  readonly isFoldDue: boolean;
  /**
   * Replaces the entries up to a position by the state at that position, while appends continue. After
   * a failure, the log still has the entries.
   */
  fold(at: Position, snapshot: Snapshot): Promise<void>;
  close(): Promise<void>;
}

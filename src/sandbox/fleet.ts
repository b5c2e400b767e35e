import type { Start } from '../scenario/sandbox-start.ts';
import type { Keeper, Snapshot } from './keeper.ts';

/** A sandbox of a fleet, as a server starts it. */
export interface Opening {
  readonly name: string;
  /** What a reset of it returns to. */
  readonly origin: Start;
  /** Makes the start of scenarios that of this sandbox. */
  readonly startOf: (start: Start) => Start;
  /** A new one. */
  readonly initial: () => Snapshot;
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
   * Deletes a sandbox on every server. False if there is none, or if it was used too lately.
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

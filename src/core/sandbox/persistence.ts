import type { Outcome } from './answer.ts';
import type { Totals } from './coverage.ts';
import type { Exchange, ExchangeWithHold, HoldEnd } from './exchange.ts';
import type { Release, Released } from './holds.ts';
import type { JournalPage, JournalQuery, JournalSize } from './journal-page.ts';
import type { SharedStatus } from './report-shapes.ts';
import type { Sandbox, SandboxListener } from './sandbox.ts';
import type { Start } from './start.ts';

/** Reads a sandbox's journal, in memory or in Redis. */
export interface JournalReader {
  size(): Promise<JournalSize>;
  select(query: JournalQuery): Promise<JournalPage>;
  /** Finds an exchange, even a dropped one if its reply is still held. */
  find(number: number): Promise<Exchange | undefined>;
  totals(): Promise<Totals>;
  /** The held replies, the oldest first. */
  held(): Promise<readonly ExchangeWithHold[]>;
}

/** Keeps the effect of a call before its reply is sent: in memory, in a file, in Redis. */
export interface Persistence {
  /** Why nothing can be saved at the moment; undefined if it can. */
  readonly problem: string | undefined;
  /** A message for the operator, such as a recent failure. */
  readonly notice?: string | undefined;
  /** The state of the servers that share the sandboxes. */
  status?(): SharedStatus;
  /** Why undo, rewind and a start for one sandbox do not work; undefined if they do. */
  readonly whyNoUndo: string | undefined;
  /** Computes an outcome, keeps it, then has it taken. `compute` is pure and may run again. */
  keep<T>(sandbox: Sandbox, compute: () => Outcome<T>): Promise<T>;
  journal(sandbox: Sandbox): JournalReader;
  /** Releases held replies, those of other servers too. */
  release(sandbox: Sandbox, which: Release, why: HoldEnd): Promise<Released>;
  /** Subscribes to events of the sandbox on all servers. Returns a function that cancels this. */
  subscribe(sandbox: Sandbox, listener: SandboxListener): () => void;
  /** Creates a sandbox. Resolves to false if it exists already. */
  create(name: string, start?: Start): Promise<boolean>;
  /** Removes a sandbox. False if there is none, or it was used in the last `unusedFor` ms. */
  remove(name: string, unusedFor?: number): Promise<boolean>;
  /** Milliseconds since each sandbox was used, by name. */
  unused(): Promise<ReadonlyMap<string, number>>;
  /** The totals of all sandboxes, also of deleted ones and cleared journals. */
  totals(): Promise<Totals>;
}

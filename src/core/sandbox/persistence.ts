import type { Outcome } from './answer.ts';
import type { Totals } from './coverage.ts';
import type { Exchange, ExchangeWithHold, HoldEnd } from './exchange.ts';
import type { Release, Released } from './holds.ts';
import type { JournalPage, JournalQuery, JournalSize } from './journal-page.ts';
import type { SharedStatus } from './report-shapes.ts';
import type { Sandbox, SandboxListener } from './sandbox.ts';
import type { Start } from './start.ts';

/** Reads the journal of a sandbox wherever it is kept. */
export interface JournalReader {
  size(): Promise<JournalSize>;
  select(query: JournalQuery): Promise<JournalPage>;
  /** Finds a dropped exchange too while its reply is held back. */
  find(number: number): Promise<Exchange | undefined>;
  totals(): Promise<Totals>;
  /** The oldest first. */
  held(): Promise<readonly ExchangeWithHold[]>;
}

/** Keeps the effect of a call before its reply leaves: in this process, a file or a Redis. Rejects with a StorageError. */
export interface Persistence {
  /** Why sandboxes cannot be kept now; undefined if they can. */
  readonly problem: string | undefined;
  /** What whoever runs the server should know for a while. */
  readonly notice?: string | undefined;
  /** The state of the servers that share the sandboxes. */
  status?(): SharedStatus;
  /** Why nothing can be undone or rewound, and no sandbox has its own start; undefined if it can. */
  readonly whyNoUndo: string | undefined;
  /** Computes an outcome, keeps it, and has the sandbox take it. `compute` is pure: it can run again on a newer state. */
  keep<T>(sandbox: Sandbox, compute: () => Outcome<T>): Promise<T>;
  journal(sandbox: Sandbox): JournalReader;
  /** Releases replies that other servers hold, too. */
  release(sandbox: Sandbox, which: Release, why: HoldEnd): Promise<Released>;
  /** Hears every server. Returns how to cancel. */
  subscribe(sandbox: Sandbox, listener: SandboxListener): () => void;
  /** Creates a sandbox. Resolves to false if the name is taken. */
  create(name: string, start?: Start): Promise<boolean>;
  /** Keeps coverage and findings. False if there is none, or if it was used within `unusedFor` milliseconds. */
  remove(name: string, unusedFor?: number): Promise<boolean>;
  /** Milliseconds since each sandbox was used, by name. */
  unused(): Promise<ReadonlyMap<string, number>>;
  /** Sums up all sandboxes, deleted ones and cleared journals too. */
  totals(): Promise<Totals>;
}

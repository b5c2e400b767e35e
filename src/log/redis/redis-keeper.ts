import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Evidence } from '../../evidence/sandbox-evidence.ts';
import {
  type Entry,
  type Keeper,
  KeeperError,
  type Missed,
  type Opening,
} from '../../sandbox/keeper.ts';
import type { State } from '../../sandbox/state.ts';
import type { RedisConnection } from './redis-connection.ts';
import { APPEND, FOLD } from './scripts.ts';
import { type Loading, readEntries, readSnapshot, writeEntries, writeSnapshot } from './texts.ts';

/** The longest wait for the turn of another server, in milliseconds. Doubles from 1 with each in a row. */
const LONGEST_WAIT = 8;

/** Distinguishes an append, a server or a log from all others: 72 bits. */
export function drawId(): string {
  return randomBytes(9).toString('base64url');
}

const SERVER = drawId();

/** The keys of a sandbox's log. */
export function keysOf(name: string, incarnation: string): readonly string[] {
  // The part in braces decides on the node of a cluster.
  const stem = `petstore-mock:{${name}~${incarnation}}`;
  return ['head', 'entries', 'snapshot'].map((part) => `${stem}:${part}`);
}

/** The logs of a fleet's sandboxes. */
export interface Directory {
  readonly redis: RedisConnection;
  /** The incarnation that a name has; undefined if it has none. Another one is another log. */
  find(name: string): Promise<string | undefined>;
  /** Creates a log in place of a lost one, unless another server does. Returns its incarnation. */
  enter(opening: Opening, lost: string): Promise<string>;
  loading(opening: Opening): Loading;
}

/** Where a server is in a log. */
interface Position {
  readonly incarnation: string;
  readonly at: number;
  /** Names the append that led there. */
  readonly token: string;
}

/** What the script APPEND returns. */
interface Reply {
  readonly kind: 'gone' | 'busy' | 'kept' | 'missed';
  readonly position: Position;
  readonly isFull: boolean;
  /** The entries of each append that was missed. */
  readonly texts: readonly string[];
  /** Comes before the entries if the log no longer has all that was missed. */
  readonly snapshot: string | undefined;
}

/**
 * Keeps whatever sandbox has a name in the fleet, found or created when first needed. Its first append
 * always misses something: the state.
 */
export class RedisKeeper implements Keeper {
  readonly isShared = true;
  readonly #directory: Directory;
  readonly #opening: Opening;
  readonly #loading: Loading;
  readonly #mayCreate: boolean;
  readonly #onGone: () => void;
  /** Undefined while this server knows no log of the sandbox. */
  #position: Position | undefined;
  /** The incarnation whose log is gone. */
  #lost = '';
  #isFull = false;

  constructor(directory: Directory, opening: Opening, mayCreate: boolean, onGone: () => void) {
    this.#directory = directory;
    this.#opening = opening;
    this.#loading = directory.loading(opening);
    this.#mayCreate = mayCreate;
    this.#onGone = onGone;
  }

  async append(entries: readonly Entry[]): Promise<'kept' | Missed> {
    const appended = this.#position && (await this.#append(this.#position, entries));
    return appended ?? (await this.#enter(this.#mayCreate)) ?? 'kept';
  }

  /** Creates no sandbox: whoever listens to one while it is deleted must not bring it back. */
  async read(): Promise<Missed> {
    const read = this.#position && (await this.#append(this.#position, []));
    if (read === 'kept') return { entries: [] };
    // A sandbox that does not exist looks like a new one.
    return read ?? (await this.#enter(false)) ?? { snapshot: this.#opening.initial(), entries: [] };
  }

  /** Folds the log if it has grown. After a failure, it still has its entries, and asks again later. */
  settled(state: State, evidence: Evidence): void {
    if (!this.#isFull || this.#position === undefined) return;
    this.#isFull = false;
    this.#fold(this.#position, state, evidence).catch(() => {});
  }

  /** Leaves the connection open: other keepers share it. */
  async close(): Promise<void> {}

  /** Appends entries, or only reads without them; undefined if the log is gone. */
  async #append(from: Position, entries: readonly Entry[]): Promise<'kept' | Missed | undefined> {
    const { redis } = this.#directory;
    const { losses } = redis;
    const token = drawId();
    const text = entries.length === 0 ? '' : writeEntries(entries, this.#loading);
    let reply = await this.#ask(from, token, text);
    for (let wait = 1; reply.kind === 'busy'; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      await sleep(Math.random() * wait);
      reply = await this.#ask(from, token, text);
    }
    if (reply.kind === 'gone') {
      this.#lost = from.incarnation;
      this.#position = undefined;
      this.#onGone();
      return undefined;
    }
    if (reply.kind === 'missed') {
      if (reply.snapshot === undefined || redis.losses === losses) return this.#follow(reply);
      const why = 'it is not known whether Redis took the change before it was cut off';
      throw new KeeperError(why, { isMaybeDone: true });
    }
    this.#position = reply.position;
    this.#isFull ||= reply.isFull;
    return 'kept';
  }

  /** Finds or creates the sandbox, and reads its state; undefined if there is none. */
  async #enter(mayCreate: boolean): Promise<Missed | undefined> {
    for (;;) {
      const found = await this.#directory.find(this.#opening.name);
      let incarnation = found === this.#lost ? undefined : found;
      if (mayCreate) incarnation ??= await this.#directory.enter(this.#opening, this.#lost);
      if (incarnation === undefined) return undefined;
      const reply = await this.#ask({ incarnation, at: -1, token: '' }, drawId(), '');
      if (reply.kind === 'missed') return this.#follow(reply);
      // It was deleted since.
      this.#lost = incarnation;
    }
  }

  async #follow({ position, texts, snapshot }: Reply): Promise<Missed> {
    const restored = snapshot && (await readSnapshot(snapshot, this.#loading));
    const entries: Entry[] = [];
    for (const text of texts) entries.push(...(await readEntries(text, this.#loading)));
    this.#position = position;
    return { ...(restored && { snapshot: restored }), entries };
  }

  async #ask({ incarnation, at, token }: Position, own: string, text: string): Promise<Reply> {
    const keys = keysOf(this.#opening.name, incarnation);
    const args = [String(at), token, own, SERVER, text];
    const reply = await this.#directory.redis.eval(APPEND, keys, args);
    if (!Array.isArray(reply)) throw new TypeError(`Redis returned ${typeof reply}, not a list`);
    const [kind, latest, by, full, texts, snapshot] = reply;
    const position = { incarnation, at: Number(latest), token: String(by) };
    return { kind, position, isFull: full === 1, texts, snapshot };
  }

  async #fold({ incarnation, at, token }: Position, state: State, evidence: Evidence) {
    const text = writeSnapshot({ state, evidence: evidence.state }, this.#loading);
    const keys = keysOf(this.#opening.name, incarnation);
    await this.#directory.redis.eval(FOLD, keys, [String(at), token, text]);
  }
}

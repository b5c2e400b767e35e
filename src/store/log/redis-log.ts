import {
  type Appended,
  type ChangeLog,
  LogError,
  type Missed,
  type Position,
} from './change-log.ts';
import type { RedisConnection } from './redis-connection.ts';
import { type AppendReply, type Message, readAppendReply } from './redis-replies.ts';
import { APPEND, CREATE, FOLD, REMOVE } from './redis-scripts.ts';

/** How many messages a reply holds at most. */
const PAGE = 500;

/** Seconds that a new log lives unless it is read. */
const UNREAD = '60';

/** How the entries and snapshots of a log are written. */
export interface LogTexts<Entry, Snapshot> {
  readonly writeEntry: (entry: Entry) => string;
  readonly readEntry: (text: string) => Entry | Promise<Entry>;
  readonly writeSnapshot: (snapshot: Snapshot) => string | Promise<string>;
  readonly readSnapshot: (text: string) => Snapshot | Promise<Snapshot>;
  /** Whether an entry stays readable for some time. */
  readonly isLasting: (entry: Entry) => boolean;
}

/** The log was removed, or Redis has lost it. */
export class LogGoneError extends Error {
  override readonly name = 'LogGoneError';
}

/** A log in Redis. Any number of servers append to it. */
export class RedisLog<Entry, Snapshot> implements ChangeLog<Entry, Snapshot> {
  readonly isShared = true;
  readonly #redis: RedisConnection;
  readonly #keys: readonly string[];
  readonly #texts: LogTexts<Entry, Snapshot>;
  readonly #keep: number;
  /** The latest position that this server knows, and the token of the append that led to it. */
  #position: Position = 0;
  #token = '';
  #isFoldDue = false;
  /** The positions of the latest entries that are not lasting. */
  #others: Position[] = [];

  /**
   * @param name no other log has it, or will ever have it
   * @param keep how many lasting entries before a snapshot stay readable
   */
  constructor(
    redis: RedisConnection,
    name: string,
    texts: LogTexts<Entry, Snapshot>,
    keep: number,
  ) {
    this.#redis = redis;
    this.#keys = keysOf(name);
    this.#texts = texts;
    this.#keep = keep;
  }

  get isFoldDue(): boolean {
    return this.#isFoldDue;
  }

  /** Creates the log with its first snapshot. It expires if it is not read within a minute. */
  async create(snapshot: Snapshot): Promise<void> {
    const text = await this.#texts.writeSnapshot(snapshot);
    await this.#redis.eval(CREATE, this.#keys, [newToken(), text, UNREAD]);
  }

  /** @throws LogError, or LogGoneError if there is no such log */
  async append(after: Position, entries: readonly Entry[]): Promise<Appended<Entry, Snapshot>> {
    const token = newToken();
    const texts = entries.map((entry) => this.#texts.writeEntry(entry));
    const { losses } = this.#redis;
    const reply = await this.#ask(after, token, texts);
    if (reply.kind === 'kept') {
      this.#isFoldDue ||= reply.isFull;
      if (entries.length > 0) this.#know(reply.position, token);
      this.#note(reply.position - entries.length, entries);
      return { kept: true, position: reply.position };
    }
    if (reply.kind === 'busy') return { kept: false, missed: { entries: [], position: after } };
    // An attempt succeeded although its connection was lost. Others have appended since.
    const own = reply.messages.findLast((message) => message.token === token);
    if (own !== undefined) {
      this.#know(own.position, token);
      this.#note(own.position - entries.length, entries);
      return { kept: true, position: own.position };
    }
    if (reply.kind === 'reset' && this.#redis.losses > losses) {
      throw new LogError('it is not known whether Redis took the change before it was cut off', {
        maybeDone: true,
      });
    }
    return { kept: false, missed: await this.#missed(reply) };
  }

  /** @throws LogError, or LogGoneError if there is no such log */
  async read(after: Position): Promise<Missed<Entry, Snapshot>> {
    const reply = await this.#ask(after, newToken(), []);
    if (reply.kind === 'behind' || reply.kind === 'reset') return await this.#missed(reply);
    return { entries: [], position: after };
  }

  async fold(at: Position, snapshot: Snapshot): Promise<void> {
    this.#isFoldDue = false;
    const token = at === this.#position ? this.#token : '';
    const text = await this.#texts.writeSnapshot(snapshot);
    const args = [String(at), token, text, String(this.#trimTo(at))];
    await this.#redis.eval(FOLD, this.#keys, args);
  }

  /** Removes the log of a name, for every server. False if it is gone already. */
  static async remove(redis: RedisConnection, name: string): Promise<boolean> {
    const { losses } = redis;
    if ((await redis.eval(REMOVE, keysOf(name), [])) !== 0) return true;
    if (redis.losses === losses) return false;
    // An attempt whose reply was lost may have removed it.
    const why = 'the sandbox is gone; it is not known whether this request deleted it';
    throw new LogError(why, { maybeDone: true });
  }

  /** Leaves the connection open: other logs share it. */
  async close(): Promise<void> {}

  async #ask(
    after: Position,
    token: string,
    entries: readonly string[],
  ): Promise<Exclude<AppendReply, { readonly kind: 'gone' }>> {
    const known = after === this.#position ? this.#token : '';
    const args = [String(after), known, token, String(PAGE), SERVER, ...entries];
    const reply = readAppendReply(await this.#redis.eval(APPEND, this.#keys, args));
    if (reply.kind === 'gone') throw new LogGoneError('the log is gone');
    return reply;
  }

  /** Reads the pages that follow a first one. */
  async #missed(
    first: Extract<AppendReply, { readonly kind: 'behind' | 'reset' }>,
  ): Promise<Missed<Entry, Snapshot>> {
    const messages: Message[] = [...first.messages];
    const folded = first.kind === 'reset' ? first.folded : 0;
    if (first.kind === 'reset') this.#others = [];
    this.#know(messages.at(-1)?.position ?? folded, messages.at(-1)?.token ?? '');
    for (let page = messages.length; page === PAGE; ) {
      const reply = await this.#ask(this.#position, newToken(), []);
      // It was trimmed meanwhile.
      if (reply.kind === 'reset') return this.#missed(reply);
      if (reply.kind !== 'behind') break;
      messages.push(...reply.messages);
      page = reply.messages.length;
      this.#know(messages.at(-1)?.position ?? 0, messages.at(-1)?.token ?? '');
    }
    const earlier: Entry[] = [];
    const entries: Entry[] = [];
    for (const { position, entries: texts } of messages) {
      const read: Entry[] = [];
      for (const text of texts) read.push(await this.#texts.readEntry(text));
      this.#note(position - read.length, read);
      (position <= folded ? earlier : entries).push(...read);
    }
    const position = this.#position;
    if (first.kind === 'behind') return { entries, position };
    return { snapshot: await this.#texts.readSnapshot(first.snapshot), earlier, entries, position };
  }

  /** Remembers which entries after a position are not lasting. */
  #note(after: Position, entries: readonly Entry[]): void {
    for (const [index, entry] of entries.entries()) {
      if (!this.#texts.isLasting(entry)) this.#others.push(after + index + 1);
    }
  }

  /** The position after which as many lasting entries follow as stay readable. */
  #trimTo(at: Position): Position {
    let from = at - this.#keep;
    for (const other of this.#others.toReversed()) {
      if (other <= from) break;
      if (other <= at) from -= 1;
    }
    this.#others = this.#others.filter((other) => other > from);
    return from;
  }

  #know(position: Position, token: string): void {
    this.#position = position;
    this.#token = token;
  }
}

function keysOf(name: string): readonly string[] {
  // The part in braces decides on the node of a cluster.
  return ['head', 'entries', 'snapshot'].map((part) => `petstore-mock:{${name}}:${part}`);
}

/** Distinguishes this server from all others. */
const SERVER = Buffer.from(crypto.getRandomValues(new Uint8Array(9))).toString('base64url');

let tokens = 0;

/** Names an append, among those of all servers. */
function newToken(): string {
  tokens += 1;
  return `${SERVER}-${tokens}`;
}

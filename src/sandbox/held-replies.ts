import type { HoldEvent } from '../evidence/holds.ts';
import type { Hold, HoldEnd } from '../scenario/hold.ts';

/** What became of replies that were held back. */
export type HoldEndings = Extract<HoldEvent, { over: unknown }>['over'];

/** A reply that is ready to be sent. */
export interface ReadyReply {
  readonly send: () => void;
  /** Calls back if the client disconnects. Returns what cancels that. */
  readonly whenLeft: (act: () => void) => () => void;
}

/** The held replies of all sandboxes of a server. */
export interface HeldShare {
  /** How long to hold a reply back, in milliseconds. */
  readonly maxHold: number;
  /** Those of each sandbox that has some. */
  readonly held: Set<HeldReplies>;
  /** Whether the server stops: it holds nothing any more. */
  isStopping: boolean;
}

/** What a sandbox does about its held replies. */
interface Holder {
  /** Records what became of replies. Resolves when that is kept, or cannot be. */
  readonly end: (over: HoldEndings) => Promise<void>;
  /** Follows what other servers do. Returns what cancels that. */
  readonly follow: () => () => void;
}

interface HeldReply {
  readonly since: number;
  readonly send: () => void;
  readonly timer: NodeJS.Timeout;
  /** Stops listening for the client. */
  forget: () => void;
}

/** The replies of one sandbox that this server holds back. */
export class HeldReplies {
  readonly #share: HeldShare;
  readonly #holder: Holder;
  /** By the numbers of their exchanges, the oldest first. */
  readonly #replies = new Map<number, HeldReply>();
  #unfollow: (() => void) | undefined;

  constructor(share: HeldShare, holder: Holder) {
    this.#share = share;
    this.#holder = holder;
  }

  /** Sends a reply once it is released. */
  hold({ exchange, due }: Hold, { send, whenLeft }: ReadyReply): void {
    const end = (why: HoldEnd) => void this.end(why, [exchange]);
    const timer = setTimeout(end, this.#share.maxHold, 'expired').unref();
    const reply: HeldReply = { since: performance.now(), send, timer, forget() {} };
    this.#replies.set(exchange, reply);
    this.#share.held.add(this);
    this.#unfollow ??= this.#holder.follow();
    reply.forget = whenLeft(() => end('left'));
    // A log can take a request and its release together.
    const why = this.#share.isStopping ? 'stopped' : due;
    if (why !== undefined) end(why);
  }

  /** Lets replies go, all by default, in this order. Resolves when the journal says so. */
  async end(why: HoldEnd, exchanges: Iterable<number> = this.#replies.keys()): Promise<void> {
    const over: HoldEndings[number][] = [];
    for (const exchange of [...exchanges]) {
      const reply = this.#replies.get(exchange);
      if (reply === undefined) continue;
      this.#replies.delete(exchange);
      clearTimeout(reply.timer);
      reply.forget();
      if (why !== 'left') reply.send();
      over.push({ exchange, ended: why, lasted: performance.now() - reply.since });
    }
    if (this.#replies.size === 0) {
      this.#share.held.delete(this);
      this.#unfollow?.();
      this.#unfollow = undefined;
    }
    if (over.length > 0) await this.#holder.end(over);
  }
}

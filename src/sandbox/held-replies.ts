import type { HeldExchange, HoldEvent } from '../evidence/holds.ts';
import type { Hold, HoldEnd } from '../scenario/hold.ts';

/** What became of replies that were held back. */
export type HoldEndings = Extract<HoldEvent, { over: unknown }>['over'];

/** The sandbox of a held reply. */
export interface Holder {
  /** Records what became of replies. Resolves when that is kept, or cannot be. */
  endHolds(over: HoldEndings): Promise<void>;
  /** Follows what other servers do, as long as there is a listener. */
  onArrival(listener: () => void): () => void;
}

/** A reply that is ready to be sent. */
export interface ReadyReply {
  readonly send: () => void;
  /** Calls back if the client disconnects. Returns what cancels that. */
  readonly whenLeft: (act: () => void) => () => void;
}

interface PendingReply {
  readonly holder: Holder;
  readonly hold: Hold;
  readonly since: number;
  readonly send: () => void;
  /** Stops listening for the client. */
  forget: () => void;
}

/** The held replies of a sandbox by the numbers of their exchanges. */
interface Group {
  readonly replies: Map<number, PendingReply>;
  readonly unfollow: () => void;
}

/** The replies of one server that rules hold back, in all its sandboxes. One timer serves all of them. */
export class HeldReplies {
  readonly #longest: number;
  /** The oldest first. */
  readonly #replies = new Set<PendingReply>();
  readonly #groups = new Map<Holder, Group>();
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** @param longest how long to hold a reply back, in milliseconds */
  constructor(longest: number) {
    this.#longest = longest;
  }

  /** Sends a reply once it is released. */
  hold(holder: Holder, hold: Hold, { send, whenLeft }: ReadyReply): void {
    const reply: PendingReply = { holder, hold, since: performance.now(), send, forget() {} };
    this.#replies.add(reply);
    this.#groupOf(holder).replies.set(hold.exchange, reply);
    // A log can take a request and its release together.
    const due = this.#isStopped ? 'stopped' : hold.due;
    if (due !== undefined) {
      void this.#end(holder, [reply], due);
      return;
    }
    reply.forget = whenLeft(() => void this.#end(holder, [reply], 'left'));
    this.#timer ??= setTimeout(() => this.#expire(), this.#longest).unref();
  }

  /** Sends those of the replies that are due and that this server holds, in this order. */
  release(holder: Holder, exchanges: readonly HeldExchange[]): void {
    const { replies } = this.#groups.get(holder) ?? {};
    if (replies === undefined) return;
    const due = exchanges.filter(({ hold }) => hold.due !== undefined);
    const own = due.flatMap(({ number }) => replies.get(number) ?? []);
    void this.#end(holder, own, due[0]?.hold.due ?? 'released');
  }

  /** Sends all replies of a sandbox. */
  async endAll(holder: Holder, why: HoldEnd): Promise<void> {
    await this.#end(holder, [...(this.#groups.get(holder)?.replies.values() ?? [])], why);
  }

  /** Sends all replies, and later ones at once. Resolves when their journals say so. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#groups.keys()].map((holder) => this.endAll(holder, 'stopped')));
  }

  #groupOf(holder: Holder): Group {
    const known = this.#groups.get(holder);
    if (known !== undefined) return known;
    const group = { replies: new Map(), unfollow: holder.onArrival(() => {}) };
    this.#groups.set(holder, group);
    return group;
  }

  async #end(holder: Holder, replies: readonly PendingReply[], why: HoldEnd): Promise<void> {
    const group = this.#groups.get(holder);
    if (group === undefined || replies.length === 0) return;
    const now = performance.now();
    const over = replies.map((reply) => {
      const { hold, since, send, forget } = reply;
      this.#replies.delete(reply);
      group.replies.delete(hold.exchange);
      forget();
      if (why !== 'left') send();
      return { exchange: hold.exchange, ended: why, lasted: now - since };
    });
    if (group.replies.size === 0) {
      this.#groups.delete(holder);
      group.unfollow();
    }
    await holder.endHolds(over);
  }

  #expire(): void {
    this.#timer = undefined;
    for (const reply of this.#replies) {
      const left = this.#longest - (performance.now() - reply.since);
      if (left > 0) {
        this.#timer = setTimeout(() => this.#expire(), left).unref();
        break;
      }
      void this.#end(reply.holder, [reply], 'expired');
    }
  }
}

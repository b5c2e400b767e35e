import type { Reply } from '../service/reply.ts';
import { versionOf } from '../store/store.ts';
import type { Seen } from './exchange.ts';
import { retryAfter } from './findings-checks.ts';
import type { Witnessed } from './witnessed.ts';

/** How long a refusal is remembered, in milliseconds of real time. */
const RETRY_WITHIN = 60_000;
const MOST_PAUSES = 16;

/** Connections remembered that got the same refusal. */
const MOST_CONNECTIONS = 16;

/** Client errors that can pass by themselves. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** Whether asking again would get the same reply. */
export function isFinal({ status, basis }: Reply): boolean {
  return status >= 400 && status < 500 && !TEMPORARY.has(status) && basis.kind !== 'forced';
}

/** A reply on its way to a client: when it leaves, by real time, and where to. */
interface Sent {
  readonly at: number;
  /** Held weakly, since the connection may be gone long before. */
  readonly connection: WeakRef<object>;
}

/** A refusal that the same call would get again. */
interface Refusal {
  readonly call: string;
  readonly status: number;
  /** Each time it was sent, one for each connection: a pool can repeat a call by any of its own. */
  readonly sent: readonly Sent[];
  readonly version: number;
  readonly world: object;
}

/** How long a call was asked to wait. */
interface Pause {
  /** By the sandbox's clock. */
  readonly until: number;
  readonly seconds: number;
  readonly sent: Sent;
}

/** What one sandbox's client was refused or asked to wait for, and whether it heeds that. */
export class Retries {
  #refused: Refusal | undefined;
  readonly #pauses = new Map<string, Pause>();

  /** Whether there is nothing that a call could be a retry of. */
  get isEmpty(): boolean {
    return this.#refused === undefined && this.#pauses.size === 0;
  }

  /** Takes in a call and its reply, which says whether the same call may follow. */
  take(witnessed: Witnessed): { pointless: boolean; early: Pause['seconds'] | undefined } {
    const { reply, world, delay } = witnessed;
    const call = markOf(witnessed);
    const now = performance.now();
    const sent = { at: now + delay, connection: new WeakRef(witnessed.seen.connection) };
    const before = this.#sameRefusals(witnessed, call, now);
    const pointless = before.some((it) => knows(witnessed.seen, it, now));
    const others = before.filter((it) => it.connection.deref() !== witnessed.seen.connection);
    this.#refused =
      reply !== undefined && isFinal(reply)
        ? {
            call,
            status: reply.status,
            sent: [sent, ...others.slice(0, MOST_CONNECTIONS - 1)],
            version: versionOf(world.store),
            world,
          }
        : undefined;
    return { pointless, early: this.#checkPause(witnessed, call, sent, now) };
  }

  /** When and where the same call got the same refusal, from the same state. */
  #sameRefusals({ reply, world }: Witnessed, call: string, now: number): readonly Sent[] {
    const refused = this.#refused;
    const isSame =
      refused !== undefined &&
      refused.call === call &&
      refused.status === reply?.status &&
      refused.version === versionOf(world.store) &&
      refused.world === world;
    return isSame ? refused.sent.filter(({ at }) => now - at < RETRY_WITHIN) : [];
  }

  /** @returns the seconds that were asked for, where the call did not wait for them */
  #checkPause(
    { seen, reply, world }: Witnessed,
    call: string,
    sent: Sent,
    now: number,
  ): number | undefined {
    const clock = world.clock.now();
    const pause = this.#pauses.get(call);
    // Whoever waited by either clock has waited.
    const waited =
      pause === undefined || clock >= pause.until || now >= pause.sent.at + pause.seconds * 1000;
    const early = waited || !knows(seen, pause.sent, now) ? undefined : pause.seconds;
    this.#pauses.delete(call);
    const seconds = retryAfter(reply, clock);
    if (seconds !== undefined) this.#pause(call, { until: clock + seconds * 1000, seconds, sent });
    return early;
  }

  #pause(call: string, pause: Pause): void {
    if (this.#pauses.size >= MOST_PAUSES) {
      const [oldest = ''] = this.#pauses.keys();
      this.#pauses.delete(oldest);
    }
    this.#pauses.set(call, pause);
  }
}

/**
 * Whether a call that comes now was made with a reply at hand: by the same connection, or by one that
 * was opened later. By any other it may have been made at the same time.
 */
function knows({ connection, connectedAt = 0 }: Seen, sent: Sent, now: number): boolean {
  return now >= sent.at && (sent.connection.deref() === connection || connectedAt > sent.at);
}

/**
 * What tells two calls apart, short however long they are. It is no secret and guards nothing: whoever
 * makes two calls collide is told of a retry of their own that was none.
 */
export function markOf({ seen, call }: Pick<Witnessed, 'seen' | 'call'>): string {
  const { authorization = '', body } = call;
  const mark = new Mark();
  mark.add(Buffer.from(`${seen.method} ${seen.target}\n${authorization}\n${body.kind}\n`));
  if (body.kind === 'bytes') mark.add(body.bytes);
  return mark.text;
}

/** A hash of 64 bits, by two lanes of 32 with multipliers of their own. */
class Mark {
  #one = 0xdeadbeef;
  #other = 0x41c6ce57;
  #length = 0;

  add(bytes: Uint8Array): void {
    let [one, other] = [this.#one, this.#other];
    for (const byte of bytes) {
      one = Math.imul(one ^ byte, 2_654_435_761);
      one ^= one >>> 15;
      other = Math.imul(other ^ byte, 1_597_334_677);
      other ^= other >>> 13;
    }
    this.#one = one;
    this.#other = other;
    this.#length += bytes.length;
  }

  get text(): string {
    return [this.#length, this.#one >>> 0, this.#other >>> 0].map((it) => it.toString(36)).join();
  }
}

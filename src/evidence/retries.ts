import type { Reply } from '../service/reply.ts';
import { turnTime } from '../service/turn-time.ts';
import { versionOf } from '../store/store.ts';
import { type Carrier, OPENED, type Seen, type Witnessed } from './exchange.ts';
import { retryAfter } from './findings-checks.ts';

/** How long a refusal is remembered, in milliseconds of real time. */
const RETRY_WITHIN = 60_000;
const MOST_PAUSES = 16;

/** Client errors that can be temporary. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** Whether asking again would get the same reply. */
export function isFinal({ status, basis }: Reply): boolean {
  return status >= 400 && status < 500 && !TEMPORARY.has(status) && basis.kind !== 'forced';
}

/** A reply that a client may have got, on one connection or several. */
interface Sent {
  /** When it was first sent, by `turnTime().steady`. */
  readonly leftAt: number;
  /** How long the server had idled by then, in milliseconds. */
  readonly idle: number;
  /** When it was sent on each connection, by `turnTime().steady`. */
  readonly on: WeakMap<Carrier, number>;
}

/** A refusal that the same call would get again. */
interface Refusal {
  readonly mark: string;
  readonly status: number;
  readonly version: number;
  readonly world: object;
  readonly sent: Sent;
  /** When it was last sent, by `performance.now()`. */
  readonly latest: number;
}

/** How long a call was asked to wait. */
interface Pause {
  /** By the sandbox's clock. */
  readonly until: number;
  readonly seconds: number;
  readonly sent: Sent;
}

/**
 * Remembers the refusals and the requested pauses of one sandbox, to find retries that ignore them.
 */
export class Retries {
  #refused: Refusal | undefined;
  readonly #pauses = new Map<string, Pause>();

  /** Whether no call can be a retry yet. */
  get isEmpty(): boolean {
    return this.#refused === undefined && this.#pauses.size === 0;
  }

  /** Records a call and its reply. */
  take(witnessed: Witnessed): { pointless: boolean; early: Pause['seconds'] | undefined } {
    const { reply, world, delay, seen } = witnessed;
    const mark = markOf(witnessed);
    const before = this.#sameRefusal(witnessed, mark);
    const pointless = before !== undefined && isKnown(before.sent, seen);
    const early = this.#checkPause(witnessed, mark);
    const sent = before?.sent ?? leaving(delay);
    sent.on.set(seen.connection, turnTime().steady + delay);
    this.#refused =
      reply !== undefined && isFinal(reply)
        ? {
            mark,
            status: reply.status,
            version: versionOf(world.store),
            world,
            sent,
            latest: performance.now(),
          }
        : undefined;
    const seconds = retryAfter(reply, world.clock.now());
    if (seconds !== undefined) this.#pause(mark, seconds, sent, world.clock.now());
    return { pointless, early };
  }

  /** The refusal that the same call got before, from the same state. */
  #sameRefusal({ reply, world }: Witnessed, mark: string): Refusal | undefined {
    const refused = this.#refused;
    const isSame =
      refused?.mark === mark &&
      refused.status === reply?.status &&
      refused.version === versionOf(world.store) &&
      refused.world === world &&
      performance.now() - refused.latest < RETRY_WITHIN;
    return isSame ? refused : undefined;
  }

  /** @returns the seconds that were asked for, if the call did not wait for them */
  #checkPause({ seen, world }: Witnessed, mark: string): Pause['seconds'] | undefined {
    const pause = this.#pauses.get(mark);
    this.#pauses.delete(mark);
    if (pause === undefined || !isKnown(pause.sent, seen)) return undefined;
    // Waiting by either clock is enough.
    const waited =
      world.clock.now() >= pause.until ||
      performance.now() >= pause.sent.leftAt + pause.seconds * 1000;
    return waited ? undefined : pause.seconds;
  }

  #pause(mark: string, seconds: number, sent: Sent, now: number): void {
    if (this.#pauses.size >= MOST_PAUSES) {
      const [oldest = ''] = this.#pauses.keys();
      this.#pauses.delete(oldest);
    }
    this.#pauses.set(mark, { until: now + seconds * 1000, seconds, sent });
  }
}

/** Milliseconds of idling that tell a new connection from one that waited in the system's queue. */
const IDLE = 0.05;

/**
 * Whether a client could have read a reply before it made a call. It could on the connection that
 * carried the reply, unless it pipelined the call. Any other connection must have been opened after
 * the reply was sent: connections of parallel calls wait to be accepted, so the server does not
 * idle between them.
 */
function isKnown({ leftAt, idle, on }: Sent, { connection, receivedAt }: Seen): boolean {
  const sentHere = on.get(connection);
  if (sentHere !== undefined) return receivedAt > sentHere;
  return receivedAt >= leftAt && (connection[OPENED] ?? 0) > idle + IDLE;
}

/** A reply that is about to be sent. */
function leaving(delay: number): Sent {
  const leftAt = turnTime().steady + delay;
  return { leftAt, idle: performance.nodeTiming.idleTime, on: new WeakMap() };
}

/** A hash that identifies a call: short, however long the call is. */
export function markOf({ seen, call }: Pick<Witnessed, 'seen' | 'call'>): string {
  const { authorization = '', body } = call;
  // Loaded at the first refusal, to keep the start fast.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const hash = createHash('sha1');
  hash.update(`${seen.method} ${seen.target}\n${authorization}\n${body.kind}\n`);
  if (body.kind === 'bytes') hash.update(body.bytes);
  return hash.digest('base64');
}

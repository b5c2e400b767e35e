import type { Reply } from '../service/reply.ts';
import { turnTime } from '../service/turn-time.ts';
import type { World } from '../service/world.ts';
import { versionOf } from '../store/store.ts';
import type { Attempt } from './evidence-shapes.ts';
import { type Carrier, OPENED, type Seen, type Witnessed } from './exchange.ts';
import { retryAfter } from './findings-checks.ts';

/** How long a refusal is remembered, in milliseconds of real time. */
const RETRY_WITHIN = 60_000;
const MOST_PAUSES = 16;

/** Client errors that can be temporary. */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429]);

/** Whether asking again would get the same reply. */
export function isFinal({ status, basis }: Reply): boolean {
  return (
    status >= 400 &&
    status < 500 &&
    !TEMPORARY.has(status) &&
    (basis.kind === 'documented' || basis.kind === 'assumed')
  );
}

/** A reply that a client may have got, on one connection or several. */
interface Sent {
  /** When it was first sent, by `turnTime().steady`. */
  readonly leftAt: number;
  /** How long this server had idled by then, in milliseconds; undefined if another one sent it. */
  readonly idle: number | undefined;
  /** When it was sent on each connection, by `turnTime().steady`. */
  readonly on: WeakMap<Carrier, number>;
}

/** An attempt, and what it did wrong. */
export interface CheckedAttempt extends Attempt {
  readonly pointless: boolean;
  /** The seconds that the client was asked to wait for and did not. */
  readonly early: number | undefined;
}

/** When and where the reply to an attempt left. */
interface Leaving {
  /** By `turnTime().steady`. */
  readonly leftAt: number;
  /** Undefined if another server sent it. */
  readonly connection?: Carrier | undefined;
}

/** A refusal that the same call would get again. */
interface Refusal {
  readonly attempt: Attempt;
  readonly version: number;
  readonly world: object;
  readonly sent: Sent;
  /** When it was last sent, by `turnTime().steady`. */
  readonly latest: number;
}

/** How long a call was asked to wait. */
interface Pause {
  readonly attempt: Attempt;
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

  /** Checks a call against the replies before it. Changes nothing. */
  check(witnessed: Witnessed): CheckedAttempt {
    const { reply, world, seen, at, delay } = witnessed;
    const mark = markOf(witnessed);
    const before = this.#sameRefusal(mark, reply?.status, world);
    return {
      mark,
      status: reply?.status,
      final: reply !== undefined && isFinal(reply),
      wait: retryAfter(reply, at),
      at,
      leftAt: turnTime().wall + delay,
      pointless: before !== undefined && isKnown(before.sent, seen),
      early: this.#unheeded(mark, witnessed),
    };
  }

  /** Remembers a call and its reply. */
  note(attempt: Attempt, world: World, leaving: Leaving = elsewhere(attempt)): void {
    const { mark, status, final, wait } = attempt;
    const { leftAt: latest, connection } = leaving;
    const sent = this.#sameRefusal(mark, status, world)?.sent ?? sentAt(leaving);
    if (connection !== undefined) sent.on.set(connection, latest);
    const version = versionOf(world.store);
    this.#refused = final ? { attempt, version, world, sent, latest } : undefined;
    this.#pauses.delete(mark);
    if (wait !== undefined) this.#pause({ attempt, seconds: wait, sent });
  }

  /** The attempts that `note` can restore this from, in a world that the last one was made in. */
  attempts(world: World): readonly Attempt[] {
    const refused = this.#refused?.attempt;
    const pauses = [...this.#pauses.values()]
      .filter(({ attempt }) => attempt !== refused)
      .map(({ attempt }) => ({ ...attempt, final: false }));
    const isCurrent = refused && this.#sameRefusal(refused.mark, refused.status, world);
    return refused && isCurrent ? [...pauses, refused] : pauses;
  }

  /** The refusal that the same call got before, from the same state. */
  #sameRefusal(mark: string, status: number | undefined, world: World): Refusal | undefined {
    const refused = this.#refused;
    const isSame =
      refused?.attempt.mark === mark &&
      refused.attempt.status === status &&
      refused.version === versionOf(world.store) &&
      refused.world === world &&
      performance.now() - refused.latest < RETRY_WITHIN;
    return isSame ? refused : undefined;
  }

  /** @returns the seconds that were asked for, if the call did not wait for them */
  #unheeded(mark: string, { seen, at }: Witnessed): Pause['seconds'] | undefined {
    const pause = this.#pauses.get(mark);
    if (pause === undefined || !isKnown(pause.sent, seen)) return undefined;
    const { attempt, seconds, sent } = pause;
    // Waiting by either clock is enough.
    const waited =
      at >= attempt.at + seconds * 1000 || performance.now() >= sent.leftAt + seconds * 1000;
    return waited ? undefined : seconds;
  }

  #pause(pause: Pause): void {
    if (this.#pauses.size >= MOST_PAUSES) {
      const [oldest = ''] = this.#pauses.keys();
      this.#pauses.delete(oldest);
    }
    this.#pauses.set(pause.attempt.mark, pause);
  }
}

/** When an attempt left another server, by the clocks of this one. */
function elsewhere({ leftAt }: Attempt): Leaving {
  const { wall, steady } = turnTime();
  return { leftAt: steady + leftAt - wall };
}

/** Milliseconds of idling that tell a new connection from one that waited in the system's queue. */
const IDLE = 0.05;

/**
 * Whether a client could have read a reply before it made a call. It could on the connection that
 * carried the reply, unless it pipelined the call. Any other connection must have been opened after
 * the reply was sent: connections of parallel calls wait to be accepted, so the server does not
 * idle between them. For a reply of another server, only the time is known.
 */
function isKnown({ leftAt, idle, on }: Sent, { connection, receivedAt }: Seen): boolean {
  const sentHere = on.get(connection);
  if (sentHere !== undefined) return receivedAt > sentHere;
  if (receivedAt < leftAt) return false;
  return idle === undefined || (connection[OPENED] ?? 0) > idle + IDLE;
}

function sentAt({ leftAt, connection }: Leaving): Sent {
  const idle = connection === undefined ? undefined : performance.nodeTiming.idleTime;
  return { leftAt, idle, on: new WeakMap() };
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

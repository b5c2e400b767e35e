import { readCaching } from '../deployment-reply.ts';
import type { CheckTranscript } from './check-transcript.ts';
import { QUESTIONS } from './questions/index.ts';
import type { QuestionName } from './questions/names.ts';
import { isDisputed } from './verdicts.ts';

/** Seconds that a read may be behind a write: one that shows no effect earlier proves nothing. */
const MAX_LAG_S = 15;

/** Seconds for which lists that disagree are read again: most caches that tell no age keep less. */
const MAX_DISPUTE_S = 30;

/** Seconds that a check waits for a cached reply to expire. */
const MAX_CACHED_S = 60;

/** The reads of a check that have to show what was written, or that are compared with others. */
export class WatchedReads {
  readonly #transcript: CheckTranscript;
  /** When the last write was accepted, in milliseconds. */
  #writtenAt = 0;
  /** Since when each read has something to show. */
  readonly #since = new Map<QuestionName, number>();
  /** When a reply first showed what the document prescribes. */
  readonly #shown = new Map<QuestionName, number>();

  constructor(transcript: CheckTranscript) {
    this.#transcript = transcript;
  }

  /** Takes note of the first reply to a question. */
  watch(name: QuestionName): void {
    const { compares, isShown, isAffected } = QUESTIONS[name];
    const write = this.#transcript.all(name).findLast((reply) => reply.isWrite);
    this.#writtenAt = write?.receivedAt ?? this.#writtenAt;
    const since = compares ? this.#transcript.get(name)?.sentAt : this.#writtenAt;
    if (compares ?? isShown ?? isAffected) this.#since.set(name, since ?? 0);
  }

  note(name: QuestionName): void {
    const { receivedAt } = this.#transcript.get(name) ?? {};
    if (receivedAt === undefined || this.isShown(name)) return;
    if (QUESTIONS[name].isShown?.(this.#transcript)) this.#shown.set(name, receivedAt);
  }

  isShown(name: QuestionName): boolean {
    return this.#shown.has(name);
  }

  /** The reads to send again, those with a prescribed effect first. */
  listOpen(): QuestionName[] {
    const names = [...this.#since.keys()];
    const behind = names.filter((name) => this.#isBehind(name));
    const open = names.filter(
      (name) =>
        (this.#lacksEffect(name) || isDisputed(name, this.#transcript)) &&
        !this.#isConclusive(name),
    );
    return [...new Set([...behind, ...open])];
  }

  /** Seconds for which a cache may go on answering as before; 0 if that is too long to wait. */
  cachedFor(name: QuestionName): number {
    const { age, maxAge } = this.#caching(name);
    const left = maxAge - (age ?? this.#elapsed(name)) + 1;
    return maxAge === 0 || left > MAX_CACHED_S ? 0 : left;
  }

  /** Tells the transcript what the reads prove, once none is sent again. */
  conclude(): void {
    const transcript = this.#transcript;
    const stale = [...this.#since.keys()].find((name) => this.#isBehind(name));
    for (const name of this.listOpen()) {
      if (!this.#isFresh(name)) {
        transcript.cached.add(name);
        transcript.doubts.set(name, `a cache may have answered: ${transcript.get(name)}`);
      } else if (stale !== undefined) {
        const why = `a read may not show what was written: ${transcript.get(stale)}`;
        transcript.doubts.set(name, why);
      }
    }
    for (const [name, since] of this.#since) {
      const shownAt = this.#shown.get(name) ?? 0;
      const late = transcript.attempts(name).findLast(({ receivedAt }) => receivedAt < shownAt);
      if (late) transcript.lag = Math.max(transcript.lag, (late.receivedAt - since) / 1000);
      const elapsed = this.#lacksEffect(name) ? this.#elapsed(name) : transcript.waited;
      transcript.waited = Math.min(transcript.waited, elapsed);
    }
  }

  /** Whether a reply does not show what the document says that writes before it did. */
  #isBehind(name: QuestionName): boolean {
    return QUESTIONS[name].isShown?.(this.#transcript) === false && this.#isReadable(name);
  }

  /** Whether a reply does not show what writes before it may have done. */
  #lacksEffect(name: QuestionName): boolean {
    return QUESTIONS[name].isAffected?.(this.#transcript) === false && this.#isReadable(name);
  }

  /** A reply that cannot be read shows nothing. */
  #isReadable(name: QuestionName): boolean {
    const reply = this.#transcript.get(name);
    return reply !== undefined && !(reply.accepted && !(reply.records ?? reply.record));
  }

  /** Whether no later read can show more: it was sent late enough, and after every prescribed effect. */
  #isConclusive(name: QuestionName): boolean {
    const isCompared = QUESTIONS[name].compares !== undefined;
    const enough = isCompared ? MAX_DISPUTE_S : MAX_LAG_S;
    if (this.#elapsed(name) < enough || !this.#isFresh(name)) return false;
    if (isCompared) return true;
    const { sentAt = 0 } = this.#transcript.get(name) ?? {};
    return [...this.#since.keys()].every((other) => {
      const isPrescribed = other !== name && QUESTIONS[other].isShown !== undefined;
      return !isPrescribed || (this.#shown.get(other) ?? sentAt) < sentAt;
    });
  }

  /** Whether no cache can have made a reply before the writes that it has to show. */
  #isFresh(name: QuestionName): boolean {
    const { age, maxAge } = this.#caching(name);
    return this.#elapsed(name) >= (age === undefined ? maxAge : age + 1);
  }

  #caching(name: QuestionName) {
    return readCaching(this.#transcript.get(name) ?? { headers: [] });
  }

  /** Seconds from the last write, or from the first attempt at a comparison, until a read was sent. */
  #elapsed(name: QuestionName): number {
    const { sentAt = 0 } = this.#transcript.get(name) ?? {};
    const isCompared = QUESTIONS[name].compares !== undefined;
    return (sentAt - (isCompared ? (this.#since.get(name) ?? 0) : this.#writtenAt)) / 1000;
  }
}

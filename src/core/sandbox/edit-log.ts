import type { CollectionName } from '../contract/records.ts';
import { LIMITS } from '../limits.ts';
import { isMoved } from '../service/clock.ts';
import { measureChanges } from '../store/merge.ts';
import type { Counters, State } from './state.ts';

export interface EditText {
  /** What was changed, such as `moved the clock by +30 days`. */
  readonly what: string;
  /** Who made the change, such as `ctl`. */
  readonly by: string;
  /** Whether the edit takes back the one before. */
  readonly isUndo?: boolean | undefined;
}

export interface Edit extends Omit<EditText, 'isUndo'> {
  /** Counted from 1 over the life of the sandbox. */
  readonly number: number;
  readonly after: number;
  /** The time on the sandbox's clock, in milliseconds since 1970. */
  readonly at: number;
  readonly clockMoved: true | undefined;
  /** How many records of each collection the edit changed. */
  readonly changed: Readonly<Record<CollectionName, number>>;
  readonly isUndone: boolean;
}

export function changesNoRecord({ changed }: Edit): boolean {
  return Object.values(changed).every((count) => count === 0);
}

interface KeptEdit {
  edit: Edit;
  /** The state to go back to; undefined once forgotten, and if the edit is undone. */
  before: State | undefined;
  /** The counters after the edit, to know which of them later calls have changed. */
  readonly counters: Counters;
  /** How many later calls have changed the store. */
  laterCalls: number;
  /** Counted only once another edit follows, so that the latest edit can always be undone. */
  bytes: number;
}

export interface LastEdit extends Readonly<KeptEdit> {
  readonly before: State;
}

const MAX_EDITS = 1000;
const EDIT_BYTES = 1024;

/** The edits that the control API made in a sandbox, and the states to which an undo goes back. */
export class EditLog {
  readonly #kept: KeptEdit[] = [];
  #count = 0;

  list(): readonly Edit[] {
    return this.#kept.map(({ edit }) => edit);
  }

  get bytes(): number {
    return this.#kept.slice(0, -1).reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** @returns by how many bytes that reduces the memory */
  clear(): number {
    const { bytes } = this;
    this.#kept.length = 0;
    return bytes;
  }

  /** The edit that an undo would take back, if the state before it is still remembered. */
  last(): LastEdit | undefined {
    const last = this.#latest();
    return last?.before && { ...last, before: last.before };
  }

  #latest(): KeptEdit | undefined {
    return this.#kept.findLast(({ edit }) => !edit.isUndone);
  }

  noteCall(): void {
    const latest = this.#latest();
    if (latest !== undefined) latest.laterCalls += 1;
  }

  /**
   * Adds an edit and the state before it, or marks the latest edit as undone.
   *
   * @param exchange the number of the last exchange before the edit
   * @returns by how many bytes the counted memory grows
   */
  add(
    { what, by, isUndo = false }: EditText,
    at: number,
    exchange: number,
    before: State,
    after: State,
  ): number {
    const counted = this.bytes;
    if (isUndo) this.#noteUndone();
    const { changed, bytes } = measureChanges(before.store, after.store);
    const clockMoved = isMoved(after.clock);
    this.#count += 1;
    const number = this.#count;
    this.#kept.push({
      edit: { number, what, by, at, clockMoved, after: exchange, changed, isUndone: isUndo },
      before: isUndo ? undefined : before,
      counters: after.counters,
      laterCalls: 0,
      bytes: isUndo ? EDIT_BYTES : EDIT_BYTES + bytes + countSettings(before, after),
    });
    if (this.#kept.length > MAX_EDITS) this.#kept.shift();
    return this.bytes - counted;
  }

  #noteUndone(): void {
    const undone = this.#latest();
    if (undone === undefined) return;
    undone.edit = { ...undone.edit, isUndone: true };
    undone.before = undefined;
    undone.bytes = EDIT_BYTES;
    const earlier = this.#latest();
    // The changes of these calls stay until the earlier edit is undone.
    if (earlier !== undefined && changesNoRecord(undone.edit))
      earlier.laterCalls += undone.laterCalls;
  }

  /**
   * Forgets the oldest remembered state, unless the journal's oldest exchange came before it.
   *
   * @returns by how many bytes that reduces the memory
   */
  forgetOldest(exchange = Number.POSITIVE_INFINITY): number {
    const oldest = this.#kept.slice(0, -1).find(({ bytes }) => bytes > 0);
    if (oldest === undefined || exchange <= oldest.edit.after) return 0;
    const { bytes } = oldest;
    oldest.before = undefined;
    oldest.bytes = 0;
    return bytes;
  }

  /** @returns by how many bytes that reduces the memory */
  forgetStates(): number {
    const counted = this.bytes;
    for (const known of this.#kept) {
      known.before = undefined;
      known.bytes = Math.min(known.bytes, EDIT_BYTES);
    }
    return counted - this.bytes;
  }
}

function countSettings(before: State, after: State): number {
  const isSame =
    before.scenarios === after.scenarios && before.settings.active === after.settings.active;
  return isSame ? 0 : LIMITS.jsonText;
}

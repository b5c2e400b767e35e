import type { Work } from '../work.ts';
import type { Base } from './base.ts';

/** An index under construction. */
interface Draft<I> {
  readonly index: I;
  /** Adds the record at a position. Called once for each, in ascending order. */
  readonly add: (position: number) => void;
}

/** Positions that are indexed in one step. */
const STEP = 256;

/**
 * Returns the work that builds an index of a base. A base never changes, so each index is built once
 * and serves every fork and sandbox. Work that starts while other work builds the same index
 * continues where that one is.
 */
export function baseIndex<R, I>(draftOf: (base: Base<R>) => Draft<I>): (base: Base<R>) => Work<I> {
  const drafts = new WeakMap<Base<R>, Draft<I> & { size: number }>();
  return function* indexing(base) {
    const draft = drafts.get(base) ?? { ...draftOf(base), size: 0 };
    drafts.set(base, draft);
    while (draft.size < base.size) {
      const end = Math.min(draft.size + STEP, base.size);
      for (; draft.size < end; draft.size += 1) draft.add(draft.size);
      yield;
    }
    return draft.index;
  };
}

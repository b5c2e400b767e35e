/** Records by ascending id, some of which may be missing. */
export interface Slots<R> {
  readonly size: number;
  at(slot: number): R | undefined;
  idAt(slot: number): bigint;
}

/** Makes slots of records by ascending id. */
export function slotsOf<R>(records: readonly R[], idOf: (record: R) => bigint): Slots<R> {
  return {
    size: records.length,
    at: (slot) => records[slot],
    idAt: (slot) => {
      const record = records[slot];
      if (record === undefined) throw new RangeError(`no record in slot ${slot}`);
      return idOf(record);
    },
  };
}

/**
 * Merges the records of two sources by id.
 *
 * @param step 1 for ascending ids, -1 for descending ones
 * @param from the id after which to start; undefined for all records
 */
export function* inOrder<R>(
  one: Slots<R>,
  other: Slots<R>,
  step: 1 | -1,
  from?: bigint,
): Generator<R> {
  let slot = startOf(one, step, from);
  let beside = startOf(other, step, from);
  for (;;) {
    const inOne = slot >= 0 && slot < one.size;
    const inOther = beside >= 0 && beside < other.size;
    if (!inOne && !inOther) return;
    const takesOne = !inOther || (inOne && one.idAt(slot) < other.idAt(beside) === (step === 1));
    const record = takesOne ? one.at(slot) : other.at(beside);
    if (takesOne) slot += step;
    else beside += step;
    if (record !== undefined) yield record;
  }
}

function startOf<R>({ size, idAt }: Slots<R>, step: 1 | -1, from: bigint | undefined): number {
  if (step === 1) return from === undefined ? 0 : lowerBound(size, idAt, from + 1n);
  return (from === undefined ? size : lowerBound(size, idAt, from)) - 1;
}

/** The first of `size` ascending ids that is not below `id`. */
export function lowerBound(size: number, idAt: (position: number) => bigint, id: bigint): number {
  let low = 0;
  let high = size;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (idAt(middle) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

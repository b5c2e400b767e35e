import { lowerBound } from './in-order.ts';

/**
 * The records that a collection starts from, by ascending id. They never change and all forks share
 * them. A base holds the records of a fixture, or makes each one on demand.
 */
export interface Base<R> {
  readonly size: number;
  /** The record at a position from 0 to size - 1. */
  at(position: number): R;
  idAt(position: number): bigint;
  /** The `petId` of the record at a position, if that is faster than the whole record. */
  readonly petIdAt?: ((position: number) => bigint | undefined) | undefined;
  /** The same for its `status`. */
  readonly statusAt?: ((position: number) => string | undefined) | undefined;
  /** The number of changes that reading a record applies; 0 by default. */
  readonly layers?: number;
}

/** Some records of a collection: an index of the base, and a test for changed records. */
export interface Subset<R> {
  /** Positions in the base, ascending. */
  readonly positions: ArrayLike<number>;
  readonly includes: (record: R) => boolean;
}

/** The position of an id in a base, or -1. */
export function positionIn<R>(base: Base<R>, id: bigint): number {
  if (base.size === 0 || id > base.idAt(base.size - 1)) return -1;
  // Ids usually count up without gaps.
  const guess = Number(id) - Number(base.idAt(0));
  if (guess >= 0 && guess < base.size && base.idAt(guess) === id) return guess;
  const position = firstNotBelow(base, id);
  return position < base.size && base.idAt(position) === id ? position : -1;
}

/** The first position in a base whose id is not below `id`. */
export function firstNotBelow<R>({ size, idAt }: Base<R>, id: bigint): number {
  return size === 0 || id > idAt(size - 1) ? size : lowerBound(size, idAt, id);
}

/** Makes a base of records in any order. Their ids must be unique. */
export function baseOf<R>(records: readonly R[], idOf: (record: R) => bigint): Base<R> {
  const sorted = records.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  const at = (position: number): R => sorted[position] ?? nothingAt(position);
  return { size: sorted.length, at, idAt: (position) => idOf(at(position)) };
}

/** The most records of a base that are all kept once they were made or changed. */
const KEPT_RECORDS = 4096;

/** The slots of a larger base: enough for the first page, and few enough to be collected young. */
const FEW_SLOTS = 256;

/** A base that makes its records on demand. Each cache slot holds the last one made. */
export function lazyBase<R>(
  size: number,
  idAt: (position: number) => bigint,
  make: (position: number) => R,
): Base<R> {
  const slots = size > KEPT_RECORDS ? FEW_SLOTS : size;
  const kept = new Array<{ position: number; record: R } | undefined>(slots).fill(undefined);
  return {
    size,
    at(position) {
      const slot = position % slots;
      const known = kept[slot];
      if (known?.position === position) return known.record;
      if (!(position >= 0 && position < size)) nothingAt(position);
      const record = make(position);
      kept[slot] = { position, record };
      return record;
    },
    idAt,
  };
}

/** The members of a changed base other than its records. */
export type ChangedParts = Pick<Base<unknown>, 'petIdAt' | 'statusAt' | 'layers'>;

/**
 * A base after a change that keeps ids. The records of a small base are changed at once, those of a
 * large one whenever they are read, so that its size costs nothing.
 */
export function changedBase<R>(
  base: Base<R>,
  change: (record: R) => R,
  parts: ChangedParts,
): Base<R> {
  const { size, idAt } = base;
  const make = (position: number): R => change(base.at(position));
  if (size > KEPT_RECORDS) return { ...lazyBase(size, idAt, make), ...parts };
  const records = Array.from({ length: size }, (_, position) => make(position));
  return { size, idAt, at: (position) => records[position] ?? nothingAt(position) };
}

/** A base without records. */
export const EMPTY_BASE: Base<never> = { size: 0, at: nothingAt, idAt: nothingAt };

function nothingAt(position: number): never {
  throw new RangeError(`no record at position ${position}`);
}

import { sorting } from './in-order.ts';
import { atOnce, type Work } from './work.ts';

/**
 * The records a collection starts from, in ascending order of their ids. Every fork shares them and
 * they never change, so a base may hold a fixture's records or draw each one on demand.
 */
export interface Base<R> {
  readonly size: number;
  /** The record at a position from 0 to size - 1. */
  at(position: number): R;
  idAt(position: number): bigint;
  /** The `petId` of the record at a position, where it costs less than the whole record. */
  readonly petIdAt?: ((position: number) => bigint | undefined) | undefined;
  /** The same for its `status`. */
  readonly statusAt?: ((position: number) => string | undefined) | undefined;
  /** How many changes each record goes through whenever it is looked at; none by default. */
  readonly layers?: number;
}

/** Some of a collection's records: an index over the base, and the test for changed records. */
export interface Subset<R> {
  /** Positions in the base, ascending. */
  readonly positions: ArrayLike<number>;
  readonly includes: (record: R) => boolean;
}

/** Makes a base of records in any order. Their ids must differ. */
export function baseOf<R>(records: readonly R[], idOf: (record: R) => bigint): Base<R> {
  return atOnce(basing(records, idOf));
}

/** The work of `baseOf`. */
export function* basing<R>(records: readonly R[], idOf: (record: R) => bigint): Work<Base<R>> {
  const sorted = yield* sorting(records, idOf);
  const at = (position: number): R => sorted[position] ?? nothingAt(position);
  return { size: sorted.length, at, idAt: (position) => idOf(at(position)) };
}

/** Records that a lazy base keeps, so that the same page gives the same objects again. */
const KEPT_RECORDS = 4096;

/** A base whose records are made on demand; each cache slot holds the last one made. */
export function lazyBase<R>(
  size: number,
  idAt: (position: number) => bigint,
  make: (position: number) => R,
): Base<R> {
  const kept = new Array<{ position: number; record: R } | undefined>(KEPT_RECORDS).fill(undefined);
  return {
    size,
    at(position) {
      const slot = position % KEPT_RECORDS;
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

/** What a changed base has besides its records. */
export type ChangedParts = Pick<Base<unknown>, 'petIdAt' | 'statusAt' | 'layers'>;

/**
 * The records of a base after a change that keeps their ids. A small base is changed at once. The
 * records of a large one are changed when they are looked at, so its size costs nothing.
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
  throw new RangeError(`There is no record at ${position}.`);
}

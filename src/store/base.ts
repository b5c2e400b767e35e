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
  readonly petIdAt?: (position: number) => bigint | undefined;
  /** The same for its `status`. */
  readonly statusAt?: (position: number) => string | undefined;
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

/** A base without records. */
export const EMPTY_BASE: Base<never> = { size: 0, at: nothingAt, idAt: nothingAt };

function nothingAt(position: number): never {
  throw new RangeError(`There is no record at ${position}.`);
}

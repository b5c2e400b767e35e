// Ratios and differences are taken round by round, between measurements that stood next to each other in time,
// and the median is quoted: what else the machine does then hits both sides alike.

/** @param {number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * @param {number[] | undefined} values
 * @param {number[] | undefined} base
 * @returns {number | undefined} nothing when one of the two was not measured
 */
export function medianRatio(values, base) {
  return medianOfPairs(values, base, (value, other) => value / other);
}

/**
 * @param {number[] | undefined} values
 * @param {number[] | undefined} base
 * @returns {number | undefined} nothing when one of the two was not measured
 */
export function medianDifference(values, base) {
  return medianOfPairs(values, base, (value, other) => value - other);
}

/**
 * @param {number[] | undefined} values
 * @param {number[] | undefined} base
 * @param {(value: number, base: number) => number} compare
 */
function medianOfPairs(values, base, compare) {
  if (!values?.length || !base?.length) return undefined;
  const rounds = Math.min(values.length, base.length);
  return median(
    values.slice(0, rounds).map((value, round) => compare(value, base[round] ?? Number.NaN)),
  );
}

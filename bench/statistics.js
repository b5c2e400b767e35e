// Ratios and differences compare measurements of the same round, which stood next to each other in
// time: other work of the machine affects both. The median over the rounds is quoted.

/** @typedef {Record<string, number>} Figures of one round */

/** @param {number[]} values */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (lower + upper) / 2;
}

/**
 * @param {string} figure
 * @returns {(rounds: Figures[]) => number}
 */
export const typical = (figure) => (rounds) => median(valuesOf(rounds, figure));

/**
 * @param {string} figure
 * @returns {(rounds: Figures[]) => number}
 */
export const highest = (figure) => (rounds) => Math.max(...valuesOf(rounds, figure));

/**
 * @param {string} figure
 * @returns {(rounds: Figures[], base: Figures[]) => number}
 */
export const ratio = (figure) => comparison(figure, (value, other) => value / other);

/**
 * @param {string} figure
 * @returns {(rounds: Figures[], base: Figures[]) => number}
 */
export const difference = (figure) => comparison(figure, (value, other) => value - other);

/**
 * @param {string} figure
 * @param {(value: number, base: number) => number} compare
 * @returns {(rounds: Figures[], base: Figures[]) => number}
 */
function comparison(figure, compare) {
  return (rounds, base) => {
    const others = valuesOf(base, figure);
    return median(valuesOf(rounds, figure).map((value, i) => compare(value, others[i] ?? NaN)));
  };
}

/**
 * @param {Figures[]} rounds
 * @param {string} figure
 */
function valuesOf(rounds, figure) {
  return rounds.map((figures) => figures[figure] ?? Number.NaN);
}

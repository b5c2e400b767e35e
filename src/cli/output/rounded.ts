/** A number with at most three decimals. */
export function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

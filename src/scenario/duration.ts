/** In milliseconds: five minutes. */
export const LONGEST_DELAY = 300_000;

const MILLISECONDS = {
  weeks: 7 * 86_400_000,
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1000,
} as const;

/** Weeks, days, hours, minutes and seconds. Years and months have no fixed length. */
export const DURATION =
  /^P(?=\d|T\d)(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,3})?)S)?)?$/;

/**
 * Reads an ISO 8601 duration.
 *
 * @returns milliseconds, or undefined if the text is not a duration
 * @example parseDuration('PT10M') // 600000
 */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text);
  if (match === null) return undefined;
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = match
    .slice(1)
    .map((digits) => Number(digits ?? 0));
  return Math.round(
    weeks * MILLISECONDS.weeks +
      days * MILLISECONDS.days +
      hours * MILLISECONDS.hours +
      minutes * MILLISECONDS.minutes +
      seconds * MILLISECONDS.seconds,
  );
}

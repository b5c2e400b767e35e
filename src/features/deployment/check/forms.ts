import type { ReplyRecord } from '../deployment-reply.ts';
import { CHECK_NAME } from './probes.ts';

/** Fewer animals than this may be in order by chance. */
const MIN_ORDERED = 8;

/** With fewer animals of the check, or fewer others, the two may be separated by chance. */
const MIN_PARTED = 5;

/** A list is shuffled if its share of ascending neighbours is this close to a half. */
const MAX_SORTED = 0.3;

/** @returns undefined if there are too few animals to tell */
export function describeOrder(
  records: readonly ReplyRecord[],
  ids: readonly bigint[],
  before: readonly bigint[],
): string | undefined {
  if (ids.length < MIN_ORDERED) return undefined;
  const ascents = countAscents(ids);
  if (ascents === 1) return 'id';
  if (ascents === 0) return 'newest';
  const [now, then] = [new Set(ids), new Set(before)];
  const isKept =
    String(ids.filter((id) => then.has(id))) === `${before.filter((id) => now.has(id))}`;
  if (!isKept) return 'another at each call';
  if (Math.abs(ascents - 0.5) > MAX_SORTED) return 'nearly by id';
  const names = records.map(({ name }) => String(name));
  const own = names.map((name) => name.startsWith(CHECK_NAME));
  const [first, last, size] = [
    own.indexOf(true),
    own.lastIndexOf(true),
    own.filter(Boolean).length,
  ];
  const isParted = last - first + 1 === size && (first === 0 || last === own.length - 1);
  if (isParted && size > 1) {
    return Math.min(size, own.length - size) < MIN_PARTED ? undefined : 'by creation';
  }
  // Too few different names may be in order by chance.
  if (new Set(names).size < MIN_ORDERED) return 'shuffled';
  const isSorted = (list: readonly string[]) =>
    list.every((name, at) => name.localeCompare(list[at - 1] ?? '') >= 0);
  return isSorted(names) || isSorted(names.toReversed()) ? 'by name' : 'shuffled';
}

function countAscents(ids: readonly bigint[]): number {
  return ids.filter((id, at) => id > (ids[at - 1] ?? id)).length / (ids.length - 1);
}

export const SPELLINGS: Readonly<Record<string, RegExp>> = {
  snake_case: /^[a-z0-9]+(?:_[a-z0-9]+)+$/,
  'kebab-case': /^[a-z0-9]+(?:-[a-z0-9]+)+$/,
  UPPER_CASE: /^(?!\d+$)[A-Z0-9]+(?:_[A-Z0-9]+)*$/,
  numeric: /^\d+$/,
};

export const DATE_FORMS: typeof SPELLINGS = {
  'utc-seconds': /T\d\d:\d\d:\d\dZ$/,
  'utc-millis': /T\d\d:\d\d:\d\d\.\d{3}Z$/,
  '+02:00': /T\d\d:\d\d:\d\d\+02:00$/,
};

/** The name of the form that matches a text, or the text itself. */
export function classify(text: string, forms: typeof SPELLINGS): string {
  return Object.keys(forms).find((name) => forms[name]?.test(text)) ?? text;
}

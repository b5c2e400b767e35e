import { closest, distance } from 'fastest-levenshtein';
import { isObject } from './json.ts';

export function joinWords(names: readonly string[], conjunction: 'and' | 'or'): string {
  return names.length < 2
    ? names.join('')
    : `${names.slice(0, -1).join(', ')} ${conjunction} ${names.at(-1)}`;
}

/** A suggestion of the nearest valid name, to append to a message; empty if none is near. */
export function suggest(name: string, names: readonly string[]): string {
  const nearest = findNearest(name, names);
  return nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
}

export function findNearest(name: string, names: readonly string[]): string | undefined {
  // Computing the distance to a much longer name would take long.
  const likely = names.filter((it) => Math.abs(it.length - name.length) < it.length / 2);
  const nearest = likely.length > 0 ? closest(name, likely) : undefined;
  return nearest !== undefined && isNear(name, nearest) ? nearest : undefined;
}

/** Whether fewer than half of the letters differ, or they only come in another order. */
function isNear(name: string, right: string): boolean {
  return distance(name, right) < right.length / 2 || sortLetters(name) === sortLetters(right);
}

function sortLetters(word: string): string {
  return [...word].sort().join('');
}

const MAX_VALUE_LENGTH = 60;

/** Describes a value for a message. Long values are cut. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'an array';
  if (isObject(value)) return 'an object';
  if (Object.is(value, -0)) return '-0';
  // Quotes only the start: a slice of the quoted whole would keep the whole in memory.
  const start = typeof value === 'string' && JSON.stringify(value.slice(0, MAX_VALUE_LENGTH));
  const text = start || String(value);
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH - 3)}…` : text;
}

export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Rounds a duration to three decimals, for people and for JSON. */
export function roundDuration(duration: number): number {
  return Math.round(duration * 1000) / 1000;
}

export function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Describes which of two lists' names were switched: `turned on slow, turned off flaky`. */
export function describeSwitch(before: readonly string[], after: readonly string[]): string {
  const on = after.filter((name) => !before.includes(name)).join(', ');
  const off = before.filter((name) => !after.includes(name)).join(', ');
  const texts = [on && `turned on ${on}`, off && `turned off ${off}`].filter((text) => text !== '');
  return texts.length > 0 ? texts.join(', ') : `set the scenarios to ${after.join(', ')}`;
}

import { describe } from '../../words.ts';
import type { Filter, Like } from './read-query.ts';
import type { AnyRecord } from './record-kind.ts';

/** Characters of a pattern. The engine is linear in the text, but compiling costs time too. */
const LONGEST_PATTERN = 100;

/** Characters of a pattern times its counts such as `{20}`, which the engine multiplies out. */
const MOST_STATES = 1_000;

/** Characters of a value that are searched. */
const SEARCHED = 1_000;

type Patterns =
  | { readonly ok: true; readonly filters: readonly Filter[] }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Compiles patterns in RE2 syntax, which has no lookaround and no backreferences, and so takes
 * linear time whatever the pattern. They ignore case.
 */
export async function compilePatterns(likes: readonly Like[]): Promise<Patterns> {
  if (likes.length === 0) return { ok: true, filters: [] };
  const { RE2JS } = await import('re2js');
  const problems: string[] = [];
  const compiled = likes.map(({ name, field, patterns }) => {
    const matchers = patterns.flatMap((pattern) => {
      try {
        if (!isTooLarge(pattern)) return [RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE)];
        const expected = `a pattern of at most ${LONGEST_PATTERN} characters, or ${MOST_STATES} times its counts`;
        problems.push(`${name}: expected ${expected}, found ${describe(pattern)}`);
      } catch {
        problems.push(
          `${name}: expected a regular expression in RE2 syntax, found ${describe(pattern)}`,
        );
      }
      return [];
    });
    return (record: AnyRecord): boolean => {
      const value = record[field];
      if (value === undefined) return false;
      const text = String(value).slice(0, SEARCHED);
      return matchers.some((matcher) => matcher.test(text));
    };
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, filters: compiled };
}

function isTooLarge(pattern: string): boolean {
  const counts = [...pattern.matchAll(/\{(?:\d+,)?(\d+)/g)].map(([, count]) => Number(count));
  const states = counts.reduce((product, count) => product * Math.max(count, 1), pattern.length);
  return pattern.length > LONGEST_PATTERN || states > MOST_STATES;
}

import type { Problem, Reading } from '../../contract/records.ts';
import { describe } from '../../words.ts';
import type { Filter, Like } from './read-query.ts';

/** In characters. Matching takes linear time, but compiling costs time too. */
const LONGEST_PATTERN = 100;

/** Characters of a pattern times its counts such as `{20}`, which the engine multiplies out. */
const MOST_STATES = 1_000;

/** How many characters of a value are searched. */
const SEARCHED = 1_000;

/**
 * Compiles patterns in RE2 syntax, which has no lookaround and no backreferences, so that matching
 * takes linear time. Patterns ignore case.
 */
export async function compilePatterns(likes: readonly Like[]): Promise<Reading<readonly Filter[]>> {
  if (likes.length === 0) return { ok: true, value: [] };
  const { RE2JS } = await import('re2js');
  const problems: Problem[] = [];
  const filters = likes.map(({ name, field, patterns }): Filter => {
    const matchers = patterns.flatMap((pattern) => {
      let expected = `a pattern of at most ${LONGEST_PATTERN} characters, or ${MOST_STATES} times its counts`;
      try {
        if (!isTooLarge(pattern)) return [RE2JS.compile(pattern, RE2JS.CASE_INSENSITIVE)];
      } catch {
        expected = 'a regular expression in RE2 syntax';
      }
      problems.push({ path: `query ${name}`, expected, found: describe(pattern) });
      return [];
    });
    return ({ [field]: value }) => {
      if (value === undefined) return false;
      const text = String(value).slice(0, SEARCHED);
      return matchers.some((matcher) => matcher.test(text));
    };
  });
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: filters };
}

function isTooLarge(pattern: string): boolean {
  const counts = [...pattern.matchAll(/\{(?:\d+,)?(\d+)/g)].map(([, count]) => Number(count));
  const states = counts.reduce((product, count) => product * Math.max(count, 1), pattern.length);
  return pattern.length > LONGEST_PATTERN || states > MOST_STATES;
}

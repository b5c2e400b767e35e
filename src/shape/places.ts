import type { Problem } from '../contract/records.ts';
import { problemText } from '../words.ts';

/** A value in a text: its path, such as `$.animals[0].id`, and where it and its name begin. */
export interface Visit {
  readonly path: string;
  readonly start: number;
  /** Undefined for what has no name, such as an element of an array. */
  readonly name?: number | undefined;
}

/** A text of JSON or YAML that was parsed. */
export interface SourceText {
  readonly text: string;
  readonly value: unknown;
  /** Every value in the text, parents first. */
  readonly visits: () => Iterable<Visit>;
}

/** A problem in a text. Lines and columns count from 1. */
export interface TextProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** A text that was parsed, or why it could not be. */
export type ParsedText =
  | { readonly ok: true; readonly source: SourceText }
  | { readonly ok: false; readonly problems: readonly TextProblem[] };

/** Problems as messages show them: `FILE:LINE:COLUMN: MESSAGE`. */
export function problemLines(file: string, problems: readonly TextProblem[]): readonly string[] {
  return problems.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`);
}

/** A problem with the value at a path, or with its name. */
interface PathProblem extends Problem {
  readonly ofName?: boolean;
}

/** Finds the places of problems, in one pass. A value that is missing has the place of its parent. */
export function locateProblems(
  { text, visits }: SourceText,
  problems: readonly PathProblem[],
): readonly TextProblem[] {
  const wanted = new Set(problems.flatMap(({ path }) => withParents(path)));
  const found = new Map<string, Visit>();
  for (const visit of visits()) if (wanted.has(visit.path)) found.set(visit.path, visit);
  const startOf = (path: string, ofName = false): number => {
    const { start, name } = found.get(path) ?? {};
    if (start === undefined) return path === '$' ? 0 : startOf(parentOf(path));
    return ofName ? (name ?? start) : start;
  };
  return textProblems(
    text,
    problems.map((it) => [startOf(it.path, it.ofName), problemText(it)]),
  );
}

/** The names that occur again in the same object. */
export function repeatedNames({ text, visits }: SourceText): readonly TextProblem[] {
  const seen = new Set<string>();
  /** By start: an alias repeats the names in its anchor. */
  const repeated = new Map<number, string>();
  let last = '';
  for (const { path, name } of visits()) {
    const isWithin = last !== '' && path !== last && withParents(path).includes(last);
    if (!isWithin && name !== undefined && seen.has(path)) {
      last = path;
      if (!repeated.has(name))
        repeated.set(name, problemText({ path, expected: 'each name once', found: 'it again' }));
    }
    seen.add(path);
  }
  return textProblems(text, [...repeated]);
}

/** Turns offsets in a text into lines and columns. */
export function textProblems(
  text: string,
  messages: readonly (readonly [offset: number, message: string])[],
): readonly TextProblem[] {
  const places = new Map<number, { readonly line: number; readonly column: number }>();
  let line = 1;
  let lineStart = 0;
  const offsets = [...new Set(messages.map(([offset]) => offset))];
  for (const offset of offsets.sort((a, b) => a - b)) {
    for (let end = text.indexOf('\n', lineStart); end >= 0 && end < offset; ) {
      line += 1;
      lineStart = end + 1;
      end = text.indexOf('\n', lineStart);
    }
    places.set(offset, { line, column: offset - lineStart + 1 });
  }
  return messages.map(([offset, message]) => ({
    ...(places.get(offset) ?? { line: 1, column: 1 }),
    message,
  }));
}

const LAST_STEP = /(?:\.[\w$]+|\[(?:\d+|"(?:[^"\\]|\\.)*")\])$/;

function parentOf(path: string): string {
  return path.replace(LAST_STEP, '');
}

function withParents(path: string): string[] {
  const parent = parentOf(path);
  return parent === path ? [path] : [path, ...withParents(parent)];
}

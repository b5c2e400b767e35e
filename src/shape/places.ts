import { problemText } from '../words.ts';
import type { ShapeProblem, ValuePath } from './shapes.ts';

/** A value, or its name. */
export interface Place {
  readonly at: ValuePath;
  readonly ofName?: boolean;
}

/** A text of JSON or YAML that was parsed. */
export interface SourceText {
  readonly text: string;
  readonly value: unknown;
  /** Where values begin. A value that is missing has the place of its parent. */
  readonly offsets: (places: readonly Place[]) => readonly number[];
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

/** Finds the places of problems. */
export function locateProblems(
  { text, offsets }: SourceText,
  problems: readonly ShapeProblem[],
): readonly TextProblem[] {
  const found = offsets(problems);
  return textProblems(
    text,
    problems.map((it, index) => [found[index] ?? 0, problemText(it)]),
  );
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

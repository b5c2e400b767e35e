import { LIMITS } from './limits.ts';

export function firstProblems<P>(
  problems: readonly P[],
  formatProblem: (problem: P) => string,
): readonly string[] {
  const first = problems.slice(0, LIMITS.problems).map(formatProblem);
  return problems.length > LIMITS.problems ? [...first, 'and more'] : first;
}

export interface Problem {
  readonly path: string;
  readonly expected: string;
  readonly found: string;
}

export type Reading<T, P extends Problem = Problem> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly P[] };

export function problemText({ path, expected, found }: Problem): string {
  return `${path}: expected ${expected}, found ${found}`;
}

export interface TextProblem extends Problem {
  readonly message: string;
  /** The name of the text, and the place, from 1; no place if the whole file is wrong. */
  readonly file?: string;
  readonly line?: number;
  readonly column?: number;
}

export function formatProblem({ file, line, column, message }: TextProblem): string {
  return file === undefined ? message : `${file}:${line}:${column}: ${message}`;
}

export function createFileProblem(
  path: string,
  expected: string,
  found: string,
  message: string = problemText({ path, expected, found }),
): TextProblem {
  return { path, expected, found, message };
}

/** The text of a file, or what is there instead, such as `a directory`. */
export type TextReading =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly found: string };

/** Thrown for a text that cannot be used. The message lists up to 20 problems. */
export class ContentError extends Error {
  readonly problems: readonly TextProblem[];

  constructor(problems: readonly TextProblem[]) {
    super(firstProblems(problems, formatProblem).join('\n'));
    this.problems = problems;
  }
}

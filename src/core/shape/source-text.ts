import { parse } from 'lossless-json';
import { parseInput } from '../json.ts';
import {
  createFileProblem,
  describe,
  type Problem,
  problemText,
  type TextProblem,
} from '../words.ts';
import type { ShapeProblem } from './shapes.ts';

/** `locate` finds the places of problems with the value. */
export type ParsedText =
  | { readonly ok: true; readonly value: unknown; readonly locate: LocateProblems }
  | { readonly ok: false; readonly problems: readonly TextProblem[] };

export type LocateProblems = (problems: readonly ShapeProblem[]) => readonly TextProblem[];

/** Gives problems their lines and columns, from 1, and a message if they have none. */
function locateProblems(
  file: string,
  text: string,
  problems: readonly (readonly [offset: number, problem: Problem, message?: string])[],
): readonly TextProblem[] {
  const places = new Map<number, Pick<TextProblem, 'line' | 'column'>>();
  let line = 1;
  let lineStart = 0;
  let lineEnd = text.indexOf('\n');
  const offsets = [...new Set(problems.map(([offset]) => offset))];
  for (const offset of offsets.sort((a, b) => a - b)) {
    while (lineEnd >= 0 && lineEnd < offset) {
      line += 1;
      lineStart = lineEnd + 1;
      lineEnd = text.indexOf('\n', lineStart);
    }
    places.set(offset, { line, column: offset - lineStart + 1 });
  }
  return problems.map(([offset, problem, message = problemText(problem)]) => {
    const { path, expected, found } = problem;
    return { file, ...places.get(offset), message, path, expected, found };
  });
}

/** Where a value and its name begin. */
export interface Place {
  readonly start: number;
  readonly name: number | undefined;
}

export const pathKey = (path: readonly (string | number | null)[]): string => JSON.stringify(path);

/**
 * A value that is missing has the place of its parent.
 *
 * @param find finds places by `pathKey`, all in one pass
 */
export function createLocator(
  file: string,
  text: string,
  find: (wanted: ReadonlySet<string>) => ReadonlyMap<string, Place>,
): LocateProblems {
  return (problems) => {
    const prefixes = ({ at }: ShapeProblem) => at.map((_, end) => pathKey(at.slice(0, end + 1)));
    const places = find(new Set([pathKey([]), ...problems.flatMap(prefixes)]));
    const located = problems.map((problem) => {
      const { at, ofName } = problem;
      const depth = prefixes(problem).findLastIndex((prefix) => places.has(prefix)) + 1;
      const { start = 0, name } = places.get(pathKey(at.slice(0, depth))) ?? {};
      return [ofName && depth === at.length ? (name ?? start) : start, problem] as const;
    });
    return locateProblems(file, text, located);
  };
}

/** @param file its name in problems */
export function readJson(file: string, content: string): ParsedText {
  // Some editors start a file with a byte order mark.
  const text = content.replace(/^\uFEFF/, '');
  try {
    const value = parseInput(text);
    const repeated = findRepeatedName(text, value);
    if (repeated !== undefined) {
      return { ok: false, problems: [createRepetitionProblem(file, text, 'JSON', repeated)] };
    }
    return {
      ok: true,
      value,
      locate: createLocator(file, text, (wanted) => findPlaces(text, wanted)),
    };
  } catch (error) {
    const [offset, reason] = explainNotJson(text, error);
    return { ok: false, problems: [createSyntaxProblem(file, text, offset, 'JSON', reason)] };
  }
}

/** A name that an object has twice, where most readers would drop the first value without a word. */
export interface RepeatedName {
  readonly name: string;
  readonly first: number;
  readonly second: number;
}

export function createRepetitionProblem(
  file: string,
  text: string,
  expected: 'JSON' | 'YAML',
  { name, first, second }: RepeatedName,
): TextProblem {
  const known = createSyntaxProblem(file, text, first, expected, '');
  const found = `a second ${describe(name)}; the first is in line ${known.line}, column ${known.column}`;
  return createSyntaxProblem(file, text, second, expected, found);
}

export function createSyntaxProblem(
  file: string,
  text: string,
  offset: number,
  expected: 'JSON' | 'YAML',
  found: string,
): TextProblem {
  const message = `expected ${expected}: ${found}`;
  const [problem] = locateProblems(file, text, [[offset, { path: '$', expected, found }, message]]);
  return problem ?? createFileProblem(file, expected, found);
}

/** Where and why a text is not JSON. The messages of JSON.parse vary between versions of Node. */
function explainNotJson(text: string, error: unknown): [offset: number, reason: string] {
  if (error instanceof RangeError) return [0, error.message];
  try {
    parse(text);
    return [0, String(error)];
  } catch (problem) {
    const [, why = String(problem), offset = '0'] =
      /^\w+: (.*) at position (\d+)$/s.exec(String(problem)) ?? [];
    return [Number(offset), why];
  }
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** @param text valid JSON with this value */
function findRepeatedName(text: string, value: unknown): RepeatedName | undefined {
  // To compare counts is many times faster than to collect names.
  if (countMembers(value) === countColons(text)) return undefined;
  const objects: (Map<string, number> | undefined)[] = [];
  let expectsName = false;
  for (const { 0: token, index: start } of text.matchAll(TOKEN)) {
    const names = objects.at(-1);
    if (token === '}' || token === ']') objects.pop();
    else if (token === '{' || token === '[') objects.push(token === '{' ? new Map() : undefined);
    else if (expectsName && names !== undefined && token !== ',') {
      const name = String(JSON.parse(token));
      const first = names.get(name);
      if (first !== undefined) return { name, first, second: start };
      names.set(name, start);
    }
    expectsName = token === '{' || token === ',';
  }
  return undefined;
}

function countMembers(value: unknown): number {
  const items = Array.isArray(value) ? value : isPlainObject(value) ? Object.values(value) : [];
  return items.reduce<number>(
    (sum, item) => sum + countMembers(item),
    Array.isArray(value) ? 0 : items.length,
  );
}

function isPlainObject(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}

function countColons(text: string): number {
  let count = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') isInString = !isInString;
    else if (isInString) at += character === '\\' ? 1 : 0;
    else if (character === ':') count += 1;
  }
  return count;
}

function findPlaces(text: string, wanted: ReadonlySet<string>): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  // The last step is null where a name is to come.
  const path: (string | number | null)[] = [];
  let name: number | undefined;
  for (const { 0: token, index: start } of text.matchAll(TOKEN)) {
    const last = path.length - 1;
    const step = path[last];
    if (token === '}' || token === ']') path.pop();
    else if (token === ',') path[last] = typeof step === 'number' ? step + 1 : null;
    else if (step === null) {
      path[last] = String(JSON.parse(token));
      name = start;
    } else if (token !== ':') {
      const key = pathKey(path);
      const isMember = typeof step === 'string';
      if (wanted.has(key)) places.set(key, { start, name: isMember ? name : undefined });
      if (token === '{') path.push(null);
      else if (token === '[') path.push(0);
    }
  }
  return places;
}

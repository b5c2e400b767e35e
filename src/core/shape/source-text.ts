import { everyMark, isObject, parseInput } from '../json.ts';
import { createFileProblem, type Problem, problemText, type TextProblem } from '../problems.ts';
import { describe } from '../words.ts';
import type { ShapeProblem, ValuePath } from './shapes.ts';

/** A parsed text. `locate` gives problems that are found later their lines and columns. */
export type ParsedText =
  | { readonly ok: true; readonly value: unknown; readonly locate: LocateProblems }
  | { readonly ok: false; readonly problems: readonly TextProblem[] };

export type LocateProblems = (problems: readonly ShapeProblem[]) => readonly TextProblem[];

/** Adds lines and columns, counted from 1, to problems. With none, nothing is searched. */
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

/** The offsets where a value and its name begin in the text. */
export interface Place {
  readonly start: number;
  readonly name: number | undefined;
}

export const pathKey = (path: ValuePath): string => JSON.stringify(path);

/**
 * Locates values. A missing value gets the place of its parent.
 *
 * @param find returns the places of all values by `pathKey`, in a single pass
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

/** @param file the name of the text in messages */
export function readJson(file: string, content: string): ParsedText {
  // Some editors start a file with a byte order mark.
  const text = content.replace(/^\uFEFF/, '');
  try {
    const value = parseInput(text);
    // Comparing counts is many times faster than collecting names.
    const isRepeated = countMembers(value) !== countColons(text);
    const repeated = isRepeated ? findRepeatedName(text) : undefined;
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

/** A name that occurs twice in one object. Most parsers would silently drop the first value. */
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

/** Where and why a text is not JSON. JSON.parse says it differently in each Node version. */
function explainNotJson(text: string, error: unknown): readonly [offset: number, reason: string] {
  if (error instanceof RangeError) return [0, error.message];
  return walkJson(text) ?? [0, String(error)];
}

/** @param text valid JSON */
function findRepeatedName(text: string): RepeatedName | undefined {
  const names = new Map<string, number>();
  let repeated: RepeatedName | undefined;
  walkJson(text, (path, { name: second }) => {
    if (second === undefined || repeated !== undefined) return;
    const key = pathKey(path);
    const first = names.get(key);
    if (first !== undefined) repeated = { name: String(path.at(-1)), first, second };
    names.set(key, second);
  });
  return repeated;
}

function countMembers(value: unknown): number {
  const isList = Array.isArray(value);
  const items = isList || isObject(value) ? Object.values(value) : [];
  return items.reduce<number>((sum, it) => sum + countMembers(it), isList ? 0 : items.length);
}

function countColons(text: string): number {
  let count = 0;
  everyMark(text, (mark) => {
    if (mark === ':') count += 1;
    return true;
  });
  return count;
}

function findPlaces(text: string, wanted: ReadonlySet<string>): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  walkJson(text, (path, place) => {
    const key = pathKey(path);
    if (wanted.has(key)) places.set(key, place);
  });
  return places;
}

/** A string, number or literal of RFC 8259; otherwise any single character. */
const TOKEN =
  /"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\uffff]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|[^ \t\n\r]/g;

const EXPECTED = {
  value: 'JSON value expected',
  name: 'Quoted object key expected',
  colon: "Colon ':' expected after property name",
  comma: "Comma ',' expected after value",
  end: 'Expected end of input',
};

/**
 * Visits each value. Returns where and why the text is not JSON, if it is not.
 *
 * @param visit must not keep the path array, which is reused
 */
function walkJson(
  text: string,
  visit: (path: ValuePath, place: Place) => void = () => {},
): readonly [offset: number, reason: string] | undefined {
  const path: (string | number)[] = [];
  let next: keyof typeof EXPECTED = 'value';
  let isEmpty = false;
  let name: number | undefined;
  for (const { 0: token, index: start } of text.matchAll(TOKEN)) {
    const last = path.length - 1;
    const step = path[last];
    const isObject = typeof step === 'string';
    const isWhole = token.length > 1 || /[\d{[]/.test(token);
    if (token === (isObject ? '}' : ']') && (isEmpty || next === 'comma')) {
      path.pop();
      next = path.length > 0 ? 'comma' : 'end';
    } else if (token === ',' && next === 'comma') {
      path[last] = isObject ? step : Number(step) + 1;
      next = isObject ? 'name' : 'value';
    } else if (token === ':' && next === 'colon') {
      next = 'value';
    } else if (isWhole && token.startsWith('"') && next === 'name') {
      path[last] = String(JSON.parse(token));
      name = start;
      next = 'colon';
    } else if (isWhole && next === 'value') {
      visit(path, { start, name: isObject ? name : undefined });
      if (token === '{' || token === '[') path.push(token === '{' ? '' : 0);
      else next = path.length > 0 ? 'comma' : 'end';
      if (token === '{') next = 'name';
    } else {
      const found =
        token === '"' ? 'a string without an end or with a wrong escape' : `'${token[0]}'`;
      return [start, `${EXPECTED[next]} but got ${found}`];
    }
    isEmpty = token === '{' || token === '[';
  }
  return next === 'end' ? undefined : [text.length, `${EXPECTED[next]} but reached end of input`];
}

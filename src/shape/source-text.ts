import { parse } from 'lossless-json';
import { parseInput } from '../contract/json.ts';
import { createFileProblem, type Problem, problemText, type TextProblem } from '../words.ts';
import type { ShapeProblem } from './shapes.ts';

/** A text of JSON or YAML that was parsed, or why it could not be. */
export type ParsedText =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** Finds the places of problems with the value. */
      readonly locate: LocateProblems;
    }
  | { readonly ok: false; readonly problems: readonly TextProblem[] };

export type LocateProblems = (problems: readonly ShapeProblem[]) => readonly TextProblem[];

/** Gives problems their lines and columns, from 1. Without a message, a problem's parts are in words. */
export function locateProblems(
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

/** @param file its name in problems */
export function readJson(file: string, content: string): ParsedText {
  // Some editors start a file with a byte order mark.
  const text = content.replace(/^\uFEFF/, '');
  try {
    const value = parseInput(text);
    return {
      ok: true,
      value,
      locate: (problems) => locateProblems(file, text, findOffsets(problems, text)),
    };
  } catch (error) {
    const [offset, reason] = explainNotJson(text, error);
    return { ok: false, problems: [createSyntaxProblem(file, text, offset, 'JSON', reason)] };
  }
}

/** A text that cannot be parsed. */
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

/** Finds all places in one pass. A value that is missing has the place of its parent. */
function findOffsets(problems: readonly ShapeProblem[], text: string) {
  const root: WantedValue = { members: new Map() };
  for (const { at } of problems) {
    let wanted = root;
    for (const step of at) {
      const member = wanted.members.get(step) ?? { members: new Map() };
      wanted.members.set(step, member);
      wanted = member;
    }
  }
  findValues(root, text);
  return problems.map((problem) => [findOffset(problem, root), problem] as const);
}

function findOffset({ at, ofName }: ShapeProblem, root: WantedValue): number {
  let nearest = root;
  for (const step of at) {
    const member = nearest.members.get(step);
    if (member?.start === undefined) return nearest.start ?? 0;
    nearest = member;
  }
  return (ofName ? nearest.name : undefined) ?? nearest.start ?? 0;
}

/** A value whose place is wanted, or that of one within it; and where it and its name begin. */
interface WantedValue {
  readonly members: Map<string | number, WantedValue>;
  start?: number;
  /** Undefined for an element of an array. */
  name?: number | undefined;
}

interface OpenValue {
  /** Undefined if no place within it is wanted. */
  readonly wanted: WantedValue | undefined;
  /** The current element or member; null where a name is to come. */
  step: string | number | null;
  name?: number;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Notes where the wanted values in a text of JSON begin. */
function findValues(root: WantedValue, text: string): void {
  const open: OpenValue[] = [];
  for (const { 0: token, index: start } of text.matchAll(TOKEN)) {
    const parent = open.at(-1);
    if (token === '}' || token === ']') open.pop();
    else if (token === ',' && parent !== undefined) {
      parent.step = typeof parent.step === 'number' ? parent.step + 1 : null;
    } else if (parent?.step === null) {
      parent.step = parent.wanted === undefined ? '' : String(JSON.parse(token));
      parent.name = start;
    } else if (token !== ':') {
      const wanted = parent === undefined ? root : parent.wanted?.members.get(parent.step ?? '');
      if (wanted !== undefined) Object.assign(wanted, { start, name: parent?.name });
      if (token === '{') open.push({ wanted, step: null });
      else if (token === '[') open.push({ wanted, step: 0 });
    }
  }
}

import { parse } from 'lossless-json';
import { parseJson } from '../contract/json.ts';
import { problemText } from '../words.ts';
import { pathText, type ShapeProblem, type ValuePath } from './shapes.ts';

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

export function readJson(content: string): ParsedText {
  // Some editors start a file with a byte order mark.
  const text = content.replace(/^\uFEFF/, '');
  try {
    const value = parseJson(text);
    return { ok: true, source: { text, value, offsets: (places) => offsetsIn(text, places) } };
  } catch (error) {
    return { ok: false, problems: textProblems(text, [whyNotJson(text, error)]) };
  }
}

/** Where and why a text is not JSON. The messages of JSON.parse vary between versions of Node. */
function whyNotJson(text: string, error: unknown): readonly [offset: number, message: string] {
  if (error instanceof RangeError)
    return [0, 'expected JSON, found JSON that is nested too deeply'];
  const [, why = String(error), offset = '0'] =
    /^(.*) at position (\d+)$/s.exec(firstError(text)) ?? [];
  return [Number(offset), `expected JSON: ${why}`];
}

function firstError(text: string): string {
  try {
    parse(text);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function offsetsIn(text: string, places: readonly Place[]): readonly number[] {
  // Each place before those around it.
  const chains = places.map(({ at }) =>
    [...at.keys(), at.length].map((length) => pathText(at.slice(0, length))).reverse(),
  );
  const wanted = new Set(chains.flat());
  const found = new Map<string, FoundValue>();
  for (const value of valuesIn(text)) if (wanted.has(value.path)) found.set(value.path, value);
  return chains.map((chain, index) => {
    const nearest = chain.find((path) => found.has(path)) ?? '';
    const { start = 0, name = start } = found.get(nearest) ?? {};
    return places[index]?.ofName && nearest === chain[0] ? name : start;
  });
}

/** A value in a text of JSON: its path, and where it and its name begin. */
interface FoundValue {
  readonly path: string;
  readonly start: number;
  /** Undefined for an element of an array. */
  readonly name: number | undefined;
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** The values of a text of JSON in the order in which they begin. */
function* valuesIn(text: string): Generator<FoundValue> {
  /** The step to the current part of each open array and object; null where a name is to come. */
  const steps: (string | number | null)[] = [];
  let name: number | undefined;
  for (const { 0: token, index: start } of text.matchAll(TOKEN)) {
    const step = steps.at(-1);
    if (token === '}' || token === ']') steps.pop();
    else if (token === ',') steps[steps.length - 1] = typeof step === 'number' ? step + 1 : null;
    else if (step === null) {
      steps[steps.length - 1] = JSON.parse(token);
      name = start;
    } else if (token !== ':') {
      const at = steps.filter((it) => it !== null);
      yield { path: pathText(at), start, name: typeof step === 'string' ? name : undefined };
      if (token === '{') steps.push(null);
      else if (token === '[') steps.push(0);
    }
  }
}

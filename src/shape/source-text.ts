import { parse } from 'lossless-json';
import { parseJson } from '../contract/json.ts';
import { problemText } from '../words.ts';
import { pathText, type ShapeProblem } from './shapes.ts';

/** A text of JSON or YAML that was parsed, or why it could not be. */
export type ParsedText =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** Problems with the value, each as `FILE:LINE:COLUMN: PATH: …`. */
      readonly linesOf: (problems: readonly ShapeProblem[]) => readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly string[] };

/** A message, and the offset in a text that it is about. */
export type PlacedMessage = readonly [offset: number, message: string];

/** Messages as `FILE:LINE:COLUMN: MESSAGE`. Lines and columns count from 1. */
export function placedLines(
  file: string,
  text: string,
  messages: readonly PlacedMessage[],
): readonly string[] {
  const places = new Map<number, string>();
  let line = 1;
  let lineStart = 0;
  let lineEnd = text.indexOf('\n');
  const offsets = [...new Set(messages.map(([offset]) => offset))];
  for (const offset of offsets.sort((a, b) => a - b)) {
    while (lineEnd >= 0 && lineEnd < offset) {
      line += 1;
      lineStart = lineEnd + 1;
      lineEnd = text.indexOf('\n', lineStart);
    }
    places.set(offset, `${line}:${offset - lineStart + 1}`);
  }
  return messages.map(([offset, message]) => `${file}:${places.get(offset)}: ${message}`);
}

/** @param file its name in problems */
export function readJson(file: string, content: string): ParsedText {
  // Some editors start a file with a byte order mark.
  const text = content.replace(/^\uFEFF/, '');
  try {
    const value = parseJson(text);
    return { ok: true, value, linesOf: (it) => placedLines(file, text, placesOf(it, text)) };
  } catch (error) {
    return { ok: false, problems: placedLines(file, text, [whyNotJson(text, error)]) };
  }
}

/** Where and why a text is not JSON. The messages of JSON.parse vary between versions of Node. */
function whyNotJson(text: string, error: unknown): PlacedMessage {
  if (error instanceof RangeError) {
    return [0, 'expected JSON, found JSON that is nested too deeply'];
  }
  try {
    parse(text);
    return [0, `expected JSON: ${error}`];
  } catch (problem) {
    const [, why = String(problem), offset = '0'] =
      /^\w+: (.*) at position (\d+)$/s.exec(String(problem)) ?? [];
    return [Number(offset), `expected JSON: ${why}`];
  }
}

/** Finds all places in one pass. A value that is missing has the place of its parent. */
function placesOf(problems: readonly ShapeProblem[], text: string): readonly PlacedMessage[] {
  // Each place before those around it.
  const chains = problems.map(({ at }) =>
    [...at.keys(), at.length].map((length) => pathText(at.slice(0, length))).reverse(),
  );
  const wanted = new Set(chains.flat());
  const found = new Map<string, FoundValue>();
  for (const value of valuesIn(text)) if (wanted.has(value.path)) found.set(value.path, value);
  return problems.map((problem, index) => {
    const [whole, ...around] = chains[index] ?? [];
    const value = found.get(whole ?? '');
    const nearest = value ?? found.get(around.find((path) => found.has(path)) ?? '');
    const { start = 0, name = start } = nearest ?? {};
    return [problem.ofName && value ? name : start, problemText(problem)];
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

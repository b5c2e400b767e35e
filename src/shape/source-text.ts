import { parse } from 'lossless-json';
import { parseInput } from '../contract/json.ts';
import { problemText } from '../words.ts';
import type { ShapeProblem } from './shapes.ts';

/** A text of JSON or YAML that was parsed, or why it could not be. */
export type ParsedText =
  | {
      readonly ok: true;
      readonly value: unknown;
      /** Problems with the value, each as `FILE:LINE:COLUMN: PATH: …`. */
      readonly linesOf: (problems: readonly ShapeProblem[]) => readonly string[];
    }
  | { readonly ok: false; readonly problems: readonly string[] };

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
    const value = parseInput(text);
    return {
      ok: true,
      value,
      linesOf: (problems) => placedLines(file, text, placesOf(problems, text)),
    };
  } catch (error) {
    return { ok: false, problems: placedLines(file, text, [whyNotJson(text, error)]) };
  }
}

/** Where and why a text is not JSON. The messages of JSON.parse vary between versions of Node. */
function whyNotJson(text: string, error: unknown): PlacedMessage {
  if (error instanceof RangeError) return [0, `expected JSON: ${error.message}`];
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
  return problems.map((problem) => [offsetOf(problem, root), problemText(problem)]);
}

function offsetOf({ at, ofName }: ShapeProblem, root: WantedValue): number {
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

import { parse } from 'lossless-json';
import { parseJson } from '../contract/json.ts';
import { type ParsedText, type Place, textProblems } from './places.ts';
import { memberPath, pathText } from './shapes.ts';

/** Parses the text of a JSON file. */
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

/** Characters kept at each end of a long reason: it repeats a wrong number, which can be as long as the text. */
const END = 80;

/** Where and why a text is not JSON. The messages of JSON.parse vary between versions of Node. */
function whyNotJson(text: string, error: unknown): readonly [offset: number, message: string] {
  if (error instanceof RangeError)
    return [0, 'expected JSON, found JSON that is nested too deeply'];
  const [, why = String(error), offset = '0'] =
    /^(.*) at position (\d+)$/s.exec(firstError(text)) ?? [];
  const reason = why.length <= 2 * END ? why : `${why.slice(0, END)}…${why.slice(-END)}`;
  return [Number(offset), `expected JSON: ${reason}`];
}

function firstError(text: string): string {
  try {
    parse(text);
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** A value in a text of JSON: its path, and where it and its name begin. */
interface Visit {
  readonly path: string;
  readonly start: number;
  /** Undefined for an element of an array. */
  readonly name: number | undefined;
}

/** Finds all places in one pass. */
function offsetsIn(text: string, places: readonly Place[]): readonly number[] {
  // Each place before those around it.
  const chains = places.map(({ at }) =>
    [...at.keys(), at.length].map((length) => pathText(at.slice(0, length))).reverse(),
  );
  const wanted = new Set(chains.flat());
  const found = new Map<string, Visit>();
  for (const visit of valuesIn(text)) if (wanted.has(visit.path)) found.set(visit.path, visit);
  return chains.map((chain, index) => {
    const nearest = chain.find((path) => found.has(path)) ?? '';
    const { start = 0, name = start } = found.get(nearest) ?? {};
    return places[index]?.ofName && nearest === chain[0] ? name : start;
  });
}

const TOKEN = /["{}[\],:]|\\.|[^\s{}[\],:"\\]+/g;

/** The tokens of a text of JSON. One expression for a whole string would overflow the stack. */
function* tokensOf(text: string): Generator<readonly [token: string, offset: number]> {
  let opening: number | undefined;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (opening === undefined && token !== '"') yield [token, index];
    else if (opening === undefined) opening = index;
    else if (token === '"') {
      yield [text.slice(opening, index + 1), opening];
      opening = undefined;
    }
  }
}

/** An array or an object that has not ended yet. */
interface Container {
  readonly path: string;
  /** Of the current element; undefined in an object. */
  index: number | undefined;
  /** The current member's step and where its name is; undefined where its name is still to come. */
  member: { readonly step: string; readonly name: number } | undefined;
}

/** The values of a text of JSON in the order in which they begin. */
function* valuesIn(text: string): Generator<Visit> {
  const open: Container[] = [];
  for (const [token, start] of tokensOf(text)) {
    const around = open.at(-1);
    if (token === '}' || token === ']') open.pop();
    else if (token === ',') startNext(around);
    else if (around !== undefined && around.index === undefined && around.member === undefined) {
      around.member = { step: memberPath(JSON.parse(token)), name: start };
    } else if (token !== ':') {
      const path = around === undefined ? '$' : around.path + stepOf(around);
      yield { path, start, name: around?.member?.name };
      if (token === '{') open.push({ path, index: undefined, member: undefined });
      else if (token === '[') open.push({ path, index: 0, member: undefined });
    }
  }
}

function startNext(around: Container | undefined): void {
  if (around === undefined) return;
  if (around.index === undefined) around.member = undefined;
  else around.index += 1;
}

function stepOf({ index, member }: Container): string {
  return index === undefined ? (member?.step ?? '') : `[${index}]`;
}

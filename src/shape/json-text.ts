import { parse } from 'lossless-json';
import { parseJson } from '../contract/json.ts';
import { type ParsedText, type Place, textProblems } from './places.ts';
import { pathText } from './shapes.ts';

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

/** The values of a text of JSON in the order in which they begin. */
function* valuesIn(text: string): Generator<Visit> {
  /** The step to the current part of each open array and object; null where a name is to come. */
  const steps: (string | number | null)[] = [];
  let name: number | undefined;
  for (const [token, start] of tokensOf(text)) {
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

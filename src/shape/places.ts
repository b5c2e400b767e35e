import { memberPath } from './shapes.ts';

const LAST_STEP = /(?:\.[\w$]+|\[(?:\d+|"(?:[^"\\]|\\.)*")\])$/;

/**
 * Finds where values stand in a text of JSON.
 *
 * @param text known to be JSON
 * @param paths such as `$.animals[0].id`
 * @returns `LINE:COLUMN` by path, both counted from 1; what is not there has the place of its parent
 */
export function placesIn(text: string, paths: readonly string[]): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  const wanted = new Set(paths.flatMap(withParents));
  let line = 1;
  let lineStart = 0;
  for (const { path, offset } of valuesIn(text)) {
    if (!wanted.has(path)) continue;
    for (let end = text.indexOf('\n', lineStart); end >= 0 && end < offset; ) {
      line += 1;
      lineStart = end + 1;
      end = text.indexOf('\n', lineStart);
    }
    places.set(path, `${line}:${offset - lineStart + 1}`);
  }
  const found = (path: string): string =>
    places.get(path) ?? (path === '$' ? '1:1' : found(path.replace(LAST_STEP, '')));
  return new Map(paths.map((path) => [path, found(path)]));
}

function withParents(path: string): string[] {
  const parent = path.replace(LAST_STEP, '');
  return parent === path ? [path] : [path, ...withParents(parent)];
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
interface Open {
  readonly path: string;
  /** Of the current element; undefined in an object. */
  index: number | undefined;
  /** The current member's step; undefined where its name is still to come. */
  member: string | undefined;
}

/** The values of a text of JSON in the order in which they begin. */
function* valuesIn(text: string): Generator<{ path: string; offset: number }> {
  const open: Open[] = [];
  for (const [token, offset] of tokensOf(text)) {
    const around = open.at(-1);
    if (token === '}' || token === ']') open.pop();
    else if (token === ',') startNext(around);
    else if (around !== undefined && around.index === undefined && around.member === undefined) {
      around.member = memberPath(JSON.parse(token));
    } else if (token !== ':') {
      const path = around === undefined ? '$' : around.path + stepOf(around);
      yield { path, offset };
      if (token === '{') open.push({ path, index: undefined, member: undefined });
      else if (token === '[') open.push({ path, index: 0, member: undefined });
    }
  }
}

function startNext(around: Open | undefined): void {
  if (around === undefined) return;
  if (around.index === undefined) around.member = undefined;
  else around.index += 1;
}

function stepOf({ index, member = '' }: Open): string {
  return index === undefined ? member : `[${index}]`;
}

/** A step from a value to one within it: a name, or any element of a list. */
export type PathStep = string | undefined;

/** Where the cursor is in a YAML text. */
export interface TextContext {
  /** Leads from the whole document to the object or list around the cursor. */
  readonly path: readonly PathStep[];
  /** The name whose value is being written; undefined while a name is being written. */
  readonly key: string | undefined;
}

/** A step of a path, and how far it is indented. */
interface IndentedStep {
  readonly indent: number;
  readonly step: PathStep;
}

interface Line {
  /** The elements of lists that the line begins, and the name in it. */
  readonly steps: readonly IndentedStep[];
  readonly indent: number;
  /** What follows the dashes. */
  readonly rest: string;
}

const KEY = /^(?:"([^"]*)"|'([^']*)'|([^\s#,{}[\]"':]+))\s*:(?:\s|$)/;

/**
 * Finds out what is being written at the end of a text, from the indentation of earlier lines and
 * the brackets in the last one.
 */
export function contextAfter(text: string): TextContext {
  const lines = text.split('\n');
  const last = lineOf(lines.pop() ?? '');
  const steps = [...stepsAbove(lines, last), ...last.steps.map(({ step }) => step)];
  return withinLine(steps, last.rest);
}

function lineOf(text: string): Line {
  const steps: IndentedStep[] = [];
  let indent = text.length - text.trimStart().length;
  let rest = text.slice(indent);
  for (;;) {
    const [dash] = /^-(?:\s+|$)/.exec(rest) ?? [];
    if (dash === undefined) break;
    steps.push({ indent, step: undefined });
    indent += dash.length;
    rest = rest.slice(dash.length);
  }
  return { steps, indent, rest };
}

/** The steps of earlier lines that are less indented than a line, from the outermost on. */
function stepsAbove(lines: readonly string[], { steps, indent }: Line): PathStep[] {
  const above: PathStep[] = [];
  let limit = steps[0]?.indent ?? indent;
  // A list may stand directly below its name, without indentation.
  let isElement = steps.length > 0;
  for (const text of lines.toReversed()) {
    if (/^\s*(?:#|$)/.test(text)) continue;
    const line = lineOf(text);
    const key = keyIn(line.rest);
    const own = key === undefined ? [] : [{ indent: line.indent, step: key.name }];
    for (const placed of [...line.steps, ...own].reverse()) {
      const isOutside = placed.indent < limit || (isElement && placed.indent === limit);
      if (!isOutside || (isElement && placed.indent === limit && placed.step === undefined))
        continue;
      above.unshift(placed.step);
      limit = placed.indent;
      isElement = placed.step === undefined;
    }
  }
  return above;
}

function keyIn(text: string): { readonly name: string; readonly length: number } | undefined {
  const found = KEY.exec(text);
  if (found === null) return undefined;
  return { name: found[1] ?? found[2] ?? found[3] ?? '', length: found[0].length };
}

/** Follows the brackets of a line, which may be open at its end. */
function withinLine(path: readonly PathStep[], text: string): TextContext {
  /** The names in the open brackets; undefined in a list. The first is that of the line itself. */
  const open: { key: string | undefined; isList: boolean }[] = [{ key: undefined, isList: false }];
  let at = 0;
  while (at < text.length) {
    const current = open.at(-1);
    const rest = text.slice(at);
    const key = current?.key === undefined && current?.isList === false ? keyIn(rest) : undefined;
    if (key !== undefined && current !== undefined) {
      current.key = key.name;
      at += key.length;
      continue;
    }
    const character = rest.charAt(0);
    if (character === '{' || character === '[')
      open.push({ key: undefined, isList: character === '[' });
    if ((character === '}' || character === ']') && open.length > 1) open.pop();
    if (character === ',' && current !== undefined) current.key = undefined;
    const [quoted] = /^(?:"(?:[^"\\]|\\.)*"?|'[^']*'?)/.exec(rest) ?? [];
    at += quoted?.length ?? 1;
  }
  const inner = open
    .slice(0, -1)
    .flatMap(({ key, isList }) => (isList ? [undefined] : (key ?? [])));
  const last = open.at(-1);
  const steps = last?.isList ? [...path, ...inner, undefined] : [...path, ...inner];
  return { path: steps, key: last?.key };
}

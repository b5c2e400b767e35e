import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type ScalarTag,
  visit,
} from 'yaml';
import { numberOf, readJson } from '../contract/json.ts';
import type { At } from '../shape/shapes.ts';
import { describe, problemText } from '../words.ts';
import { readScenario, type Scenario } from './read-scenario.ts';

/** Deeper than any real scenario, and safe for recursion. */
const MAX_DEPTH = 200;

/** The most values that aliases expand to: a few lines could expand to billions. */
const MAX_ALIASED = 100_000;

/** Problems whose place is sought: each search takes time. */
const MOST_PLACES = 100;

interface ParsedText {
  /** Undefined if the text is not JSON or YAML. */
  readonly value?: unknown;
  /** A line for each problem of the syntax. */
  readonly problems: readonly string[];
  /** The place of a value, or of its name, as `FILE:LINE:COLUMN`. */
  readonly placeOf: (at: At, ofName?: boolean) => string;
}

/**
 * Reads the text of a scenario.
 *
 * @param file its name in problems
 * @returns a line for each problem, and the scenario unless it cannot be read
 */
export function readScenarioText(
  file: string,
  format: 'json' | 'yaml',
  text: string,
  name: string,
): { readonly scenario?: Scenario; readonly problems: readonly string[] } {
  const parsed = parseScenario(file, format, text);
  if (!('value' in parsed)) return parsed;
  const { value, problems, placeOf } = parsed;
  const reading = readScenario(value, name);
  if (reading.ok) return { scenario: { ...reading.value, placeOf }, problems };
  const misfits = reading.problems.map((it, index) =>
    problemText({ ...it, place: index < MOST_PLACES ? placeOf(it.at, it.ofName) : file }),
  );
  return { problems: [...problems, ...misfits] };
}

/** Parses the text of a scenario. The YAML parser reads JSON too, but only to find places. */
export function parseScenario(file: string, format: 'json' | 'yaml', text: string): ParsedText {
  const source = text.replace(/^\uFEFF/, '');
  const lines = new LineCounter();
  const document = documentOf(source, lines);
  const targets = new Map<Alias, Node>();
  const place = (offset = 0): string => {
    // An empty file has no lines to count.
    const { line, col } = offset === 0 ? { line: 1, col: 1 } : lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const placeOf = (at: At, ofName = false): string =>
    document === undefined ? file : place(offsetOf(document, targets, at, ofName));
  const problems = repeatedNames(document).map(
    (key) => `${place(startOf(key))}: ${nameOf(key)}: expected each name once, found it again`,
  );
  if (format === 'json') {
    const reading = readJson(file, source);
    if (reading.ok) return { value: reading.value, problems, placeOf };
    return { problems: [reading.problem], placeOf };
  }
  if (document === undefined) {
    const found = 'YAML that is nested too deep to read';
    return { problems: [`${file}: expected YAML, found ${found}`], placeOf };
  }
  // Later errors follow from the first.
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) {
    const deep = tooDeepAfter(source, lines.linePos(error.pos[0]).line);
    if (deep !== undefined) return { problems: [`${file}:${deep}`], placeOf };
    const multiple = error.code === 'MULTIPLE_DOCS';
    const message = multiple ? 'One document in a file' : error.message.replace(/\s+/g, ' ');
    return { problems: [`${place(error.pos[0])}: expected YAML: ${message}`], placeOf };
  }
  let broken: string | undefined;
  const value = plainValue(document.contents, targets, (node, expected, found) => {
    broken ??= `${place(startOf(node))}: expected ${expected}, found ${found}`;
  });
  return broken === undefined ? { value, problems, placeOf } : { problems: [broken], placeOf };
}

/**
 * The line, at or below a syntax error, that is indented below a line that has a value already. The
 * parser blames the line above, or the next one of the same depth.
 */
function tooDeepAfter(source: string, line: number): string | undefined {
  const filled = source
    .split('\n')
    .map((text, index) => ({ text: text.trimEnd(), number: index + 1 }))
    .filter(({ text }) => !/^\s*(?:#|$)/.test(text));
  const at = filled.findIndex(({ number }) => number >= line);
  return deeper(filled[at - 1], filled[at]) ?? deeper(filled[at], filled[at + 1]);
}

interface Line {
  readonly text: string;
  readonly number: number;
}

function deeper(above: Line | undefined, below: Line | undefined): string | undefined {
  if (above === undefined || below === undefined) return undefined;
  const [, indent = '', value = ''] = /^([\s-]*)[^\s:]+: +([^\s#|>&].*)$/.exec(above.text) ?? [];
  const continues = /^[{["']/.test(value) && !/[}\]"']$/.test(value);
  const column = below.text.search(/\S/);
  if (value === '' || continues || column <= indent.length) return undefined;
  const told = `line ${above.number}, which has a value already: ${describe(above.text.trim())}`;
  return `${below.number}:${column + 1}: this line is indented below ${told}`;
}

/** A number in JSON syntax is exact, as in JSON. YAML's own tags read all others. */
const EXACT_NUMBER: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/,
  resolve: numberOf,
};

/** Undefined if the text is nested too deep to read. */
function documentOf(source: string, lineCounter: LineCounter): Document.Parsed | undefined {
  try {
    const document = parseDocument(source, {
      lineCounter,
      prettyErrors: false,
      // The parser compares each name with all others of its map; `repeatedNames` takes linear time.
      uniqueKeys: false,
      schema: 'core',
      customTags: (tags) => [EXACT_NUMBER, ...tags],
    });
    const tooDeep = document.errors.some(({ code }) => code === 'RESOURCE_EXHAUSTION');
    return tooDeep ? undefined : document;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The names that occur again in the same map, in the order of the text. */
function repeatedNames(document: Document.Parsed | undefined): Node[] {
  const repeated: Node[] = [];
  if (document === undefined) return repeated;
  visit(document, {
    Map(_, { items }) {
      const names = new Set<string>();
      for (const { key } of items) {
        if (isScalar(key) && names.has(nameOf(key))) repeated.push(key);
        names.add(nameOf(key));
      }
    },
  });
  return repeated;
}

/**
 * Converts a node to a plain value, as `parseJson` returns it. Unlike the parser's own conversion,
 * it takes linear time and limits the values that aliases expand to.
 *
 * @param targets gets the node of each alias
 * @param refuse called at least once if the node cannot be converted
 */
function plainValue(
  contents: Node | null,
  targets: Map<Alias, Node>,
  refuse: (node: Node, expected: string, found: string) => void,
): unknown {
  const anchors = new Map<string, Node>();
  let aliased = 0;
  const plain = (node: unknown, depth: number, isAliased: boolean): unknown => {
    if (!isNode(node) || aliased > MAX_ALIASED) return null;
    if (isAliased) aliased += 1;
    if (aliased > MAX_ALIASED) refuse(node, `aliases of at most ${MAX_ALIASED} values`, 'more');
    if (depth > MAX_DEPTH) return refuse(node, `at most ${MAX_DEPTH} levels`, 'more');
    if (isAlias(node)) {
      const target = isAliased ? targets.get(node) : anchors.get(node.source);
      if (target === undefined) {
        return refuse(node, 'an alias of an earlier anchor', describe(`*${node.source}`));
      }
      targets.set(node, target);
      return plain(target, depth + 1, true);
    }
    if (node.anchor !== undefined && !isAliased) anchors.set(node.anchor, node);
    if (isScalar(node)) return node.value;
    if (isSeq(node)) return node.items.map((item) => plain(item, depth + 1, isAliased));
    if (!isMap(node)) return null;
    const entries = node.items.map(({ key, value }) => {
      if (!isScalar(key))
        refuse(isNode(key) ? key : node, 'a scalar as a name', describe(String(key)));
      return [nameOf(key), plain(value, depth + 1, isAliased)] as const;
    });
    // Defined, not assigned: a member may be called `__proto__`.
    return Object.fromEntries(entries);
  };
  return plain(contents, 0, false);
}

/** The name of a key, which may be written as a number. */
function nameOf(key: unknown): string {
  return isScalar(key) ? String(key.value) : '';
}

/** The start of a value or a name. A missing or aliased value has the place of its parent. */
function offsetOf(
  document: Document.Parsed,
  targets: ReadonlyMap<Alias, Node>,
  at: At,
  ofName: boolean,
): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [index, step] of at.entries()) {
    const parent = isAlias(node) ? targets.get(node) : node;
    const pair = isMap(parent) ? parent.items.find(({ key }) => nameOf(key) === step) : undefined;
    const name = startOf(pair?.key) ?? offset;
    if (ofName && index === at.length - 1) return name;
    node = isSeq(parent) && typeof step === 'number' ? parent.items[step] : pair?.value;
    offset = startOf(node) ?? name;
  }
  return offset;
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

/** Something wrong in the text of a scenario. Lines and columns count from 1. */
interface TextProblem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/** The scenario that a text holds, or what is wrong with it. */
export type TextReading =
  | { readonly ok: true; readonly scenario: Scenario }
  | { readonly ok: false; readonly problems: readonly TextProblem[] };

/** Characters of a text that is read while clients wait: YAML takes about 2 ms a KiB at worst. */
const MOST_CHARACTERS = 16 * 1024;

const TOO_LONG = {
  line: 1,
  column: 1,
  message: `expected at most ${MOST_CHARACTERS} characters, found more: send the scenario as JSON, or start the server with its file`,
};

/**
 * Reads a scenario from a text in YAML or JSON, of at most 16 Ki characters. Loads nothing that it extends.
 *
 * @param name of the scenario, also in the places of its problems
 */
export function scenarioFromText(name: string, text: string): TextReading {
  if (text.length > MOST_CHARACTERS) return { ok: false, problems: [TOO_LONG] };
  const { scenario, problems } = readScenarioText(name, 'yaml', text, name);
  if (scenario !== undefined && problems.length === 0) return { ok: true, scenario };
  const first = problems.slice(0, MOST_PLACES).map(placed);
  const more = problems.length - first.length;
  if (more > 0) first.push({ line: 1, column: 1, message: `and ${more} more problems` });
  return { ok: false, problems: first };
}

/** Takes `NAME:LINE:COLUMN: MESSAGE` apart. */
function placed(text: string): TextProblem {
  const [, line = '1', column = '1', message = text] =
    /^[^:]*:(\d+):(\d+): (.*)$/s.exec(text) ?? [];
  return { line: Number(line), column: Number(column), message };
}

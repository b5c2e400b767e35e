import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  type ScalarTag,
} from 'yaml';
import { numberOf } from '../contract/json.ts';
import { type ParsedText, textProblems, type Visit } from '../shape/places.ts';
import { memberPath } from '../shape/shapes.ts';
import { describe } from '../words.ts';

/** Deeper than any real scenario, and safe for recursion. */
const MAX_DEPTH = 200;

/** The most values that aliases expand to: a few lines could expand to billions. */
const MAX_ALIASED = 100_000;

/** Parses the text of a YAML file. */
export function readYaml(content: string): ParsedText {
  const text = content.replace(/^\uFEFF/, '');
  const refused = (offset: number, message: string): ParsedText => ({
    ok: false,
    problems: textProblems(text, [[offset, message]]),
  });
  const document = documentOf(text);
  if (document === undefined) {
    return refused(0, 'expected YAML, found YAML that is nested too deep to read');
  }
  // Later errors follow from the first.
  const [error] = [...document.errors, ...document.warnings];
  if (error !== undefined) {
    const [offset] = error.pos;
    const message = error.code === 'MULTIPLE_DOCS' ? 'One document in a file' : error.message;
    const yaml = `expected YAML: ${message.replace(/\s+/g, ' ')}`;
    return refused(...(tooDeepAfter(text, offset) ?? ([offset, yaml] as const)));
  }
  let broken: ParsedText | undefined;
  const visits: Visit[] = [];
  const value = plainValue(document.contents, visits, (node, expected, found) => {
    broken ??= refused(startOf(node) ?? 0, `expected ${expected}, found ${found}`);
  });
  return broken ?? { ok: true, source: { text, value, visits: () => visits } };
}

/**
 * The line, at or below a syntax error, that is indented below a line that has a value already. The
 * parser blames the line above, or the next one of the same depth.
 */
function tooDeepAfter(
  text: string,
  offset: number,
): readonly [offset: number, message: string] | undefined {
  const filled = [...text.matchAll(/^(?!\s*(?:#|$)).+$/gm)];
  const error = filled.findIndex(({ 0: line, index }) => index + line.length >= offset);
  for (const at of [error, error + 1]) {
    const [above, below] = [filled[at - 1], filled[at]];
    if (above === undefined || below === undefined) continue;
    const line = above[0].trim();
    const [, dashes = '', value = ''] = /^([\s-]*)[^\s:]+: +([^\s#|>&].*)$/.exec(line) ?? [];
    const indent = above[0].search(/\S/) + dashes.length;
    const column = below[0].search(/\S/);
    const continues = /^[{["']/.test(value) && !/[}\]"']$/.test(value);
    if (value === '' || continues || column <= indent) continue;
    const number = text.slice(0, above.index).split('\n').length;
    const message = `this line is indented below line ${number}, which has a value already: ${describe(line)}`;
    return [below.index + column, message];
  }
  return undefined;
}

/** A number in JSON syntax is exact, as in JSON. YAML's own tags read all others. */
const EXACT_NUMBER: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/,
  resolve: numberOf,
};

/** Undefined if the text is nested too deep to read. */
function documentOf(text: string): Document.Parsed | undefined {
  try {
    const document = parseDocument(text, {
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

/**
 * Converts a node to a plain value, as `parseJson` returns it. Unlike the parser's own conversion,
 * it takes linear time and limits the values that aliases expand to.
 *
 * @param visits gets every value; those of an alias are where its anchor is
 * @param refuse called at least once if the node cannot be converted
 */
function plainValue(
  contents: Node | null,
  visits: Visit[],
  refuse: (node: Node, expected: string, found: string) => void,
): unknown {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  let aliased = 0;
  const visited = (node: unknown, visit: Omit<Visit, 'start'>, depth: number, inAlias: boolean) => {
    const { path, name } = visit;
    visits.push({ path, name, start: startOf(node) ?? name ?? 0 });
    return plain(node, path, depth, inAlias);
  };
  const plain = (node: unknown, path: string, depth: number, inAlias: boolean): unknown => {
    if (!isNode(node) || aliased > MAX_ALIASED) return null;
    if (inAlias) aliased += 1;
    if (aliased > MAX_ALIASED) refuse(node, `aliases of at most ${MAX_ALIASED} values`, 'more');
    if (depth > MAX_DEPTH) return refuse(node, `at most ${MAX_DEPTH} levels`, 'more');
    if (isAlias(node)) {
      const target = inAlias ? targets.get(node) : anchors.get(node.source);
      if (target === undefined) {
        return refuse(node, 'an alias of an earlier anchor', describe(`*${node.source}`));
      }
      targets.set(node, target);
      return plain(target, path, depth + 1, true);
    }
    if (node.anchor !== undefined && !inAlias) anchors.set(node.anchor, node);
    if (isScalar(node)) {
      const isJson = typeof node.value !== 'number' || Number.isFinite(node.value);
      return isJson
        ? node.value
        : refuse(node, 'a number that JSON can represent', String(node.value));
    }
    if (isSeq(node)) {
      return node.items.map((item, index) =>
        visited(item, { path: `${path}[${index}]` }, depth + 1, inAlias),
      );
    }
    if (!isMap(node)) return null;
    const entries = node.items.map(({ key, value }) => {
      if (!isScalar(key))
        refuse(isNode(key) ? key : node, 'a scalar as a name', describe(String(key)));
      // A name may be written as a number.
      const name = isScalar(key) ? String(key.value) : '';
      const visit = { path: path + memberPath(name), name: startOf(key) };
      return [name, visited(value, visit, depth + 1, inAlias)] as const;
    });
    // Defined, not assigned: a member may be called `__proto__`.
    return Object.fromEntries(entries);
  };
  return visited(contents, { path: '$' }, 0, false);
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  parseDocument,
  type ScalarTag,
  type YAMLError,
} from 'yaml';
import { isWithinNesting, numberOf, TOO_DEEP } from '../contract/json.ts';
import type { ShapeProblem } from '../shape/shapes.ts';
import { type ParsedText, placedLines } from '../shape/source-text.ts';
import { problemText } from '../words.ts';

/** A number in JSON syntax is exact, as in JSON. YAML's own tags read all others. */
const EXACT_NUMBER: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/,
  resolve: numberOf,
};

/**
 * Parses the text of a YAML file. The parser limits how much aliases can expand to.
 *
 * @param file its name in problems
 */
export function readYaml(file: string, content: string): ParsedText {
  const text = content.replace(/^\uFEFF/, '');
  const refused = (offset: number, message: string): ParsedText => {
    const oneLine = `expected YAML: ${message.replace(/\s+/g, ' ')}`;
    return { ok: false, problems: placedLines(file, text, [[offset, oneLine]]) };
  };
  try {
    const document = parseDocument(text, {
      prettyErrors: false,
      logLevel: 'error',
      schema: 'core',
      customTags: (tags) => [EXACT_NUMBER, ...tags],
    });
    // Later errors follow from the first.
    const [error] = [...document.errors, ...document.warnings];
    if (error === undefined) {
      const linesOf = (problems: readonly ShapeProblem[]) => {
        const placed = problems.map(
          (problem) => [offsetOf(document, problem), problemText(problem)] as const,
        );
        return placedLines(file, text, placed);
      };
      const value: unknown = document.toJS();
      return isWithinNesting(value) ? { ok: true, value, linesOf } : refused(0, TOO_DEEP);
    }
    return refused(error.pos[0], messageOf(error));
  } catch (error) {
    // An alias that has no anchor, or too many of them.
    if (error instanceof ReferenceError || error instanceof RangeError) {
      return refused(0, error.message);
    }
    throw error;
  }
}

function messageOf({ code, message }: YAMLError): string {
  if (code === 'MULTIPLE_DOCS') return 'One document in a file';
  // The parser reports an overflow of the stack as it is.
  return message.startsWith('Maximum call stack') ? TOO_DEEP : message;
}

/** Where a value or its name begins. A value that is missing has the place of its parent. */
function offsetOf(document: Document, { at, ofName }: ShapeProblem): number {
  let found: unknown = document.contents;
  let name: unknown;
  for (const step of at) {
    const parent = isAlias(found) ? found.resolve(document) : found;
    const pair = isMap(parent)
      ? parent.items.find(({ key }) => isScalar(key) && String(key.value) === step)
      : undefined;
    const value = isSeq(parent) ? parent.items[Number(step)] : pair?.value;
    if (pair === undefined && value === undefined)
      return nodeOffset(found) ?? nodeOffset(name) ?? 0;
    [found, name] = [value, pair?.key];
  }
  return (ofName ? nodeOffset(name) : undefined) ?? nodeOffset(found) ?? nodeOffset(name) ?? 0;
}

function nodeOffset(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

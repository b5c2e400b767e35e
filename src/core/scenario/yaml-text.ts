import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  type Node,
  Parser,
  type ScalarTag,
  visit,
} from 'yaml';
import { keepNumber, NUMBER_TEXT, TOO_DEEP, WrittenNumber } from '../json.ts';
import { LIMITS } from '../limits.ts';
import {
  createLocator,
  createRepetitionProblem,
  createSyntaxProblem,
  type ParsedText,
  type Place,
  pathKey,
  type RepeatedName,
} from '../shape/source-text.ts';

/** The numbers of YAML's core schema without `.inf` and `.nan`, which JSON does not have. */
const EXACT_NUMBER: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  test: /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|0o[0-7]+|0x[\da-fA-F]+)$/,
  resolve(text) {
    if (NUMBER_TEXT.test(text)) return keepNumber(text);
    const value = /[.eE]/.test(text) && !text.startsWith('0x') ? Number(text) : BigInt(text);
    return new WrittenNumber(String(value), text);
  },
};

/** @param file the name of the text in messages */
export function readYaml(file: string, content: string): ParsedText {
  const text = content.replace(/^\uFEFF/, '');
  const refused = (offset: number, message: string): ParsedText => {
    const reason = message.replace(/\s+/g, ' ');
    return { ok: false, problems: [createSyntaxProblem(file, text, offset, 'YAML', reason)] };
  };
  try {
    const composer = new Composer({
      schema: 'core',
      // The library's own check compares each key with all others. `findForeign` is faster.
      uniqueKeys: false,
      customTags: (tags) => [EXACT_NUMBER, ...tags],
    });
    const [document, another] = composer.compose(readTokens(text), true, text.length);
    if (document === undefined) throw new Error('A composer that is forced makes a document.');
    // Only the first error is shown, because later ones often follow from it.
    const [error] = [...document.errors, ...document.warnings];
    if (error !== undefined) {
      const isBare = text[error.pos[0]] === '*' && /empty/.test(error.message);
      return refused(error.pos[0], isBare ? 'a `*` alone: quote it, as "*"' : error.message);
    }
    if (another !== undefined) return refused(another.range[0], 'One document in a file');
    const foreign = findForeign(document);
    if (foreign !== undefined && 'name' in foreign) {
      return { ok: false, problems: [createRepetitionProblem(file, text, 'YAML', foreign)] };
    }
    if (foreign !== undefined) return refused(foreign.offset, foreign.reason);
    const locate = createLocator(file, text, (wanted) => findPlaces(document, wanted));
    const value: unknown = document.toJS();
    return isWithin(LIMITS.nesting, value) ? { ok: true, value, locate } : refused(0, TOO_DEEP);
  } catch (error) {
    // Thrown for deep nesting, for an alias without an anchor, and for too many aliases.
    if (error instanceof ReferenceError || error instanceof RangeError) {
      return refused(0, error.message);
    }
    throw error;
  }
}

/** Something that JSON cannot express, or a name that occurs twice in a map. */
type Foreign = RepeatedName | { readonly offset: number; readonly reason: string };

function findForeign(document: Document): Foreign | undefined {
  let foreign: Foreign | undefined;
  visit(document, {
    Node(_, node) {
      foreign = isAlias(node) ? undefined : judge(node);
      return foreign && visit.BREAK;
    },
  });
  return foreign;
}

function judge(node: Node): Foreign | undefined {
  const refuse = (at: unknown, reason: string) => ({ offset: nodeOffset(at) ?? 0, reason });
  if (node.tag !== undefined && !JSON_TAG.test(node.tag)) {
    return refuse(node, `a tag without a value in JSON: ${node.tag}`);
  }
  if (isScalar(node) && typeof node.value === 'number' && !Number.isFinite(node.value)) {
    return refuse(node, `a number without digits: ${node.source}`);
  }
  const names = new Map<string, number>();
  for (const { key } of isMap(node) ? node.items : []) {
    if (!isScalar(key)) return refuse(key, 'a name that is not text');
    const name = String(key.value);
    const [first, second] = [names.get(name), nodeOffset(key) ?? 0];
    if (first !== undefined) return { name, first, second };
    names.set(name, second);
  }
  return undefined;
}

const JSON_TAG = /^(?:!|tag:yaml\.org,2002:(?:map|seq|str|int|float|bool|null))$/;

/** Limits the nesting before the composer recurses: a stack overflow may end the process. */
function* readTokens(text: string): Generator<CST.Token> {
  const parser = new Parser();
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    // The stack also has the document, and perhaps a scalar.
    if (parser.stack.length > LIMITS.nesting + 2) throw new RangeError(TOO_DEEP);
  }
  yield* parser.end();
}

/** Whether a value is not nested deeper than that. With aliases, it may even contain itself. */
function isWithin(levels: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((member) => isWithin(levels - 1, member));
}

function findPlaces(document: Document, wanted: ReadonlySet<string>): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  const visit = (path: readonly (string | number)[], value: unknown, key?: unknown): void => {
    const place = pathKey(path);
    if (!wanted.has(place)) return;
    const name = nodeOffset(key);
    places.set(place, { start: nodeOffset(value) ?? name ?? 0, name });
    const node = isAlias(value) ? value.resolve(document) : value;
    for (const [index, item] of isSeq(node) ? node.items.entries() : []) {
      visit([...path, index], item);
    }
    for (const pair of isMap(node) ? node.items : []) {
      if (isScalar(pair.key)) visit([...path, String(pair.key.value)], pair.value, pair.key);
    }
  };
  visit([], document.contents);
  return places;
}

function nodeOffset(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

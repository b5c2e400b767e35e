import type { Alias, Document, LineCounter, Pair, Scalar, YAMLError } from 'yaml';
import { numberOf, readJson } from '../contract/json.ts';
import { type At, type Misfit, pathText } from '../shape/shapes.ts';
import { describe } from '../words.ts';
import type { ScenarioProblem } from './scenario.ts';

/** The parsed text of a scenario, with the places of its values. */
interface ScenarioText {
  readonly ok: true;
  readonly value: unknown;
  readonly problemOf: (misfit: Misfit) => ScenarioProblem;
  /** The place of a value, as `FILE:LINE:COLUMN`. */
  readonly placeOf: (at: At) => string;
  /** Names that occur twice: the text can be parsed, but is refused. */
  readonly problems: readonly ScenarioProblem[];
}

interface Unreadable {
  readonly ok: false;
  readonly problems: readonly (ScenarioProblem | string)[];
}

type Yaml = typeof import('yaml');

/** Deeper than any real scenario, and safe for recursion. */
const MAX_DEPTH = 200;

/** The most values that aliases expand to: a few lines could expand to billions. */
const MAX_ALIASED = 100_000;

/**
 * Parses the text of a scenario file, with the places of its values.
 *
 * For JSON, the YAML parser only finds the places; the values come from the JSON parser.
 *
 * @param file its name in problems
 */
export async function parseScenario(
  file: string,
  format: 'json' | 'yaml',
  text: string,
): Promise<ScenarioText | Unreadable> {
  const yaml: Yaml = await import('yaml');
  const source = text.startsWith('\uFEFF') ? text.slice(1) : text;
  if (format === 'yaml') return parseYaml(yaml, file, source);
  const reading = readJson(file, source);
  if (!reading.ok) return { ok: false, problems: [reading.problem] };
  const located = new Located(yaml, file, source);
  const { problemOf, placeOf } = located;
  return { ok: true, value: reading.value, problemOf, placeOf, problems: located.repeated() };
}

function parseYaml(yaml: Yaml, file: string, source: string): ScenarioText | Unreadable {
  const located = new Located(yaml, file, source);
  const broken = located.broken();
  if (broken !== undefined) return { ok: false, problems: [broken] };
  const misfits: Misfit[] = [];
  const value = new Values(yaml, located.document, (misfit) => misfits.push(misfit)).plain();
  const problems = [...misfits.map(located.problemOf), ...located.repeated()];
  if (misfits.length > 0) return { ok: false, problems };
  const { problemOf, placeOf } = located;
  return { ok: true, value, problemOf, placeOf, problems };
}

/** Finds the places of values in a text. */
class Located {
  readonly document: Document.Parsed | undefined;
  readonly #yaml: Yaml;
  readonly #file: string;
  readonly #source: string;
  readonly #lines: LineCounter;

  constructor(yaml: Yaml, file: string, source: string) {
    this.#yaml = yaml;
    this.#file = file;
    this.#source = source;
    this.#lines = new yaml.LineCounter();
    this.document = this.#parse();
  }

  /** The first fatal error. Later ones follow from it. */
  broken(): string | undefined {
    const { errors = [], warnings = [] } = this.document ?? {};
    const error = [...errors.filter((it) => it.code !== REPEATED), ...warnings][0];
    if (this.document === undefined || error?.code === 'RESOURCE_EXHAUSTION') {
      return `${this.#file}: expected YAML, found YAML that is nested too deep to read`;
    }
    return error && `${this.#place(error.pos[0])}: expected YAML: ${told(error)}`;
  }

  repeated(): readonly ScenarioProblem[] {
    const errors = this.document?.errors.filter(({ code }) => code === REPEATED) ?? [];
    return errors.map(({ pos: [start] }) => {
      const [, name = ''] = /^["']?([^"':\s,{}]*)/.exec(this.#source.slice(start)) ?? [];
      return {
        place: this.#place(start),
        path: name,
        expected: 'each name once',
        found: 'it again',
      };
    });
  }

  problemOf = ({ at, ofName, expected, found }: Misfit): ScenarioProblem => ({
    place: this.placeOf(at, ofName),
    path: pathText(at),
    expected,
    found,
  });

  placeOf = (at: At, ofName = false): string => {
    if (this.document === undefined) return this.#file;
    return this.#place(this.#offset(at, ofName) ?? 0);
  };

  #parse(): Document.Parsed | undefined {
    try {
      const options = { lineCounter: this.#lines, prettyErrors: false, schema: 'core' } as const;
      return this.#yaml.parseDocument(this.#source, options);
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  #place(offset: number): string {
    // An empty file has no lines to count.
    const { line, col } = offset === 0 ? { line: 1, col: 1 } : this.#lines.linePos(offset);
    return `${this.#file}:${line}:${col}`;
  }

  /** The start of a value. A missing or aliased value has the place of its parent. */
  #offset(at: At, ofName: boolean): number | undefined {
    let node: unknown = this.document?.contents;
    let offset = startOf(node);
    for (const [index, step] of at.entries()) {
      const pair = this.#pairAt(node, step);
      const child = pair === undefined ? this.#itemAt(node, step) : pair.value;
      const named = startOf(pair?.key);
      if (ofName && index === at.length - 1) return named ?? offset;
      offset = startOf(child) ?? named ?? offset;
      node = child;
    }
    return offset;
  }

  #pairAt(node: unknown, step: string | number): Pair | undefined {
    const { isMap } = this.#yaml;
    const map = this.#resolved(node);
    return isMap(map) ? map.items.find(({ key }) => nameOf(this.#yaml, key) === step) : undefined;
  }

  #itemAt(node: unknown, step: string | number): unknown {
    const list = this.#resolved(node);
    return this.#yaml.isSeq(list) && typeof step === 'number' ? list.items[step] : undefined;
  }

  #resolved(node: unknown): unknown {
    const { document } = this;
    return this.#yaml.isAlias(node) && document ? node.resolve(document) : node;
  }
}

const REPEATED = 'DUPLICATE_KEY';

function told({ code, message }: YAMLError): string {
  return code === 'MULTIPLE_DOCS' ? 'One document in a file' : message.replace(/\s+/g, ' ');
}

function startOf(node: unknown): number | undefined {
  const range = Object(node).range;
  return Array.isArray(range) && typeof range[0] === 'number' ? range[0] : undefined;
}

/** The name of a key, which may be written as a number. */
function nameOf({ isScalar }: Yaml, key: unknown): string | undefined {
  if (!isScalar(key)) return undefined;
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
}

/** Converts the nodes of a document to plain values, as `parseJson` returns them. */
class Values {
  readonly #yaml: Yaml;
  readonly #document: Document.Parsed | undefined;
  readonly #tell: (misfit: Misfit) => void;
  #aliased = 0;
  #ended = false;

  constructor(yaml: Yaml, document: Document.Parsed | undefined, tell: (misfit: Misfit) => void) {
    this.#yaml = yaml;
    this.#document = document;
    this.#tell = tell;
  }

  plain(): unknown {
    return this.#plain(this.#document?.contents, [], false);
  }

  #plain(node: unknown, at: At, aliased: boolean): unknown {
    const { isAlias, isMap, isScalar, isSeq } = this.#yaml;
    if (!this.#bounded(at, aliased)) return undefined;
    if (isAlias(node)) return this.#aliasOf(node, at);
    if (isSeq(node))
      return node.items.map((item, index) => this.#plain(item, [...at, index], aliased));
    if (!isMap(node)) return isScalar(node) ? plainScalar(node) : null;
    const entries = node.items.flatMap(({ key, value }) => {
      const name = nameOf(this.#yaml, key);
      if (name !== undefined) return [[name, this.#plain(value, [...at, name], aliased)] as const];
      this.#tell({ at, expected: 'a scalar as a name', found: describe(String(key)) });
      return [];
    });
    // Defined, not assigned: a member may be called `__proto__`.
    return Object.fromEntries(entries);
  }

  /** Whether a value is within the limits. The first that is not ends the conversion. */
  #bounded(at: At, aliased: boolean): boolean {
    if (this.#ended) return false;
    if (aliased) this.#aliased += 1;
    const deep = at.length > MAX_DEPTH;
    if (!deep && this.#aliased <= MAX_ALIASED) return true;
    this.#ended = true;
    const expected = deep
      ? `at most ${MAX_DEPTH} levels`
      : `aliases of at most ${MAX_ALIASED} values`;
    this.#tell({ at: at.slice(0, 1), expected, found: 'more' });
    return false;
  }

  #aliasOf(alias: Alias, at: At): unknown {
    const node = this.#document && alias.resolve(this.#document);
    if (node !== undefined) return this.#plain(node, at, true);
    const expected = 'an alias of an earlier anchor';
    this.#tell({ at, expected, found: describe(`*${alias.source}`) });
    return undefined;
  }
}

/** A number in JSON syntax. */
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** The value of a scalar. Numbers in JSON syntax are exact, as in JSON. */
function plainScalar({ value, source = '' }: Scalar): unknown {
  return typeof value === 'number' && JSON_NUMBER.test(source) ? numberOf(source) : value;
}

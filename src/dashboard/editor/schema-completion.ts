import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { isPair, isScalar, isSeq, parseDocument, visit } from 'yaml';

type PathStep = string | undefined;

interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
}

export function completeFrom(
  schema: Schema,
): (context: CompletionContext) => CompletionResult | null {
  return ({ state, pos, explicit }) => {
    const before = state.sliceDoc(0, pos);
    const [word = ''] = /[\w*"$.-]*$/.exec(before) ?? [];
    if (word === '' && !explicit) return null;
    const text = before.slice(0, before.length - word.length);
    const around = findPath(text).reduce(findSchemas, alternatives(schema));
    // A name cannot follow another in its line.
    const names = /:[ \t]+$/.test(text) ? [] : listNames(around);
    const options = [...names, ...listValues(around)];
    return options.length === 0 ? null : { from: pos - word.length, options };
  };
}

/** Takes the place of the unfinished value while the text is parsed. */
const CURSOR = 'CURSOR';

/** The path from the root of a document to the end of its text, which may be unfinished. */
function findPath(text: string): PathStep[] {
  let steps: PathStep[] = [];
  visit(parseDocument(text + CURSOR), {
    Scalar: (place, { value }, nodes) => {
      if (!String(value).endsWith(CURSOR)) return undefined;
      steps = nodes.flatMap((node): PathStep[] => {
        if (isSeq(node)) return [undefined];
        return isPair(node) && isScalar(node.key) ? [String(node.key.value)] : [];
      });
      if (place === 'key') steps.pop();
      return visit.BREAK;
    },
  });
  return steps;
}

function alternatives(schema: Schema): readonly Schema[] {
  const others = [...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  return [schema, ...others.flatMap(alternatives)];
}

function findSchemas(schemas: readonly Schema[], step: PathStep): readonly Schema[] {
  return schemas.flatMap(({ items, properties = {}, additionalProperties }) => {
    if (step === undefined) return items === undefined ? [] : alternatives(items);
    const property = Object.hasOwn(properties, step) ? properties[step] : additionalProperties;
    return typeof property === 'object' ? alternatives(property) : [];
  });
}

function listNames(schemas: readonly Schema[]): Completion[] {
  const properties = schemas.flatMap((it) => Object.entries(it.properties ?? {}));
  return [...new Map(properties)].map(([label, { description = '' }]) => ({
    label,
    apply: `${label}: `,
    type: 'property',
    info: description,
  }));
}

function listValues(schemas: readonly Schema[]): Completion[] {
  const values = schemas.flatMap((it) => [
    ...(it.enum ?? []),
    ...(it.const === undefined ? [] : [it.const]),
    ...(it.examples ?? []),
    ...(it.type === 'boolean' ? [true, false] : []),
  ]);
  const scalars = values.filter((value) => typeof value !== 'object');
  // In YAML, `*` alone would be an alias.
  const labels = new Set(scalars.map((value) => (value === '*' ? '"*"' : String(value))));
  return [...labels].map((label) => ({ label, type: 'constant' }));
}

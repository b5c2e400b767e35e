import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { isPair, isScalar, isSeq, parseDocument, visit } from 'yaml';

/** A step from a value to one within it: a name, or any element of a list. */
type PathStep = string | undefined;

/** The part of JSON Schema that the schema of scenarios uses. */
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

/** Completes names and values from a schema. */
export function completeFrom(
  schema: Schema,
): (context: CompletionContext) => CompletionResult | null {
  return ({ state, pos, explicit }) => {
    const before = state.sliceDoc(0, pos);
    const [word = ''] = /[\w*"$.-]*$/.exec(before) ?? [];
    if (word === '' && !explicit) return null;
    const text = before.slice(0, before.length - word.length);
    const around = pathAfter(text).reduce(schemasAt, alternatives(schema));
    // A name cannot follow another in its line.
    const names = /:[ \t]+$/.test(text) ? [] : namesIn(around);
    const options = [...names, ...valuesOf(around)];
    return options.length === 0 ? null : { from: pos - word.length, options };
  };
}

/** Takes the place of the unfinished value while the text is parsed. */
const CURSOR = 'CURSOR';

/** The path from the root of a document to the end of its text, which may be unfinished. */
function pathAfter(text: string): PathStep[] {
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

/** A schema and all of its alternatives. */
function alternatives(schema: Schema): readonly Schema[] {
  const others = [...(schema.anyOf ?? []), ...(schema.allOf ?? [])];
  return [schema, ...others.flatMap(alternatives)];
}

/** The schemas at the end of a step. */
function schemasAt(schemas: readonly Schema[], step: PathStep): readonly Schema[] {
  return schemas.flatMap(({ items, properties = {}, additionalProperties }) => {
    if (step === undefined) return items === undefined ? [] : alternatives(items);
    const property = Object.hasOwn(properties, step) ? properties[step] : additionalProperties;
    return typeof property === 'object' ? alternatives(property) : [];
  });
}

function namesIn(schemas: readonly Schema[]): Completion[] {
  const properties = schemas.flatMap((it) => Object.entries(it.properties ?? {}));
  return [...new Map(properties)].map(([label, { description = '' }]) => ({
    label,
    apply: `${label}: `,
    type: 'property',
    info: description,
  }));
}

function valuesOf(schemas: readonly Schema[]): Completion[] {
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

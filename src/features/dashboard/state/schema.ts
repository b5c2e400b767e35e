import { client } from './session.ts';

/** As much of JSON Schema as the shapes of scenarios are written in. */
export interface Schema {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | false;
  readonly items?: Schema;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
}

let loading: Promise<Schema> | undefined;

/** That of a scenario, which the server writes from the shapes that it reads scenarios with. */
export function loadSchema(): Promise<Schema> {
  loading ??= client.call('GET /scenario-schema').then(
    (schema): Schema => schema,
    (error) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}

/** A schema, or the alternatives that it lists. */
export function listAlternatives(schema: Schema): readonly Schema[] {
  return schema.anyOf?.flatMap(listAlternatives) ?? [schema];
}

/** The schemas of a member or an item. */
export function listMembers(schemas: readonly Schema[], step: unknown): readonly Schema[] {
  return schemas
    .flatMap(listAlternatives)
    .map(({ properties, additionalProperties, items }) =>
      typeof step === 'number' ? items : (properties?.[String(step)] ?? additionalProperties),
    )
    .filter((found) => typeof found === 'object');
}

/** The values that a schema names. */
export function listValues(schema: Schema): readonly string[] {
  const all = listAlternatives(schema).flatMap((one) =>
    one.type === 'boolean' && one.const === undefined
      ? [true, false]
      : [one.const ?? [], one.enum ?? [], one.examples ?? []].flat(),
  );
  return [...new Set(all.map(String))];
}

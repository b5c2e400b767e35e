import fc from 'fast-check';
import { isObject } from '../../src/core/json.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Few numbers, so that ids meet records, and no store is large. */
const NUMBER_SPAN = 4;

/** Values that a JSON Schema allows, now and then with a member that it does not. */
export function schemaValues(schema: unknown, depth = 0): fc.Arbitrary<unknown> {
  if (!isObject(schema)) return fc.constantFrom<unknown>(1, 'text', null, true);
  const { anyOf, oneOf, const: only } = schema;
  if (only !== undefined) return fc.constant(only);
  for (const some of [schema.enum, schema.examples]) {
    if (Array.isArray(some) && some.length > 0) return fc.constantFrom<unknown>(...some);
  }
  for (const choices of [anyOf, oneOf]) {
    if (Array.isArray(choices)) return fc.oneof(...choices.map((it) => schemaValues(it, depth)));
  }
  const types: readonly unknown[] = [schema.type].flat();
  return fc.oneof(...types.map((type) => typedValues(type, schema, depth)));
}

function typedValues(type: unknown, schema: Schema, depth: number): fc.Arbitrary<unknown> {
  switch (type) {
    case 'object':
      return objects(schema, depth);
    case 'array': {
      const { minItems, maxItems } = schema;
      const [minLength, maxLength] = [Number(minItems ?? 0), Math.min(Number(maxItems ?? 3), 3)];
      return fc.array(schemaValues(schema.items, depth + 1), { minLength, maxLength });
    }
    case 'integer':
    case 'number': {
      const { minimum = 1, maximum } = schema;
      const min = Math.max(Number(minimum), -3);
      return fc.integer({
        min,
        max: Math.min(Number(maximum ?? min + NUMBER_SPAN), min + NUMBER_SPAN),
      });
    }
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return texts(schema);
  }
}

function texts({ pattern, format }: Schema): fc.Arbitrary<string> {
  if (format === 'date-time')
    return fc.constantFrom('2030-01-01T00:00:00Z', '2031-07-01T12:00:00.5+02:00');
  if (typeof pattern === 'string' && !pattern.includes('(?')) {
    return fc.stringMatching(new RegExp(pattern), { maxLength: 8 });
  }
  return fc.constantFrom('a', 'b', 'slow', 'outage', 'default', 'PT5M', '1', 'Rex');
}

function objects(schema: Schema, depth: number): fc.Arbitrary<object> {
  const { properties = {}, required = [], propertyNames, additionalProperties } = schema;
  if (isObject(propertyNames)) {
    const name = fc.stringMatching(new RegExp(String(propertyNames.pattern)), { maxLength: 8 });
    return fc.dictionary(name, schemaValues(additionalProperties, depth + 1), { maxKeys: 2 });
  }
  const names = isObject(properties) ? Object.entries(properties) : [];
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  // Deep objects have their required members only, or values would grow without end.
  const members = names.filter(([name]) => depth < 4 || isRequired(name));
  const entries = members.map(([name, member]) => {
    const value = schemaValues(member, depth + 1);
    const entry = value.map((it) => [[name, it]] as const);
    return isRequired(name)
      ? entry
      : fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: entry });
  });
  const stray = fc.oneof(
    { weight: 30, arbitrary: fc.constant([]) },
    fc.constant([['stray', 1]] as const),
  );
  return fc.tuple(...entries, stray).map((parts) => Object.fromEntries(parts.flat()));
}

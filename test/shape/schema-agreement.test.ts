import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from '../../src/contract/json.ts';
import { isObject } from '../../src/contract/records.ts';
import { ENDPOINTS } from '../../src/control/endpoints.ts';
import { SCENARIO } from '../../src/scenario/scenario-shape.ts';
import { readAs, type Shape } from '../../src/shape/shapes.ts';
import { STORE } from '../../src/store/fixture.ts';

const SHAPES: readonly (readonly [string, Shape<unknown>])[] = [
  ['a scenario', SCENARIO],
  ['a fixture', STORE],
  ...ENDPOINTS.flatMap(({ id, body }) =>
    // A text is read by itself, and not described by a shape.
    body === undefined || body.asText ? [] : [[`the body of ${id}`, body.shape] as const],
  ),
];

const ODD = fc.constantFrom<unknown>(
  ...['', 'a', 'all', '*', '1-2', '404', 'PT1S', '2/s', 'a b', 'a\nb', '2030-12-06T00:00:00Z'],
  ...[-1, 0, 0.5, 1, 204, 404, 2 ** 53, 1e300, true, false, null],
  ...[[], {}, [1, 3], { min: 1, max: 2 }, { set: [] }],
);

/** Values that a schema describes, as far as the keywords below go. */
function sample(schema: unknown): fc.Arbitrary<unknown> {
  if (!isObject(schema)) return fc.jsonValue({ maxDepth: 2 });
  if ('const' in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom<unknown>(...schema.enum);
  if (schema.type === 'object') return sampleObject(schema);
  if (Array.isArray(schema.anyOf)) return fc.oneof(...schema.anyOf.map(sample));
  switch (schema.type) {
    case 'array':
      return fc.array(sample(schema.items), {
        minLength: Number(schema.minItems ?? 0),
        maxLength: 3,
      });
    case 'integer':
    case 'number':
      return fc.oneof(ODD, fc.integer({ min: -3, max: 1000 }), fc.double({ noNaN: true }));
    case 'string':
      if (schema.format === 'date-time') return fc.constant('2030-12-06T00:00:00Z');
      // fast-check cannot generate text for a lookahead; only durations have one.
      if (/\(\?[=!]/.test(String(schema.pattern))) return fc.constantFrom('PT10M', 'P1W', '-PT1H');
      return typeof schema.pattern === 'string'
        ? fc.stringMatching(new RegExp(schema.pattern), { maxLength: 20 })
        : fc.string({ minLength: 1 });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

function sampleObject({ properties, required, ...schema }: Readonly<Record<string, unknown>>) {
  if (isObject(properties)) {
    const members: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(
      Object.entries(properties).map(([name, it]) => [name, sample(it)]),
    );
    const requiredKeys: string[] = Array.isArray(required) ? required : [];
    return fc.record(members, { requiredKeys });
  }
  const { pattern } = Object(schema.propertyNames);
  const name = fc.stringMatching(new RegExp(pattern), { maxLength: 10 });
  return fc.dictionary(name, sample(schema.additionalProperties), { maxKeys: 3 });
}

/** Every place in a value, as the steps that lead there. */
function placesIn(value: unknown, at: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([name, it]) => placesIn(it, [...at, name]))];
}

/** The value with another one at a place. */
function replaced(value: unknown, [step, ...steps]: readonly string[], by: unknown): unknown {
  if (step === undefined) return by;
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return items.map((item, index) => (String(index) === step ? replaced(item, steps, by) : item));
  }
  return { ...Object(value), [step]: replaced(Object(value)[step], steps, by) };
}

/** A value that a schema describes, or one with a single odd place. */
function nearly(schema: unknown): fc.Arbitrary<unknown> {
  const spoilt = sample(schema).chain((value) =>
    fc
      .tuple(fc.constantFrom(...placesIn(value)), fc.oneof(ODD, fc.constant('unknown')))
      .map(([at, by]) => replaced(value, by === 'unknown' ? [...at, 'unknown'] : at, by)),
  );
  return fc.oneof(sample(schema), spoilt);
}

describe('the JSON Schema accepts what the reader accepts as', () => {
  test.each(SHAPES)('%s', (_, shape) => {
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    const validate = ajv.compile(shape.schema);
    const texts = nearly(shape.schema).map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(texts, (text) => {
        if (!readAs(shape, parseJson(text)).ok) return;
        validate(JSON.parse(text));
        expect(validate.errors).toBeNull();
      }),
      { numRuns: 500 },
    );
  });
});

import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ENDPOINTS } from '../../../src/core/control/endpoints.ts';
import { parseJson } from '../../../src/core/json.ts';
import { SCENARIO } from '../../../src/core/scenario/scenario-shape.ts';
import { readAs, type Shape } from '../../../src/core/shape/shapes.ts';
import { STORE } from '../../../src/core/store/fixture.ts';
import { schemaValues } from '../../helpers/schema-values.ts';

const SHAPES: readonly (readonly [string, Shape<unknown>])[] = [
  ['a scenario', SCENARIO],
  ['a fixture', STORE],
  ...ENDPOINTS.flatMap(({ id, body }) =>
    // A text is read by itself, and not described by a shape; a drawn text is no URL.
    body === undefined || body.asText ? [] : [[`the body of ${id}`, body.shape] as const],
  ),
];

const ODD = fc.constantFrom<unknown>(
  ...['', 'a', 'all', '*', '1-2', '404', 'PT1S', '2/s', 'a b', 'a\nb', '2030-12-06T00:00:00Z'],
  ...[-1, 0, 0.5, 1, 204, 404, 2 ** 53, 1e300, true, false, null],
  ...[[], {}, [1, 3], { min: 1, max: 2 }, { set: [] }],
);

/** Every place in a value, as the steps that lead there. */
function placesIn(value: unknown, at: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [at];
  return [at, ...Object.entries(value).flatMap(([name, it]) => placesIn(it, [...at, name]))];
}

/** The value with another one at a place. */
function replaced(value: unknown, [step, ...steps]: readonly string[], by: unknown): unknown {
  if (step === undefined) return by;
  const copy = Array.isArray(value) ? [...value] : { ...Object(value) };
  copy[step] = replaced(copy[step], steps, by);
  return copy;
}

/** A value that a schema describes, or one with a single odd place. */
function nearly(schema: unknown): fc.Arbitrary<unknown> {
  const values = schemaValues(schema);
  const spoilt = values.chain((value) =>
    fc
      .tuple(fc.constantFrom(...placesIn(value)), fc.oneof(ODD, fc.constant('unknown')))
      .map(([at, by]) => replaced(value, by === 'unknown' ? [...at, 'unknown'] : at, by)),
  );
  return fc.oneof(values, spoilt);
}

/** One for all, since each compiles the schema of schemas. */
const ajv = new Ajv2020({ strict: false });
formats.default(ajv);

describe('the JSON Schema accepts what the reader accepts as', () => {
  test.each(SHAPES)('%s', (_, shape) => {
    const validate = ajv.compile(shape.schema);
    const texts = nearly(shape.schema).map((value) => JSON.stringify(value));
    let accepted = 0;
    fc.assert(
      fc.property(texts, (text) => {
        if (!readAs(shape, parseJson(text)).ok) return;
        accepted += 1;
        validate(JSON.parse(text));
        expect(validate.errors).toBeNull();
      }),
      { numRuns: 500 },
    );
    expect(accepted).toBeGreaterThan(10);
  });
});

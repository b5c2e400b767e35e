import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../src/package.ts';
import { readScenario } from '../../src/scenario/read-scenario.ts';
import { scenarioSchema } from '../../src/scenario/scenario-schema.ts';
import { BROKEN, WHOLE } from './scenario-examples.ts';

const SCENARIOS = join(packageRoot, 'scenarios');

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false });
formats.default(ajv);
const validate = ajv.compile(scenarioSchema());

test('the schema that ships is the one that the reader is made of', () => {
  const shipped: unknown = JSON.parse(
    readFileSync(join(SCENARIOS, 'scenario.schema.json'), 'utf8'),
  );
  // `npx tsx scripts/scenario-schema.mjs` writes it anew.
  expect(shipped).toEqual(scenarioSchema());
});

test.each(readdirSync(SCENARIOS).filter((file) => file.endsWith('.yaml')))(
  '%s is as the schema says',
  (file) => {
    validate(parse(readFileSync(join(SCENARIOS, file), 'utf8')));
    expect(validate.errors).toBeNull();
  },
);

test('the schema takes a scenario with everything that there is', () => {
  validate(parse(WHOLE));
  expect(validate.errors).toBeNull();
});

describe('the schema refuses what the reader refuses', () => {
  test.each(BROKEN)('%s', (_, text) => {
    expect(validate(parse(text))).toBe(false);
  });
});

test('every member is described', () => {
  const undescribed: string[] = [];
  const visit = (schema: unknown, path: string): void => {
    for (const [name, member] of Object.entries(Object(schema))) {
      const place = `${path}/${name}`;
      if (path.endsWith('/properties') && !('description' in Object(member))) {
        undescribed.push(place);
      }
      if (typeof member === 'object') visit(member, place);
    }
  };
  visit(scenarioSchema(), '');
  // What is said only to rule values out needs no description.
  expect(undescribed.filter((place) => !/\/(?:anyOf|allOf|not)\//.test(place))).toEqual([]);
});

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

test('whatever the reader takes the schema takes too', () => {
  const whole: unknown = parse(WHOLE);
  const words = ['all', '*', 'getPet', 'reset', 'shipped', '404', 'none', '1-2', 'PT1S', '2/s'];
  const value = fc.oneof(
    fc.constantFrom(...words, '2030-12-06T00:00:00Z', 'a b', 'a\nb', ''),
    fc.constantFrom(-1, 0, 0.5, 1, 204, 300, 404, 1e6, true, false, null),
    fc.constantFrom([], {}, [1, 3], ['getPet'], { min: 1, max: 2 }, { kind: 'slow-body' }),
    fc.jsonValue({ maxDepth: 2 }),
  );
  fc.assert(
    fc.property(fc.constantFrom(...placesIn(whole)), value, (at, by) => {
      const scenario = replaced(whole, at, by);
      if (readScenario(scenario, 'any').ok) {
        validate(scenario);
        expect(validate.errors).toBeNull();
      }
    }),
    { numRuns: 3000 },
  );
});

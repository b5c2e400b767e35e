import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../src/package.ts';
import { scenarioSchema } from '../../src/scenario/scenario-shape.ts';
import { BROKEN, WHOLE } from '../helpers/scenario-examples.ts';

const SCENARIOS = join(packageRoot, 'scenarios');

const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false });
formats.default(ajv);
ajv.addVocabulary(['x-seen-values']);
const validate = ajv.compile(scenarioSchema());

test('the shipped schema is up to date with the reader', () => {
  const shipped: unknown = JSON.parse(
    readFileSync(join(SCENARIOS, 'scenario.schema.json'), 'utf8'),
  );
  // `npx tsx scripts/scenario-schema.mjs` writes it anew.
  expect(shipped).toEqual(scenarioSchema());
});

test.each(readdirSync(SCENARIOS).filter((file) => file.endsWith('.yaml')))(
  '%s matches the schema',
  (file) => {
    validate(parse(readFileSync(join(SCENARIOS, file), 'utf8')));
    expect(validate.errors).toBeNull();
  },
);

test('the schema accepts a scenario that uses every feature', () => {
  validate(parse(WHOLE));
  expect(validate.errors).toBeNull();
});

describe('the schema rejects what the reader rejects', () => {
  test.each(BROKEN)('%s', (_, text) => {
    expect(validate(parse(text))).toBe(false);
  });
});

test('every member has a description', () => {
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

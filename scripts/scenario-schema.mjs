// Writes scenarios/scenario.schema.json, the JSON Schema of scenario files, from the shapes that read
// scenarios:
//
//   npx tsx scripts/scenario-schema.mjs && npx biome format --write scenarios

import { writeFileSync } from 'node:fs';
import { scenarioSchema } from '../src/core/scenario/scenario-shape.ts';

const file = new URL('../scenarios/scenario.schema.json', import.meta.url);
writeFileSync(file, JSON.stringify(scenarioSchema(), null, 2));

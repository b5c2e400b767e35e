import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { readJson } from '../contract/json.ts';
import { isObject, STORED_RECORDS } from '../contract/records.ts';
import { isDevice } from '../store/fixture/device.ts';
import { FixtureError, loadFixture } from '../store/fixture/load-fixture.ts';
import { createStore, storeBaseOf } from '../store/store.ts';
import { loadScenarios } from './load-scenario.ts';
import { ScenarioError } from './scenario.ts';
import { starterFrom } from './starter.ts';

/**
 * Checks a file as the fixture or the scenario that it is, with all that it extends and starts from.
 *
 * @returns what is wrong, a line each; nothing where all is well
 */
export async function validateFile(file: string): Promise<readonly string[]> {
  try {
    if (isFixture(file)) loadFixture(file);
    else await checkScenario(file);
    return [];
  } catch (error) {
    if (error instanceof ScenarioError || error instanceof FixtureError) return error.problems;
    throw error;
  }
}

/** Records can be put into a store only where the scenario says which one. */
async function checkScenario(file: string): Promise<void> {
  const scenarios = await loadScenarios([file]);
  if (scenarios.some(({ fixture, generate }) => fixture ?? generate)) {
    const nothing = storeBaseOf({ animals: [], inventory: [], orders: [] });
    await starterFrom({}, () => createStore(nothing))(scenarios);
  }
}

/** A fixture is JSON, and has collections where a scenario has none. */
function isFixture(file: string): boolean {
  if (extname(file).toLowerCase() !== '.json') return false;
  const reading = readJson(file, textOf(file));
  if (!reading.ok || !isObject(reading.value)) return false;
  const { value } = reading;
  return Object.keys(STORED_RECORDS).some((name) => Array.isArray(value[name]));
}

/** Empty where there is none: what reads the file next will say so. */
function textOf(file: string): string {
  try {
    return isDevice(file) ? '' : readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

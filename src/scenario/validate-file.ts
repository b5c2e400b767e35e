import { extname } from 'node:path';
import { isObject, STORED_RECORDS } from '../contract/records.ts';
import { ContentError, readText, STORE_LIMIT, type TextReading } from '../read-text.ts';
import { readJson } from '../shape/json-text.ts';
import { parseFixture } from '../store/fixture/parse-fixture.ts';
import { loadScenarios } from './load-scenario.ts';
import { loadStore, type StoreChoice, starterFrom } from './sandbox-start.ts';

/**
 * Validates a fixture or a scenario, including the files that it extends and starts from.
 *
 * @param base what a scenario starts from if it does not say so itself
 * @returns a line for each problem; empty if the file is valid
 */
export async function validateFile(
  file: string,
  base: StoreChoice = {},
): Promise<readonly string[]> {
  // A pipe can be read only once.
  const read = await readText(file, STORE_LIMIT);
  try {
    if (isFixture(file, read)) parseFixture(file, read);
    else await checkScenario(file, read, base);
    return [];
  } catch (error) {
    if (error instanceof ContentError) return error.problems;
    throw error;
  }
}

/** Creates the start of the scenario, as a server would. */
async function checkScenario(file: string, read: TextReading, base: StoreChoice): Promise<void> {
  const texts = new Map(read.ok ? [[file, read]] : []);
  const scenarios = await loadScenarios([file], texts);
  const store = await loadStore(base);
  await starterFrom({}, () => store)(scenarios);
}

/** Only a fixture has collections at the top. */
function isFixture(file: string, read: TextReading): boolean {
  if (!read.ok || !(read.pipe || extname(file).toLowerCase() === '.json')) return false;
  const reading = readJson(read.text);
  const value = reading.ok ? reading.source.value : undefined;
  return isObject(value) && Object.keys(STORED_RECORDS).some((name) => Array.isArray(value[name]));
}

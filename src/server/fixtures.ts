import { DEFAULTS } from '../core/limits.ts';
import type { TextReading } from '../core/problems.ts';
import { readAs } from '../core/shape/shapes.ts';
import { readJson } from '../core/shape/source-text.ts';
import {
  FixtureError,
  isShippedFixture,
  readShippedFixture,
  STORE,
  unreadableFixture,
} from '../core/store/fixture.ts';
import type { Store } from '../core/store/store.ts';
import { readText, readTextSync, STORE_LIMIT } from './files.ts';
import { NODE_PLATFORM } from './node-platform.ts';
import type { StoreChoice } from './options.ts';

/** @param file the name in messages */
export function parseFixture(file: string, read: TextReading): Store {
  if (!read.ok) throw unreadableFixture(file, read.found);
  const parsed = readJson(file, read.text);
  if (!parsed.ok) throw new FixtureError(parsed.problems);
  const reading = readAs(STORE, parsed.value);
  if (reading.ok) return reading.value;
  throw new FixtureError(parsed.locate(reading.problems));
}

/** Loads a shipped fixture by name, or another one by path. */
export async function loadFixture(nameOrPath: string): Promise<Store> {
  return isShippedFixture(nameOrPath)
    ? readShippedFixture(NODE_PLATFORM, nameOrPath)
    : parseFixture(nameOrPath, await readText(nameOrPath, STORE_LIMIT));
}

/** Loads a fixture synchronously. Refuses a pipe, because it cannot wait. */
export function loadFixtureSync(nameOrPath: string): Store {
  return isShippedFixture(nameOrPath)
    ? readShippedFixture(NODE_PLATFORM, nameOrPath)
    : parseFixture(nameOrPath, readTextSync(nameOrPath, STORE_LIMIT));
}

export async function loadStore(
  { fixture = DEFAULTS.fixture, animals, orders }: StoreChoice,
  seed: number = DEFAULTS.seed,
): Promise<Store> {
  if (animals === undefined && orders === undefined) return loadFixture(fixture);
  // Imported late, since few servers generate their records.
  const { generateStore } = await import('../core/store/generate-store.ts');
  return generateStore({ animals, orders, seed }, NODE_PLATFORM);
}

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LowSync } from 'lowdb';
import { DataFileSync } from 'lowdb/node';
import { readJson } from '../contract/json.ts';
import type { Problem } from '../contract/records.ts';
import { packageRoot } from '../package.ts';
import { isDevice } from './device.ts';
import { placesIn } from './places.ts';
import { listed, readStore, suggest } from './read-store.ts';
import { type StoreBase, storeBaseOf } from './store.ts';

const SHIPPED = join(packageRoot, 'fixtures');
const EXTENSION = '.json';

/** More problems than a person reads at once. */
const MAX_TOLD = 20;

/** A fixture that cannot be loaded. The message has a line for each problem, the first 20 in full. */
export class FixtureError extends Error {
  override readonly name = 'FixtureError';
  /** Every problem, each as `FILE:LINE:COLUMN: PATH: expected …, found …`. */
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    const more = problems.length - MAX_TOLD;
    const told = more > 0 ? [...problems.slice(0, MAX_TOLD), `and ${more} more`] : problems;
    super(told.join('\n'));
    this.problems = problems;
  }
}

/**
 * Loads a fixture: by the name of one that this package ships, or else by its path.
 *
 * @throws FixtureError where there is no such file, it cannot be read, is not JSON, or does not hold
 *   the records of a store; it tells every problem, not only the first
 * @example loadFixture('default')
 */
export function loadFixture(nameOrPath: string): StoreBase {
  const { text, value } = readDocument(nameOrPath, fixturePath(nameOrPath));
  const reading = readStore(value);
  if (!reading.ok) throw new FixtureError(told(nameOrPath, text, reading.problems));
  return storeBaseOf(reading.value);
}

function told(file: string, text: string, problems: readonly Problem[]): string[] {
  const places = placesIn(
    text,
    problems.map(({ path }) => path),
  );
  return problems.map(
    ({ path, expected, found }) =>
      `${file}:${places.get(path)}: ${path}: expected ${expected}, found ${found}`,
  );
}

/** The file that a fixture is in: one that ships where there is one of that name. */
export function fixturePath(nameOrPath: string): string {
  const shipped = join(SHIPPED, nameOrPath + EXTENSION);
  return /^[\w-]+$/.test(nameOrPath) && existsSync(shipped) ? shipped : nameOrPath;
}

/** A fixture's text, and what it says. */
interface FixtureDocument {
  readonly text: string;
  readonly value: unknown;
}

function readDocument(file: string, path: string): FixtureDocument {
  if (isDevice(path)) throw unreadable(file, 'a device');
  const adapter = new DataFileSync<FixtureDocument | undefined>(path, {
    parse: (text) => ({ text, value: parseDocument(file, text) }),
    stringify: () => {
      throw new Error('A fixture is only read.');
    },
  });
  const missing = { text: '', value: undefined };
  const low = new LowSync(adapter, missing);
  try {
    low.read();
  } catch (error) {
    throw error instanceof FixtureError ? error : unreadable(file, reasonOf(error));
  }
  if (low.data === undefined || low.data === missing) throw unreadable(file, 'nothing');
  return low.data;
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : error;
  return code === 'EISDIR' ? 'a directory' : `something that cannot be read (${String(code)})`;
}

function unreadable(file: string, found: string): FixtureError {
  const names = readdirSync(SHIPPED)
    .filter((name) => name.endsWith(EXTENSION))
    .map((name) => name.slice(0, -EXTENSION.length));
  const expected = `a fixture file, or the name of one that is shipped: ${listed(names, 'or')}`;
  return new FixtureError([`${file}: expected ${expected}; found ${found}${suggest(file, names)}`]);
}

function parseDocument(file: string, text: string): unknown {
  const reading = readJson(file, text);
  if (!reading.ok) throw new FixtureError([reading.problem]);
  return reading.value;
}

import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { codeOf } from '../../error-code.ts';
import { writeFixture } from '../../store/fixture/load-fixture.ts';
import type { Store } from '../../store/store.ts';
import { Failure, UsageError } from '../failures.ts';

/** @throws UsageError if the file of `--output` exists */
export function requireNew(file: string): void {
  if (existsSync(file)) throw new UsageError(`--output: ${file} exists; --force overwrites it`);
}

/**
 * Writes a store as a fixture, with the folders of the file.
 *
 * @throws Failure if the file cannot be written
 */
export async function writeStore(store: Store, file: string): Promise<void> {
  try {
    mkdirSync(dirname(file), { recursive: true });
    await writeFixture(store, file);
  } catch (error) {
    throw new Failure(`cannot write ${file} (${codeOf(error)})`, { cause: error });
  }
}

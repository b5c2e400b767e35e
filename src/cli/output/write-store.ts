import { accessSync, constants, existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { codeOf } from '../../error-code.ts';
import { writeFixture } from '../../store/fixture/load-fixture.ts';
import type { Store } from '../../store/store.ts';
import { Failure, UsageError } from '../failures.ts';

/** @throws UsageError if the file of `--output` exists */
export function requireNew(file: string): void {
  if (existsSync(file)) throw new UsageError(`--output: ${file} exists; --force overwrites it`);
}

/** Fails early where `writeStore` would fail after a long time. */
export function requireWritable(file: string): void {
  try {
    accessSync(dirname(resolve(file)), constants.W_OK);
  } catch (error) {
    throw unwritable(file, error);
  }
}

/**
 * Writes a store as a fixture.
 *
 * @throws Failure if the file cannot be written
 */
export async function writeStore(store: Store, file: string): Promise<void> {
  try {
    await writeFixture(store, file);
  } catch (error) {
    throw unwritable(file, error);
  }
}

function unwritable(file: string, cause: unknown): Failure {
  return new Failure(`cannot write ${file} (${codeOf(cause)})`, { cause });
}

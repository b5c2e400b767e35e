import { existsSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { DEFAULTS } from '../../defaults.ts';
import { codeOf } from '../../error-code.ts';
import { storeText } from '../../store/file/store-text.ts';
import { generateStore } from '../../store/fixture/generate-store.ts';
import { writeFixture } from '../../store/fixture/load-fixture.ts';
import { createStore, type Store } from '../../store/store.ts';
import { Failure, UsageError } from '../failures.ts';
import type { Command } from './command.ts';

/** Generates a store and writes it as a fixture. */
export const generate: Command = async ({ flags, terminal }) => {
  const { output: file, animals, orders, seed = DEFAULTS.seed } = flags;
  if (file !== undefined && existsSync(file) && !flags.force) {
    throw new UsageError(`--output: ${file} exists; --force overwrites it`);
  }
  const store = createStore(await generateStore({ animals, orders, seed }));
  if (file === undefined) await pipeline(storeText(store), terminal.output, { end: false });
  else await writeTo(file, store);
  return 0;
};

async function writeTo(file: string, store: Store): Promise<void> {
  try {
    await writeFixture(store, file);
  } catch (error) {
    throw new Failure(`cannot write ${file} (${codeOf(error)})`, { cause: error });
  }
}

import { existsSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { codeOf } from '../../error-code.ts';
import { storeText } from '../../store/file/store-text.ts';
import { generateStore } from '../../store/fixture/generate-store.ts';
import { writeFixture } from '../../store/fixture/load-fixture.ts';
import { createStore, type Store } from '../../store/store.ts';
import { Failure, UsageError } from '../failures.ts';
import { isOn, textOf } from '../input/given.ts';
import { generateSettings } from '../input/settings.ts';
import type { Command } from './command.ts';

/** Generates a store and writes it as a fixture. */
export const generate: Command = async ({ layers, terminal }) => {
  const settings = generateSettings(layers);
  const file = textOf(layers, 'output');
  if (file !== undefined && existsSync(file) && !isOn(layers, 'force')) {
    throw new UsageError(`--output: ${file} exists; --force overwrites it`);
  }
  const store = createStore(await generateStore(settings));
  if (file === undefined) await pipeline(storeText(store), terminal.output, { end: false });
  else await writeTo(file, store);
  return 0;
};

async function writeTo(file: string, store: Store): Promise<void> {
  try {
    await writeFixture(store, file);
  } catch (error) {
    throw new Failure(`${file} cannot be written (${codeOf(error)})`, { cause: error });
  }
}

import { pipeline } from 'node:stream/promises';
import { DEFAULTS } from '../../limits.ts';
import { generateStore } from '../../store/generate-store.ts';
import { storeText } from '../../store/store-text.ts';
import type { Command } from '../command.ts';
import { requireNew, writeStore } from '../write-files.ts';

export const generate: Command = async ({ flags, terminal }) => {
  const { output: file, animals, orders, seed = DEFAULTS.seed } = flags;
  if (file !== undefined && !flags.force) requireNew(file);
  const store = await generateStore({ animals, orders, seed });
  if (file === undefined) await pipeline(storeText(store), terminal.output, { end: false });
  else await writeStore(store, file);
  return { exitCode: 0 };
};

import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { describe } from '../../words.ts';
import type { CommandName } from '../command-table.ts';
import { flagShape, flagsOf } from '../flags.ts';
import { refusal, type Settings } from '../input/given.ts';

/**
 * Checks every file that a command will write, before it does anything: after a long run, it would be
 * too late.
 *
 * @throws UsageError for a file that cannot be written
 */
export function requireWritable(command: CommandName, { flags, originOf }: Settings): void {
  for (const name of flagsOf(command).filter((it) => flagShape(it).writes)) {
    for (const file of [flags[name]].flat()) {
      if (typeof file !== 'string') continue;
      const obstacle = obstacleTo(resolve(file));
      if (obstacle === undefined) continue;
      const found = `${describe(file)}: ${obstacle}`;
      throw refusal(originOf(name), 'a file that can be written', found);
    }
  }
}

/** Why a file cannot be written, checked without creating it or its folders. */
function obstacleTo(file: string): string | undefined {
  const state = existsSync(file) ? statSync(file) : undefined;
  if (state?.isDirectory()) return 'it is a folder';
  // A device is written to; a file is replaced, in its folder.
  let place = state === undefined || state.isFile() ? dirname(file) : file;
  while (!existsSync(place)) place = dirname(place);
  if (place !== file && !statSync(place).isDirectory()) return `${place} is not a folder`;
  try {
    accessSync(place, constants.W_OK);
    return undefined;
  } catch {
    return `${place} is not writable`;
  }
}

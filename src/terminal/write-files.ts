import { existsSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Store } from '../core/store/store.ts';
import { storeText } from '../core/store/store-text.ts';
import { asError } from '../core/thrown.ts';
import { replaceText, writeText } from '../server/files.ts';
import { Failure, UsageError } from './command.ts';

export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** Makes the folders that are missing. */
export async function writeOutput(file: string, text: string, write = writeText): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await write(file, text);
  } catch (cause) {
    throw new Failure(`cannot write ${file}: ${asError(cause).message}`, { cause });
  }
}

export function requireNew(file: string, flag = '--output'): void {
  if (existsSync(file)) throw new UsageError(`${flag}: ${file} exists; --force overwrites it`);
}

/** Replaces a file atomically; a pipe or a device cannot be replaced. */
export async function writeStore(store: Store, file: string): Promise<void> {
  const text = [...storeText(store)].join('');
  const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() ?? true;
  await writeOutput(file, text, isFile ? replaceText : writeText);
}

import { existsSync } from 'node:fs';
import { writeFixture } from '../core/store/fixture.ts';
import type { Store } from '../core/store/store.ts';
import { writeText } from '../server/files.ts';
import { asError } from '../server/node-errors.ts';
import { Failure, UsageError } from './command.ts';

export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

export function writeOutput(file: string, text: string): Promise<void> {
  return writeText(file, text).catch((cause: unknown) => {
    throw cannotWrite(file, cause);
  });
}

function cannotWrite(file: string, cause: unknown): Failure {
  return new Failure(`cannot write ${file}: ${asError(cause).message}`, { cause });
}

export function requireNew(file: string, flag = '--output'): void {
  if (existsSync(file)) throw new UsageError(`${flag}: ${file} exists; --force overwrites it`);
}

export function writeStore(store: Store, file: string): Promise<void> {
  return writeFixture(store, file).catch((error) => {
    throw cannotWrite(file, error);
  });
}

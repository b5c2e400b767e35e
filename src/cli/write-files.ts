import { existsSync, writeFileSync } from 'node:fs';
import { extname } from 'node:path';
import { writeFixture } from '../core/store/fixture.ts';
import type { Store } from '../core/store/store.ts';
import { asError } from '../server/node-errors.ts';
import type { RunningServer } from '../server/server.ts';
import { Failure, UsageError } from './command.ts';
import type { Flags } from './flags.ts';
import { REPORT_FORMATS } from './report/coverage-report.ts';

export function formatJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

export function writeText(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw cannotWrite(file, error);
  }
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

/** Writes the files of `--coverage`. Returns a message for each that failed. */
export function writeCoverageFiles(
  { coverage: files = [], requireCoverage: required = 0 }: Flags,
  server: Pick<RunningServer, 'coverage' | 'findings'>,
): string[] {
  const coverage = server.coverage();
  const { shown, total } = coverage.totals.documented;
  const missed = (100 * shown) / total < required;
  const evidence = { coverage, findings: server.findings() };
  return files.flatMap((file) => {
    try {
      writeText(file, REPORT_FORMATS[extname(file)]?.(evidence, missed) ?? '');
      return [];
    } catch (error) {
      return [asError(error).message];
    }
  });
}

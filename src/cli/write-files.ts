import { existsSync } from 'node:fs';
import { extname } from 'node:path';
import { writeFixture } from '../core/store/fixture.ts';
import type { Store } from '../core/store/store.ts';
import { writeText } from '../server/files.ts';
import { asError } from '../server/node-errors.ts';
import type { RunningServer } from '../server/server.ts';
import { Failure, UsageError } from './command.ts';
import type { Flags } from './flags.ts';
import { REPORT_FORMATS } from './report/coverage-report.ts';

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

/** Writes the files of `--coverage`. Returns a message for each that failed. */
export async function writeCoverageFiles(
  { coverage: files = [], requireCoverage: required = 0 }: Flags,
  server: Pick<RunningServer, 'coverage' | 'findings'>,
): Promise<string[]> {
  const coverage = server.coverage();
  const { shown, total } = coverage.totals.documented;
  const missed = (100 * shown) / total < required;
  const evidence = { coverage, findings: server.findings() };
  const written = await Promise.allSettled(
    files.map((file) => writeOutput(file, REPORT_FORMATS[extname(file)]?.(evidence, missed) ?? '')),
  );
  return written.flatMap((one) => (one.status === 'rejected' ? asError(one.reason).message : []));
}
